//! The points of a sweep: samples or listed points, and at each of them every point of a grid.

use crate::points_file::{Origin, PointsFile};
use crate::sample::Sample;

/// The points, by number.
#[derive(Clone, Debug)]
pub(crate) struct Points {
    /// What comes from outside the grid.
    pub(crate) outer: Outer,
    /// Keys and their values; the last varies fastest.
    pub(crate) grid: Vec<(String, Vec<String>)>,
}

/// Points that are no grid.
#[derive(Clone, Debug)]
pub(crate) enum Outer {
    /// A single one, without keys.
    None,
    /// Drawn.
    Sample(Sample),
    /// Given, by the caller's own sampler.
    File(PointsFile),
}

impl Points {
    /// How many; `None` if they cannot be counted.
    pub(crate) fn count(&self) -> Option<u64> {
        let outer = match &self.outer {
            Outer::None => 1,
            Outer::Sample(sample) => sample.points,
            Outer::File(file) => file.rows.len() as u64,
        };
        let mut sizes = self.grid.iter().map(|(_, values)| values.len() as u64);
        sizes.try_fold(outer, |count: u64, size| count.checked_mul(size))
    }

    /// The keys, in the order of the values.
    pub(crate) fn keys(&self) -> Vec<String> {
        let outer: Vec<String> = match &self.outer {
            Outer::None => Vec::new(),
            Outer::Sample(sample) => sample.over.iter().map(|(key, _)| key.clone()).collect(),
            Outer::File(file) => file.keys.clone(),
        };
        outer.into_iter().chain(self.grid.iter().map(|(key, _)| key.clone())).collect()
    }

    /// Where the values of these points stand in a file of points, if there is one.
    pub(crate) fn origin(&self, points: impl Iterator<Item = u64>) -> Option<Origin> {
        let Outer::File(file) = &self.outer else { return None };
        let inner: u64 = self.grid.iter().map(|(_, values)| values.len() as u64).product();
        Some(file.origin(points.map(|point| point / inner.max(1))))
    }

    /// The values of a point.
    pub(crate) fn values(&self, point: u64) -> Vec<String> {
        let mut rest = point;
        let mut inner: Vec<&String> = Vec::with_capacity(self.grid.len());
        for (_, values) in self.grid.iter().rev() {
            let size = values.len() as u64;
            inner.push(&values[(rest % size) as usize]);
            rest /= size;
        }
        let mut all = match &self.outer {
            Outer::None => Vec::new(),
            Outer::Sample(sample) => sample.values(rest),
            Outer::File(file) => file.rows.get(rest as usize).cloned().unwrap_or_default(),
        };
        all.extend(inner.into_iter().rev().cloned());
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_key_of_a_grid_varies_fastest_and_listed_points_slowest() {
        let words = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
        let place = std::env::temp_dir().join(format!("points-{}.csv", std::process::id()));
        std::fs::write(&place, "x\n1\n2\n").unwrap();
        let points = Points {
            outer: Outer::File(PointsFile::read(&place).unwrap()),
            grid: vec![("a".into(), words(&["p", "q"])), ("b".into(), words(&["r", "s", "t"]))],
        };
        assert_eq!((points.count(), points.keys()), (Some(12), words(&["x", "a", "b"])));
        let all: Vec<String> = (0..12).map(|point| points.values(point).concat()).collect();
        let wanted =
            ["1pr", "1ps", "1pt", "1qr", "1qs", "1qt", "2pr", "2ps", "2pt", "2qr", "2qs", "2qt"];
        assert_eq!(all, wanted);
        std::fs::remove_file(&place).unwrap();
        let origin = points.origin([5, 6].into_iter()).unwrap();
        let line = |point, at| origin.place(point, at, "x").map(|place| place.to_string());
        let file = place.display();
        assert_eq!(line(0, 0), Some(format!("{file}:2: x")));
        assert_eq!(line(1, 0), Some(format!("{file}:3: x")));
        assert_eq!(line(1, 1), None, "of the grid's keys the grid file tells");
    }
}
