//! Values as PostgreSQL keeps them: numbers of 64 bits, and text without NUL.

use std::borrow::Cow;

use agon_core::record::Digest;
use agon_league::MatchKey;
use sqlx::Row as _;
use sqlx::postgres::PgRow;

/// Stands before what cannot stand for itself.
const ESCAPE: char = '\u{e000}';

/// Text as it is kept: NUL is written as U+E000 `0`, U+E000 as U+E000 `1`.
pub fn kept(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', ESCAPE]) {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        match letter {
            '\0' => kept.extend([ESCAPE, '0']),
            ESCAPE => kept.extend([ESCAPE, '1']),
            other => kept.push(other),
        }
    }
    Cow::Owned(kept)
}

/// The text of [`kept`].
pub fn read(kept: String) -> String {
    if !kept.contains(ESCAPE) {
        return kept;
    }
    let mut text = String::with_capacity(kept.len());
    let mut letters = kept.chars();
    while let Some(letter) = letters.next() {
        text.push(match letter {
            ESCAPE if letters.next() == Some('0') => '\0',
            other => other,
        });
    }
    text
}

/// The text in a column.
pub fn text(row: &PgRow, column: usize) -> Result<String, sqlx::Error> {
    row.try_get(column).map(read)
}

/// The text in a column that may be empty.
pub fn maybe_text(row: &PgRow, column: usize) -> Result<Option<String>, sqlx::Error> {
    row.try_get::<Option<String>, _>(column).map(|text| text.map(read))
}

/// The number in a column, of the kind that was put there.
pub fn number<T: TryFrom<i64>>(row: &PgRow, column: usize) -> Result<T, sqlx::Error> {
    small(row.try_get(column)?)
}

/// The number in a column that may be empty.
pub fn maybe_number<T: TryFrom<i64>>(row: &PgRow, column: usize) -> Result<Option<T>, sqlx::Error> {
    row.try_get::<Option<i64>, _>(column)?.map(small).transpose()
}

pub fn small<T: TryFrom<i64>>(number: i64) -> Result<T, sqlx::Error> {
    number.try_into().map_err(|_| sqlx::Error::Decode("a number that is too large".into()))
}

/// SHA-256 in a column.
pub fn digest(row: &PgRow, column: usize) -> Result<Digest, sqlx::Error> {
    to_digest(row.try_get(column)?)
}

pub fn to_digest(bytes: &[u8]) -> Result<Digest, sqlx::Error> {
    bytes.try_into().map(Digest).map_err(|_| sqlx::Error::Decode("a digest that is not 32 bytes long".into()))
}

/// Phase, stage and number, from this column on.
pub fn key(row: &PgRow, from: usize) -> Result<MatchKey, sqlx::Error> {
    let number: i64 = row.try_get(from + 2)?;
    Ok(MatchKey {
        phase: self::number(row, from)?,
        stage: self::number(row, from + 1)?,
        number: number as u64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_comes_back_as_it_was() {
        for text in ["", "plain", "a\0b", "\0\0", "\u{e000}", "\u{e000}0", "\u{e000}1\0", "ends \u{e000}"] {
            let kept = kept(text).into_owned();
            assert!(!kept.contains('\0'));
            assert_eq!(read(kept), text);
        }
    }
}
