//! A rectangle of styled characters that can be written to in any order.

use agon_core::{Picture, Style};

pub(super) struct Canvas {
    width: usize,
    cells: Vec<(char, Style)>,
}

impl Canvas {
    pub fn new(width: usize, height: usize) -> Self {
        Self { width, cells: vec![(' ', Style::default()); width * height] }
    }

    /// Writes text from column `x` of line `y` and cuts it at the edge.
    pub fn write(&mut self, x: usize, y: usize, text: &str, style: Style) {
        let Some(line) = self.cells.chunks_exact_mut(self.width.max(1)).nth(y) else { return };
        for (cell, c) in line.iter_mut().skip(x).zip(text.chars()) {
            *cell = (c, style);
        }
    }

    /// Writes text centred at column `x` of line `y`.
    pub fn center(&mut self, x: usize, y: usize, text: &str, style: Style) {
        self.write(x.saturating_sub(text.chars().count() / 2), y, text, style);
    }

    /// Appends the lines to a picture.
    pub fn draw(&self, picture: &mut Picture) {
        for line in self.cells.chunks_exact(self.width.max(1)) {
            picture.line();
            for run in line.chunk_by(|a, b| a.1 == b.1) {
                picture.put(run.iter().map(|(c, _)| *c).collect::<String>(), run[0].1);
            }
        }
    }
}
