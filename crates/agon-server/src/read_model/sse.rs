//! Server-sent events as bytes: written once, sent to all.

use bytes::{BufMut as _, Bytes, BytesMut};
use serde::Serialize;

use super::FeedEvent;

/// What a stream begins with: how long to wait before coming back after a loss, in milliseconds.
pub const RETRY: Bytes = Bytes::from_static(b"retry: 3000\n\n");
/// That the stream is still there.
pub const PING: Bytes = Bytes::from_static(b"event: ping\ndata: {}\n\n");

#[derive(Serialize)]
struct Table {
    phase: u32,
    revision: u64,
}

#[derive(Serialize)]
struct State {
    state: &'static str,
    /// Words about a failure are for organisers, who find them in the competition: everybody reads the feed.
    message: Option<String>,
}

/// An event. `data` is JSON without line ends.
pub fn event(name: &str, id: Option<u64>, data: &[u8]) -> Bytes {
    let mut wire = BytesMut::with_capacity(data.len() + name.len() + 48);
    if let Some(id) = id {
        wire.put_slice(format!("id: {id}\n").as_bytes());
    }
    wire.put_slice(b"event: ");
    wire.put_slice(name.as_bytes());
    wire.put_slice(b"\ndata: ");
    wire.put_slice(data);
    wire.put_slice(b"\n\n");
    wire.freeze()
}

/// The same of something that is written as JSON.
pub fn event_of(name: &str, id: Option<u64>, data: &impl Serialize) -> Bytes {
    // Plain data of ours can always be written.
    event(name, id, &serde_json::to_vec(data).unwrap_or_default())
}

/// Something that happened in a competition.
pub fn feed(id: u64, happened: &FeedEvent) -> Bytes {
    match happened {
        FeedEvent::Progress(json) => event("progress", Some(id), json),
        FeedEvent::Table { phase, revision } => {
            event_of("table", Some(id), &Table { phase: phase + 1, revision: *revision })
        }
        FeedEvent::State { state, .. } => {
            event_of("state", Some(id), &State { state: state.name(), message: None })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_whole_and_count_from_one() {
        let bytes = feed(7, &FeedEvent::Table { phase: 0, revision: 12 });
        assert_eq!(&bytes[..], b"id: 7\nevent: table\ndata: {\"phase\":1,\"revision\":12}\n\n");
        let failed = FeedEvent::State {
            state: agon_store::site_db::CompetitionState::Failed,
            message: Some("a path\nand a line".to_owned()),
        };
        let text = String::from_utf8(feed(8, &failed).to_vec()).unwrap();
        assert_eq!(text, "id: 8\nevent: state\ndata: {\"state\":\"failed\",\"message\":null}\n\n");
    }
}
