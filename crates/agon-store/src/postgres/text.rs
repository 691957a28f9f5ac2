//! Conversion of column values: PostgreSQL has signed 64-bit integers and text without NUL.

use std::borrow::Cow;

use agon_core::record::Digest;
use agon_league::MatchKey;
use sqlx::Row as _;
use sqlx::postgres::PgRow;

/// Escape character.
const ESCAPE: char = '\u{e000}';

/// Escapes text for storage: NUL becomes U+E000 `0`, U+E000 becomes U+E000 `1`.
pub fn escape(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', ESCAPE]) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        match letter {
            '\0' => escaped.extend([ESCAPE, '0']),
            ESCAPE => escaped.extend([ESCAPE, '1']),
            other => escaped.push(other),
        }
    }
    Cow::Owned(escaped)
}

/// Reverses [`escape`].
pub fn unescape(escaped: String) -> String {
    if !escaped.contains(ESCAPE) {
        return escaped;
    }
    let mut text = String::with_capacity(escaped.len());
    let mut letters = escaped.chars();
    while let Some(letter) = letters.next() {
        text.push(match letter {
            ESCAPE if letters.next() == Some('0') => '\0',
            other => other,
        });
    }
    text
}

/// Text of a column.
pub fn text(row: &PgRow, column: usize) -> Result<String, sqlx::Error> {
    row.try_get(column).map(unescape)
}

/// Text of a nullable column.
pub fn optional_text(row: &PgRow, column: usize) -> Result<Option<String>, sqlx::Error> {
    row.try_get::<Option<String>, _>(column).map(|text| text.map(unescape))
}

/// Number of a column, converted to its type.
pub fn number<T: TryFrom<i64>>(row: &PgRow, column: usize) -> Result<T, sqlx::Error> {
    narrow(row.try_get(column)?)
}

/// Number of a nullable column.
pub fn optional_number<T: TryFrom<i64>>(row: &PgRow, column: usize) -> Result<Option<T>, sqlx::Error> {
    row.try_get::<Option<i64>, _>(column)?.map(narrow).transpose()
}

pub fn narrow<T: TryFrom<i64>>(number: i64) -> Result<T, sqlx::Error> {
    number.try_into().map_err(|_| sqlx::Error::Decode("number too large".into()))
}

/// SHA-256 of a column.
pub fn digest(row: &PgRow, column: usize) -> Result<Digest, sqlx::Error> {
    digest_from_bytes(row.try_get(column)?)
}

pub fn digest_from_bytes(bytes: &[u8]) -> Result<Digest, sqlx::Error> {
    bytes.try_into().map(Digest).map_err(|_| sqlx::Error::Decode("digest is not 32 bytes long".into()))
}

/// Match key from three columns: phase, stage and number.
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
    fn escaped_text_unescapes_to_the_same_text() {
        for text in ["", "plain", "a\0b", "\0\0", "\u{e000}", "\u{e000}0", "\u{e000}1\0", "ends \u{e000}"] {
            let escaped = escape(text).into_owned();
            assert!(!escaped.contains('\0'));
            assert_eq!(unescape(escaped), text);
        }
    }
}
