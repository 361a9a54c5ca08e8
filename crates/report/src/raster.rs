//! Dots on a grid of characters, two across and four down in each.

/// A drawing of dots. Each character cell belongs to the series that drew into it last.
pub(crate) struct Raster {
    columns: usize,
    rows: usize,
    cells: Vec<Cell>,
}

#[derive(Clone, Copy, Default)]
struct Cell {
    /// One bit per dot, in the order of Unicode's braille patterns.
    dots: u8,
    /// The line that drew it last.
    owner: usize,
}

/// The bit of each dot of a cell, in four rows of two.
const BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
/// The first of Unicode's braille patterns, the one without dots.
const BRAILLE: u32 = 0x2800;

impl Raster {
    pub(crate) fn new(columns: usize, rows: usize) -> Self {
        Self { columns, rows, cells: vec![Cell::default(); columns * rows] }
    }

    /// Draws a straight line between two places, given as shares from the lower left corner. Of a
    /// dashed one two dots are drawn and two left out, from the left edge.
    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), dashed: bool, owner: usize) {
        let ((x0, y0), (x1, y1)) = (self.place(from), self.place(to));
        let steps = (x1 - x0).abs().max((y1 - y0).abs()).max(1.0);
        let mut step = 0.0;
        while step <= steps {
            let share = step / steps;
            let (x, y) = (x0 + share * (x1 - x0), y0 + share * (y1 - y0));
            if !dashed || x.round().rem_euclid(4.0) < 2.0 {
                self.dot(x, y, owner);
            }
            step += 1.0;
        }
    }

    /// The characters of a row, top row first, with their owners; blanks have none.
    pub(crate) fn row(
        &self,
        row: usize,
        glyph: impl Fn(u8, usize) -> char,
    ) -> impl Iterator<Item = (char, Option<usize>)> {
        let cells = &self.cells[row * self.columns..(row + 1) * self.columns];
        cells.iter().map(move |cell| match cell.dots {
            0 => (' ', None),
            dots => (glyph(dots, cell.owner), Some(cell.owner)),
        })
    }

    fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let (width, height) = (self.columns * 2 - 1, self.rows * 4 - 1);
        ((x * width as f64).round(), ((1.0 - y) * height as f64).round())
    }

    fn dot(&mut self, x: f64, y: f64, owner: usize) {
        let inside = (0.0..(self.columns * 2) as f64).contains(&x)
            && (0.0..(self.rows * 4) as f64).contains(&y);
        if !inside {
            return;
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "inside")]
        let (x, y) = (x.round() as usize, y.round() as usize);
        let Some(cell) = self.cells.get_mut(y / 4 * self.columns + x / 2) else { return };
        cell.dots |= BITS[y % 4][x % 2];
        cell.owner = owner;
    }
}

/// The braille character with these dots.
pub(crate) fn braille(dots: u8) -> char {
    char::from_u32(BRAILLE + u32::from(dots)).unwrap_or(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(raster: &Raster) -> Vec<String> {
        let row = |row| raster.row(row, |dots, _| braille(dots)).map(|(glyph, _)| glyph);
        (0..raster.rows).map(|index| row(index).collect()).collect()
    }

    #[test]
    fn a_diagonal_runs_from_corner_to_corner() {
        let mut raster = Raster::new(4, 2);
        raster.line((0.0, 0.0), (1.0, 1.0), false, 0);
        assert_eq!(rows(&raster), ["  ⡠⠊", "⡠⠊  "]);
    }

    #[test]
    fn a_dashed_line_leaves_out_every_other_character() {
        let mut raster = Raster::new(6, 1);
        raster.line((0.0, 0.0), (1.0, 0.0), true, 0);
        assert_eq!(rows(&raster), ["⣀ ⣀ ⣀ "]);
    }

    #[test]
    fn what_lies_outside_is_left_out() {
        let mut raster = Raster::new(2, 1);
        raster.line((-1.0, 0.5), (3.0, 0.5), true, 0);
        raster.line((0.0, 5.0), (1.0, 9.0), false, 0);
        assert_eq!(rows(&raster).concat().chars().count(), 2);
    }
}
