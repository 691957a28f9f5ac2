//! The events that the person at one seat was sent, kept for pages that reconnect.

use bytes::Bytes;

/// Maximum size of the events that are kept for one seat. A game that needs more is ended.
const MAX_KEPT_BYTES: usize = 16 << 20;
/// Maximum number of events that are sent at once.
const MAX_EVENTS_AT_ONCE: usize = 256;

/// What a stream has sent.
#[derive(Clone, Copy, Debug)]
pub struct EventCursor {
    /// Seat of the person.
    pub seat: usize,
    /// Version of the lobby that was sent.
    pub lobby_version: u64,
    /// Number of the first kept event that was not sent.
    next: usize,
    /// Number of the first passing event that was not sent; `None` until the kept ones are sent.
    next_passing: Option<u64>,
}

impl EventCursor {
    /// Nothing was sent.
    pub const fn new(seat: usize) -> Self {
        Self { seat, lobby_version: 0, next: 0, next_passing: None }
    }
}

/// An event that is sent once, and not again after a reconnection.
struct PassingEvent {
    number: u64,
    /// Number of kept events before it.
    after: usize,
    bytes: Bytes,
}

/// Events of one seat: kept ones (the film), and passing ones (requests, refusals, who is waited for), of which only the last request
/// and the last state of waiting matter to a page that reconnects.
#[derive(Default)]
pub struct SeatEvents {
    kept: Vec<Bytes>,
    kept_bytes: usize,
    passing: Vec<PassingEvent>,
    next_number: u64,
    ask: Option<Bytes>,
    wait: Option<Bytes>,
}

impl SeatEvents {
    /// Whether more was sent than is kept.
    pub const fn is_full(&self) -> bool {
        self.kept_bytes > MAX_KEPT_BYTES
    }

    /// Adds an event of the film.
    pub fn push(&mut self, event: Bytes) {
        self.kept_bytes += event.len();
        self.kept.push(event);
    }

    /// Adds an event that is sent once.
    pub fn push_once(&mut self, event: Bytes) {
        // Pages that are connected have sent the old ones; a slow one misses what no longer matters.
        let too_many = self.passing.len().saturating_sub(MAX_EVENTS_AT_ONCE);
        self.passing.drain(..too_many);
        self.passing.push(PassingEvent { number: self.next_number, after: self.kept.len(), bytes: event });
        self.next_number += 1;
    }

    /// Adds a request.
    pub fn ask(&mut self, event: Bytes) {
        self.ask = Some(event.clone());
        self.push_once(event);
    }

    /// The request is answered or over.
    pub fn answered(&mut self) {
        self.ask = None;
    }

    /// Adds who is waited for.
    pub fn wait(&mut self, event: Bytes) {
        self.wait = Some(event.clone());
        self.push_once(event);
    }

    /// Adds the events that a stream has not sent, in their order.
    pub fn read(&self, cursor: &mut EventCursor, events: &mut Vec<Bytes>) {
        if cursor.next_passing.is_none() {
            // A new connection: the whole film, then what is the case now.
            let end = self.kept.len().min(cursor.next + MAX_EVENTS_AT_ONCE);
            events.extend(self.kept.get(cursor.next..end).unwrap_or_default().iter().cloned());
            cursor.next = end;
            if end == self.kept.len() {
                cursor.next_passing = Some(self.next_number);
                events.extend(self.ask.clone());
                events.extend(self.wait.clone());
            }
            return;
        }
        let first_passing = cursor.next_passing.unwrap_or_default();
        for event in self.passing.iter().filter(|event| event.number >= first_passing) {
            let until = event.after.max(cursor.next);
            events.extend(self.kept.get(cursor.next..until).unwrap_or_default().iter().cloned());
            cursor.next = until;
            events.push(event.bytes.clone());
        }
        events.extend(self.kept.get(cursor.next..).unwrap_or_default().iter().cloned());
        cursor.next = self.kept.len();
        cursor.next_passing = Some(self.next_number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(text: &str) -> Bytes {
        Bytes::from(text.to_owned())
    }

    fn read(events: &SeatEvents, cursor: &mut EventCursor) -> Vec<String> {
        let mut found = Vec::new();
        events.read(cursor, &mut found);
        found.iter().map(|bytes| String::from_utf8(bytes.to_vec()).unwrap()).collect()
    }

    #[test]
    fn connected_page_gets_each_event_once_in_order() {
        let (mut events, mut cursor) = (SeatEvents::default(), EventCursor::new(0));
        events.push(event("head"));
        assert_eq!(read(&events, &mut cursor), ["head"]);
        events.ask(event("ask 1"));
        events.push_once(event("refused"));
        events.answered();
        events.push(event("part 1"));
        events.ask(event("ask 2"));
        assert_eq!(read(&events, &mut cursor), ["ask 1", "refused", "part 1", "ask 2"]);
        assert!(read(&events, &mut cursor).is_empty());
        events.push(event("part 2"));
        assert_eq!(read(&events, &mut cursor), ["part 2"]);
    }

    #[test]
    fn page_that_reconnects_gets_the_film_and_only_the_open_request() {
        let mut events = SeatEvents::default();
        events.push(event("head"));
        events.ask(event("ask 1"));
        events.push_once(event("refused"));
        events.push(event("part 1"));
        events.ask(event("ask 2"));
        events.wait(event("wait"));
        let mut cursor = EventCursor::new(0);
        assert_eq!(read(&events, &mut cursor), ["head", "part 1", "ask 2", "wait"]);
        assert!(read(&events, &mut cursor).is_empty());
        events.answered();
        let mut later = EventCursor::new(0);
        assert_eq!(read(&events, &mut later), ["head", "part 1", "wait"]);
    }

    #[test]
    fn long_film_is_sent_in_pieces() {
        let (mut events, mut cursor) = (SeatEvents::default(), EventCursor::new(0));
        for turn in 0..MAX_EVENTS_AT_ONCE * 2 + 1 {
            events.push(event(&format!("part {turn}")));
        }
        let sizes: Vec<usize> = (0..4).map(|_| read(&events, &mut cursor).len()).collect();
        assert_eq!(sizes, [MAX_EVENTS_AT_ONCE, MAX_EVENTS_AT_ONCE, 1, 0]);
    }
}
