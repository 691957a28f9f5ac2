//! Server-sent events, serialised once for all subscribers.

use bytes::{BufMut as _, Bytes, BytesMut};
use serde::Serialize;

use super::FeedEvent;

/// First event of a stream: the delay before a client reconnects, in milliseconds.
pub const RETRY_EVENT: Bytes = Bytes::from_static(b"retry: 3000\n\n");
/// Event that keeps the connection open.
pub const PING_EVENT: Bytes = Bytes::from_static(b"event: ping\ndata: {}\n\n");

#[derive(Serialize)]
struct TableEvent {
    phase: u32,
    revision: u64,
}

#[derive(Serialize)]
struct FreezeEvent {
    since: Option<i64>,
    revealed: u32,
}

#[derive(Serialize)]
struct StateEvent {
    state: &'static str,
    /// Always null: everyone reads the feed, and error messages are for organisers, who find them in the competition.
    message: Option<String>,
}

/// Serialises an event. `data` is JSON without line breaks.
pub fn event(name: &str, id: Option<u64>, data: &[u8]) -> Bytes {
    let mut bytes = BytesMut::with_capacity(data.len() + name.len() + 48);
    if let Some(id) = id {
        bytes.put_slice(format!("id: {id}\n").as_bytes());
    }
    bytes.put_slice(b"event: ");
    bytes.put_slice(name.as_bytes());
    bytes.put_slice(b"\ndata: ");
    bytes.put_slice(data);
    bytes.put_slice(b"\n\n");
    bytes.freeze()
}

/// Serialises an event with a JSON value.
pub fn json_event(name: &str, id: Option<u64>, data: &impl Serialize) -> Bytes {
    // Serialising these plain types cannot fail.
    event(name, id, &serde_json::to_vec(data).unwrap_or_default())
}

/// Serialises an event of a competition.
pub fn competition_event(id: u64, feed_event: &FeedEvent) -> Bytes {
    match feed_event {
        FeedEvent::Progress(json) => event("progress", Some(id), json),
        FeedEvent::Table { phase, revision } => {
            json_event("table", Some(id), &TableEvent { phase: phase + 1, revision: *revision })
        }
        FeedEvent::State { state, .. } => {
            json_event("state", Some(id), &StateEvent { state: state.name(), message: None })
        }
        FeedEvent::Freeze { since, revealed } => {
            let event = FreezeEvent { since: since.map(|since| since.0), revealed: *revealed };
            json_event("freeze", Some(id), &event)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn competition_event_counts_phases_from_one_and_hides_messages() {
        let bytes = competition_event(7, &FeedEvent::Table { phase: 0, revision: 12 });
        assert_eq!(&bytes[..], b"id: 7\nevent: table\ndata: {\"phase\":1,\"revision\":12}\n\n");
        let failed = FeedEvent::State {
            state: agon_site_db::CompetitionState::Failed,
            message: Some("a path\nand a line".to_owned()),
        };
        let text = String::from_utf8(competition_event(8, &failed).to_vec()).unwrap();
        assert_eq!(text, "id: 8\nevent: state\ndata: {\"state\":\"failed\",\"message\":null}\n\n");
    }
}
