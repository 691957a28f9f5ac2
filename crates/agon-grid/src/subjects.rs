//! The names of everything that is said over NATS. A worker only ever publishes below `agon.up.NAME`: so its user needs no more.

/// The stream of matches to be played: a work queue.
pub const WORK_STREAM: &str = "AGON_WORK";
/// The stream that holds files by their hash.
pub const BLOB_STREAM: &str = "AGON_BLOBS";
/// Where coordinators say that they are there ([`crate::wire::Announcement`]).
pub const CALL: &str = "agon.call";
/// Everything that is to be played.
pub const ALL_WORK: &str = "agon.work.*";
/// Everything that is kept by its hash.
pub const ALL_BLOBS: &str = "agon.blob.*.*";
/// The beats of all workers.
pub const ALL_BEATS: &str = "agon.up.*.beat";

/// The longest name of a worker or a competition.
const LONGEST: usize = 48;

/// Whether this can be the name of a worker or a competition in a subject.
pub fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    (1..=LONGEST).contains(&name.len()) && name.chars().all(fits)
}

/// A name that can stand in a subject, made of any text.
pub fn name_of(text: &str) -> String {
    let tame = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' };
    let name: String = text.chars().map(tame).take(LONGEST).collect();
    if name.is_empty() { "worker".to_owned() } else { name }
}

/// What is to be played of a competition.
pub fn work(cup: &str) -> String {
    format!("agon.work.{cup}")
}

/// A piece of a file.
pub fn blob(hash: &str, piece: u32) -> String {
    format!("agon.blob.{hash}.{piece}")
}

/// A worker asks to take part ([`crate::wire::JoinRequest`]; answered by [`crate::wire::JoinResponse`]). `*` for all workers.
pub fn hello(worker: &str, cup: &str) -> String {
    format!("agon.up.{worker}.hello.{cup}")
}

/// A worker hands in what it played ([`crate::wire::ReportChunk`]; answered by [`crate::wire::ReportAck`]).
pub fn report(worker: &str, cup: &str) -> String {
    format!("agon.up.{worker}.report.{cup}")
}

/// A worker could not play something ([`crate::wire::JobError`]; answered by [`crate::wire::ReportAck`]).
pub fn trouble(worker: &str, cup: &str) -> String {
    format!("agon.up.{worker}.trouble.{cup}")
}

/// A worker says how it is ([`crate::wire::Heartbeat`]).
pub fn beat(worker: &str) -> String {
    format!("agon.up.{worker}.beat")
}

/// What is to be seen on a board of a worker ([`crate::wire::WorkerInfo`]).
pub fn live(worker: &str, cup: &str, board: u32) -> String {
    format!("agon.up.{worker}.live.{cup}.{board}")
}

/// A worker is told to do something ([`crate::wire::WorkerCommand`]; answered by [`crate::wire::CommandReply`]).
pub fn order(worker: &str) -> String {
    format!("agon.down.{worker}.order")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_within_their_token() {
        assert_eq!(name_of("my host.example"), "my-host-example");
        assert_eq!(name_of(""), "worker");
        assert!(is_name(&name_of("é*>.")) && !is_name("a.b") && !is_name("") && !is_name(&"x".repeat(49)));
    }
}
