//! Answers of bots: `Q 17` for a call, `17` for a placement.

use super::board::Letter;

/// A decoded answer. The position may be off the board; the rules check it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// Calls a letter and writes it.
    Call {
        /// Letter that both players write.
        letter: Letter,
        /// Position where the caller writes it.
        position: u32,
    },
    /// Writes the letter that the other player called.
    Place {
        /// Position of the letter.
        position: u32,
    },
}

impl Answer {
    /// Position of the letter.
    pub const fn position(self) -> u32 {
        match self {
            Self::Call { position, .. } | Self::Place { position } => position,
        }
    }

    /// Writes `Q17` or `17`.
    pub fn write(self, out: &mut Vec<u8>) {
        if let Self::Call { letter, .. } = self {
            out.push(b'A' + letter.code());
        }
        out.extend_from_slice(self.position().to_string().as_bytes());
    }

    /// Reads `Q17`, `Q 17`, `q 17` and `17`, with blanks around.
    pub fn read(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let garbled = || {
            format!(
                "expected a letter and a position such as `Q 17`, or a position such as `17`, not {text:?}"
            )
        };
        let mut rest = text.chars();
        let first = rest.next().ok_or_else(garbled)?;
        let Some(letter) = Letter::read(first) else {
            return number(text).map(|position| Self::Place { position }).ok_or_else(garbled);
        };
        let position = number(rest.as_str().trim_start()).ok_or_else(garbled)?;
        Ok(Self::Call { letter, position })
    }
}

/// Parses digits without a sign.
fn number(text: &str) -> Option<u32> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_spellings_of_an_answer_are_read() {
        let q17 = Answer::Call { letter: Letter::read('Q').unwrap(), position: 17 };
        for text in ["Q17", "Q 17", "q17", " q  17\t", "Q 017"] {
            assert_eq!(Answer::read(text), Ok(q17), "{text:?}");
        }
        for text in ["17", " 17 ", "017"] {
            assert_eq!(Answer::read(text), Ok(Answer::Place { position: 17 }), "{text:?}");
        }
        // The rules reject a position off the board.
        assert_eq!(Answer::read("99"), Ok(Answer::Place { position: 99 }));
    }

    #[test]
    fn other_texts_are_garbled() {
        for text in ["", "Q", "QQ 17", "17 Q", "-1", "Q -1", "+17", "Q 1 7", "1 7", "\u{c9} 17", "4294967296"]
        {
            assert!(Answer::read(text).is_err(), "{text:?}");
        }
    }
}
