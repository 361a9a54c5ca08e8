//! The pieces of a series between its gaps, for pictures that nobody can zoom (SVG and PDF).

use crate::{Series, downsampling::thin, span::Span};

/// The pieces of a series between points that have no place on the axes, after thinning.
pub(crate) fn pieces(series: &Series, x: &Span, y: &Span, limit: usize) -> Vec<Vec<(f64, f64)>> {
    let mut points = thin(&series.points, limit);
    // What goes on above the axis ends at its edge.
    points.iter_mut().filter(|(_, value)| *value > y.hi).for_each(|(_, value)| *value = y.hi);
    let drawable = |point: &(f64, f64)| x.shows(point.0) && y.shows(point.1);
    let pieces = points.split(|point| !drawable(point));
    pieces.filter(|piece| !piece.is_empty()).map(<[_]>::to_vec).collect()
}

/// A path on which each value holds until the next point.
pub(crate) fn stairs(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let corners = points.windows(2).flat_map(|pair| [pair[0], (pair[1].0, pair[0].1)]);
    corners.chain(points.last().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axis, Panel};

    #[test]
    fn a_gap_parts_the_line() {
        let points = vec![(0.0, 1.0), (1.0, 2.0), (2.0, f64::NAN), (3.0, 1.0), (4.0, 2.0)];
        let panel = Panel::new(Axis::new("y", "")).with(Series::steps("a", points));
        let x = Span::of_x(&Axis::new("x", ""), std::slice::from_ref(&panel));
        assert_eq!(pieces(&panel.series[0], &x, &Span::of_y(&panel), 100).len(), 2);
    }

    #[test]
    fn two_spikes_do_not_stretch_an_axis() {
        let points = vec![(0.0, 30.0), (1.0, 190.0), (2.0, 35.0)];
        let panel = Panel::new(Axis::new("y", "")).with(Series::steps("a", points));
        assert_eq!(panel.clone().up_to(200.0).top, None, "nothing goes on");
        let panel = panel.up_to(60.0);
        let (x, y) =
            (Span::of_x(&Axis::new("x", ""), std::slice::from_ref(&panel)), Span::of_y(&panel));
        assert!((60.0..70.0).contains(&y.hi), "{}", y.hi);
        assert_eq!(pieces(&panel.series[0], &x, &y, 100)[0][1].1, y.hi);
    }

    #[test]
    fn stairs_turn_at_the_next_point() {
        assert_eq!(stairs(&[(0.0, 1.0), (2.0, 5.0)]), [(0.0, 1.0), (2.0, 1.0), (2.0, 5.0)]);
    }
}
