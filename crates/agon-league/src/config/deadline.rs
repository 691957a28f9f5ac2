//! Moments in a competition file: a date and a time with a time zone.

use serde::{Serialize, Serializer};
use toml::de::DeValue;
use toml_edit::{Datetime, Offset};

use super::toml_reader::TomlReader;

/// Days from the year 0 to the epoch, in the proleptic Gregorian calendar.
const DAYS_TO_EPOCH: i64 = 719_468;

/// The last moment at which bots are accepted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deadline {
    /// Milliseconds since the epoch.
    pub unix_ms: i64,
    /// The text of the file, with its time zone.
    pub text: String,
}

impl Deadline {
    /// Whether a moment, in milliseconds since the epoch, is too late.
    pub const fn is_past(&self, unix_ms: i64) -> bool {
        unix_ms > self.unix_ms
    }
}

impl Serialize for Deadline {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

/// Reads a key such as `deadline`: a TOML date and time, or the same in quotes.
pub(super) fn read(fields: &TomlReader<'_>, key: &str) -> Option<Deadline> {
    let value = fields.get(key)?;
    let hint = format!("write a date and a time with a time zone, such as {key} = 2027-04-26T23:59:00+02:00");
    let refuse = |what: String| {
        fields.errors.local_error(value.span(), what, hint.clone());
        None
    };
    let found: Datetime = match value.get_ref() {
        DeValue::Datetime(found) => *found,
        DeValue::String(text) => match text.trim().parse() {
            Ok(found) => found,
            Err(_) => return refuse(format!("`{key}` is not a date and time: \"{text}\"")),
        },
        _ => return refuse(format!("`{key}` is not a date and time")),
    };
    let (Some(date), Some(time)) = (found.date, found.time) else {
        return refuse(format!("`{key}` needs a date and a time: {found}"));
    };
    let Some(offset) = found.offset else {
        return refuse(format!("`{key}` has no time zone: {found}"));
    };
    let minutes = match offset {
        Offset::Z => 0,
        Offset::Custom { minutes } => i64::from(minutes),
    };
    let days = days_since_epoch(i64::from(date.year), i64::from(date.month), i64::from(date.day));
    let seconds = days * 86_400
        + i64::from(time.hour) * 3600
        + i64::from(time.minute) * 60
        + i64::from(time.second.unwrap_or(0))
        - minutes * 60;
    Some(Deadline { unix_ms: seconds * 1000, text: found.to_string() })
}

/// Days from the epoch to a date. Years begin in March here, so that the leap day is the last of its year.
const fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - DAYS_TO_EPOCH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_as_the_calendar_counts_them() {
        assert_eq!(days_since_epoch(1970, 1, 1), 0);
        assert_eq!(days_since_epoch(2000, 2, 29), 11_016);
        assert_eq!(days_since_epoch(2027, 4, 26), 20_934);
        assert_eq!(days_since_epoch(1969, 12, 31), -1);
    }

    #[test]
    fn deadline_is_past_after_its_last_millisecond() {
        let deadline = Deadline { unix_ms: 1000, text: String::new() };
        assert!(!deadline.is_past(1000) && deadline.is_past(1001));
    }
}
