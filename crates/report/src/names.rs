//! Names beside points of a picture, so that none stands on another or on a point.

/// Where names stand so far.
pub(crate) struct Names {
    /// The corners between which names stand: left and top, right and bottom.
    corners: ((f64, f64), (f64, f64)),
    points: Vec<(f64, f64)>,
    taken: Vec<Place>,
}

/// A name's box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Place {
    pub(crate) left: f64,
    pub(crate) top: f64,
    wide: f64,
}

impl Names {
    /// No name yet beside these points.
    pub(crate) fn new(from: (f64, f64), until: (f64, f64), points: Vec<(f64, f64)>) -> Self {
        Self { corners: (from, until), points, taken: Vec::new() }
    }

    /// The free place nearest to a point, or the place at its right if none is free.
    pub(crate) fn place(&mut self, point: (f64, f64), wide: f64) -> Place {
        let adjacent = Place { left: point.0 + NEAR, top: point.1 - NAME_HIGH / 2.0, wide };
        let away = (0..RINGS).map(|ring| NEAR + 6.0 * f64::from(ring));
        let around = away.flat_map(|away| DIRECTIONS.map(|toward| (away, toward)));
        let tried = around.map(|(away, (right, down))| {
            // The box touches the ring with the side that faces the point.
            let left = point.0 + right * away - wide * (1.0 - right) / 2.0;
            let top = point.1 + down * away - NAME_HIGH * (1.0 - down) / 2.0;
            Place { left, top, wide }
        });
        let all: Vec<Place> = std::iter::once(adjacent).chain(tried).collect();
        // A line across another name is better than a name on another.
        let place = all.iter().find(|it| self.is_free(it) && self.is_seen(it, point));
        let place = place.or_else(|| all.iter().find(|it| self.is_free(it)));
        let place = place.copied().unwrap_or(adjacent);
        self.taken.push(place);
        place
    }

    /// Whether the line from the point to a place crosses no name.
    fn is_seen(&self, place: &Place, point: (f64, f64)) -> bool {
        let leader = place.leader(point).map_or_else(Vec::new, |end| steps(point, end));
        !leader.iter().any(|at| self.taken.iter().any(|other| other.holds(*at, 0.0)))
    }

    fn is_free(&self, place: &Place) -> bool {
        let ((left, top), (right, bottom)) = self.corners;
        let within = place.left >= left
            && place.top >= top
            && place.left + place.wide <= right
            && place.top + NAME_HIGH <= bottom;
        within
            && !self.taken.iter().any(|other| other.meets(place))
            && !self.points.iter().any(|point| place.holds(*point, POINT))
    }
}

impl Place {
    /// The end of a line from the point to the name, where that does not stand beside it.
    pub(crate) fn leader(&self, point: (f64, f64)) -> Option<(f64, f64)> {
        let end = (
            point.0.clamp(self.left - 1.0, self.left + self.wide + 1.0),
            point.1.clamp(self.top + 1.0, self.top + NAME_HIGH - 1.0),
        );
        ((end.0 - point.0).hypot(end.1 - point.1) > NEAR + 3.0).then_some(end)
    }

    fn meets(&self, other: &Self) -> bool {
        (self.left - other.left).abs()
            < if self.left < other.left { self.wide } else { other.wide } + APART
            && (self.top - other.top).abs() < NAME_HIGH
    }

    fn holds(&self, (x, y): (f64, f64), margin: f64) -> bool {
        (self.left - margin..=self.left + self.wide + margin).contains(&x)
            && (self.top - margin..=self.top + NAME_HIGH + margin).contains(&y)
    }
}

/// Places along a line.
fn steps(from: (f64, f64), until: (f64, f64)) -> Vec<(f64, f64)> {
    let at =
        |share: f64| (from.0 + (until.0 - from.0) * share, from.1 + (until.1 - from.1) * share);
    (0..=20).map(|step| at(f64::from(step) / 20.0)).collect()
}

/// Size of a name's letters, and the height of its box.
pub(crate) const NAME_FONT: i32 = 9;
pub(crate) const NAME_HIGH: f64 = 11.0;
/// From a point to the name beside it.
const NEAR: f64 = 5.0;
/// Between two names in a line.
const APART: f64 = 4.0;
/// Half the width of a point, with some room.
const POINT: f64 = 2.0;
/// How many rings around a point are searched for its name's place.
const RINGS: u32 = 60;
/// The directions that are tried, those to the right first, as the unit vectors of a box's corner.
const DIRECTIONS: [(f64, f64); 12] = [
    (1.0, 0.0),
    (1.0, -0.5),
    (1.0, 0.5),
    (1.0, -1.0),
    (1.0, 1.0),
    (0.3, -1.0),
    (0.3, 1.0),
    (-0.3, -1.0),
    (-0.3, 1.0),
    (-1.0, 0.0),
    (-1.0, -1.0),
    (-1.0, 1.0),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_pile_of_points_stand_on_no_other_and_on_no_point() {
        let points: Vec<(f64, f64)> = (0..40)
            .map(|i| (400.0 + f64::from(i % 5) * 4.0, 250.0 + f64::from(i % 7) * 3.0))
            .collect();
        let mut names = Names::new((50.0, 34.0), (880.0, 480.0), points.clone());
        let places: Vec<Place> = points.iter().map(|point| names.place(*point, 60.0)).collect();
        for (at, place) in places.iter().enumerate() {
            assert!(!places[..at].iter().any(|other| other.meets(place)), "{at}: {place:?}");
            assert!(!points.iter().any(|point| place.holds(*point, 0.0)), "{at}: {place:?}");
            assert!(place.left >= 50.0 && place.top >= 34.0 && place.left + 60.0 <= 880.0);
        }
    }

    #[test]
    fn a_name_alone_stands_beside_its_point_without_a_line() {
        let mut names = Names::new((0.0, 0.0), (100.0, 100.0), vec![(20.0, 50.0)]);
        let place = names.place((20.0, 50.0), 30.0);
        assert_eq!((place.left, place.top), (25.0, 44.5));
        assert_eq!(place.leader((20.0, 50.0)), None);
    }
}
