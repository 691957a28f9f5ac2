//! A player's answer: a step, or the target cell.

use std::io::Write as _;

use super::cells::{Cell, Direction};

/// A decoded answer. Python bots set their position, so they can name any cell, even one off the map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// One cell left, right, up, down, or stay.
    Step(Direction),
    /// Move to this cell.
    To {
        /// The column.
        x: i32,
        /// The row.
        y: i32,
    },
}

impl Answer {
    /// The answer that leads to this cell.
    pub const fn to(cell: Cell) -> Self {
        Self::To { x: cell.x() as i32, y: cell.y() as i32 }
    }

    /// Writes `L R U D S`, or `x,y`. A negative x is written `@x,y`, so that no token starts with a minus.
    pub fn write(self, out: &mut Vec<u8>) {
        match self {
            Self::Step(direction) => out.extend(direction.name().bytes().take(1)),
            Self::To { x, y } => {
                let at = if x < 0 { "@" } else { "" };
                // Writing to memory does not fail.
                let _ = write!(out, "{at}{x},{y}");
            }
        }
    }

    /// Reads `L`, `left`, `LEFT`; `3,4`, `3 4`, `[3, 4]`, `(3, 4)`, `@3,4`.
    pub fn read(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let step = Direction::ALL.into_iter().find(|d| {
            text.eq_ignore_ascii_case(d.name())
                || d.name().get(..1).is_some_and(|l| text.eq_ignore_ascii_case(l))
        });
        step.map(Self::Step).or_else(|| read_cell(text)).ok_or_else(|| {
            "expected LEFT, RIGHT, UP, DOWN or STAY (or the first letter), or the target cell as x,y"
                .to_owned()
        })
    }
}

fn read_cell(text: &str) -> Option<Answer> {
    let bracketed = |open, close| text.strip_prefix(open).and_then(|t| t.strip_suffix(close));
    let inner = bracketed('[', ']').or_else(|| bracketed('(', ')')).or_else(|| text.strip_prefix('@'));
    let inner = inner.unwrap_or(text).trim();
    let (x, y) = inner.split_once(',').or_else(|| inner.split_once(char::is_whitespace))?;
    Some(Answer::To { x: x.trim().parse().ok()?, y: y.trim().parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_spellings_of_a_move_are_read() {
        for text in ["L", "l", "left", " LEFT\n"] {
            assert_eq!(Answer::read(text), Ok(Answer::Step(Direction::Left)), "{text:?}");
        }
        for text in ["3,4", "3 4", "[3, 4]", "(3,4)", "@3,4", " 3 , 4 "] {
            assert_eq!(Answer::read(text), Ok(Answer::To { x: 3, y: 4 }), "{text:?}");
        }
        for text in ["", "NORTH", "3", "3,", "3,4,5", "[3,4", "1.5,2", "99999999999,1", "LEFTLEFT"] {
            assert!(Answer::read(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn token_with_negative_x_does_not_look_like_a_fault() {
        for answer in [Answer::To { x: -1, y: -2 }, Answer::To { x: i32::MIN, y: i32::MAX }] {
            let mut token = Vec::new();
            answer.write(&mut token);
            assert_eq!(token[0], b'@');
            assert_eq!(Answer::read(std::str::from_utf8(&token).unwrap()), Ok(answer));
        }
    }
}
