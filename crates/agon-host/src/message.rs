//! The messages of the JSON-lines protocol, as `docs/protocol.md` describes them.

use agon_core::{ClockRule, Fault, Game};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

/// Protocol version. Raise it when a bot that follows the document would no longer understand the engine.
pub const PROTOCOL: u32 = 1;

/// A message from the engine.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Message<'m, O> {
    /// The first message.
    Hello(Hello<'m>),
    /// A game starts.
    Start { id: u64, number: u32, seed: String },
    /// Asks for an answer.
    Turn { id: u64, request: &'m str, limit_ms: u64, observation: O },
    /// The game has ended.
    End { id: u64 },
    /// The last message.
    Bye,
}

/// A message without an observation.
pub type SimpleMessage<'m> = Message<'m, ()>;

/// Content of the `hello` message.
#[derive(Serialize)]
pub struct Hello<'m> {
    pub id: u64,
    pub protocol: u32,
    pub game: &'m str,
    pub rules: u32,
    pub seat: u8,
    pub seats: usize,
    pub role: &'m str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub names: Option<&'m [String]>,
    pub settings: &'m Map<String, Json>,
    pub seed: String,
    pub limits: Limits,
}

/// Time limits in milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Limits {
    pub clock: &'static str,
    pub clock_ms: u64,
    pub start_ms: u64,
    pub end_ms: u64,
    pub bye_ms: u64,
}

/// The name of a clock and its time in milliseconds.
pub fn clock(rule: &ClockRule) -> (&'static str, u64) {
    let (name, limit) = match rule {
        ClockRule::PerAnswer { limit } => ("per-answer", limit),
        ClockRule::Bank { limit, .. } => ("bank", limit),
        ClockRule::Shared { limit, .. } => ("shared", limit),
    };
    (name, limit.as_millis() as u64)
}

impl<O: Serialize> Message<'_, O> {
    /// Appends the message as one line.
    pub fn write(&self, out: &mut Vec<u8>) {
        // Writing to memory cannot fail, and every observation has string keys.
        if serde_json::to_writer(&mut *out, self).is_ok() {
            out.push(b'\n');
        }
    }
}

/// A message from a bot. Unknown fields are ignored.
#[derive(Deserialize)]
pub struct BotMessage {
    pub id: u64,
    #[serde(default)]
    pub answer: Option<Json>,
    /// Reported by a bot host (such as the Python one) instead of an answer: the fault of its bot.
    #[serde(default)]
    pub fault: Option<Fault>,
    /// The bot's error message, together with a fault.
    #[serde(default)]
    pub says: Option<String>,
    /// Sent instead of a plain reply to `hello`: why the bot cannot be loaded.
    #[serde(default)]
    pub error: Option<LoadFailure>,
    /// Reported by a bot host: the process that should answer has ended. The text says how.
    #[serde(default)]
    pub ended: Option<String>,
}

/// Why a bot cannot be loaded.
#[derive(Deserialize)]
pub struct LoadFailure {
    what: String,
    #[serde(default)]
    file: Option<String>,
    #[serde(default)]
    line: Option<u64>,
    #[serde(default)]
    hint: Option<String>,
}

impl std::fmt::Display for LoadFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{file}, line {line}: ")?,
            (Some(file), None) => write!(f, "{file}: ")?,
            _ => {}
        }
        f.write_str(&self.what)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, " ({hint})"))
    }
}

/// First byte of a turn in a game's packed form (`agon_bot/packet_channel.py`).
const TURN: u8 = 1;
/// First byte of an answer to a packed turn.
const PACKED_ANSWER: u8 = b'=';

/// Writes a turn in the game's packed form. Returns false if the game has none.
pub fn pack_turn<G: Game>(
    id: u64,
    limit_ms: u64,
    seen: &G::Observation<'_>,
    first: bool,
    out: &mut Vec<u8>,
) -> bool {
    out.extend_from_slice(&[TURN, 0, 0, 0]);
    out.extend_from_slice(&(id as u32).to_le_bytes());
    out.extend_from_slice(&u32::try_from(limit_ms).unwrap_or(u32::MAX).to_le_bytes());
    G::pack_observation(seen, first, out)
}

/// The id and the text of a packed answer.
fn unpack(line: &[u8]) -> Option<BotMessage> {
    let (head, text) = line.split_at_checked(5)?;
    let id = u32::from_le_bytes(head.get(1..)?.try_into().ok()?);
    let answer = std::str::from_utf8(text).ok()?.to_owned();
    Some(BotMessage {
        id: id.into(),
        answer: Some(Json::String(answer)),
        fault: None,
        says: None,
        error: None,
        ended: None,
    })
}

/// Parses a bot's line. The error says what is wrong with it.
pub fn read(line: &[u8]) -> Result<BotMessage, String> {
    if line.first() == Some(&PACKED_ANSWER) {
        return unpack(line).ok_or_else(|| "not an answer".to_owned());
    }
    let text = line.trim_ascii_start();
    if !text.starts_with(b"{") {
        return Err("not a JSON object".to_owned());
    }
    serde_json::from_slice(text).map_err(|error| match error.classify() {
        serde_json::error::Category::Data => "a JSON object without a whole number `id`".to_owned(),
        _ => "not a JSON object".to_owned(),
    })
}

/// An answer in the text form that games parse: a string as it is, a number as digits, a list as JSON.
pub fn text_of(answer: Option<Json>) -> Result<String, String> {
    match answer {
        Some(Json::String(text)) => Ok(text),
        Some(Json::Number(number)) => Ok(number.to_string()),
        Some(list @ Json::Array(_)) => Ok(list.to_string()),
        Some(_) => Err("an `answer` that is neither a string nor a number nor a list".to_owned()),
        None => Err("no `answer`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_ignores_all_fields_but_id_and_answer() {
        let read = |line: &str| read(line.as_bytes()).map(|a| (a.id, text_of(a.answer)));
        assert_eq!(read(r#"{"id":7,"answer":"Q 17"}"#), Ok((7, Ok("Q 17".to_owned()))));
        assert_eq!(read("  {\"answer\": 4, \"x\": [{}], \"id\": 7}\r"), Ok((7, Ok("4".to_owned()))));
        assert_eq!(read(r#"{"id":7,"answer":[3,4]}"#), Ok((7, Ok("[3,4]".to_owned()))));
        assert!(read(r#"{"id":7,"answer":null}"#).unwrap().1.is_err());
        assert!(read(r#"{"id":7,"answer":true}"#).unwrap().1.is_err());
        for line in
            ["", "4", "[7,4]", "{\"id\":7", "{\"id\":7}x", "{\"id\":7,\"answer\":NaN}", "{\"id\":7}\0"]
        {
            assert_eq!(read(line), Err("not a JSON object".to_owned()), "{line}");
        }
        for line in ["{}", "{\"id\":-7}", "{\"id\":\"7\"}", "{\"id\":7.5}"] {
            assert!(read(line).unwrap_err().contains("`id`"), "{line}");
        }
        assert!(super::read(b"{\"id\":7,\"answer\":\"\xff\"}").is_err());
    }
}
