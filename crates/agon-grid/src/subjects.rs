//! Names of NATS streams and subjects. A worker publishes only below `agon.up.NAME`, so its user needs no other permission to publish.

/// Stream of jobs: a work queue.
pub const WORK_STREAM: &str = "AGON_WORK";
/// Stream of files, by hash.
pub const BLOB_STREAM: &str = "AGON_BLOBS";
/// Subject of announcements of coordinators ([`crate::messages::Announcement`]).
pub const ANNOUNCEMENTS: &str = "agon.call";
/// Subjects of all jobs.
pub const ALL_WORK: &str = "agon.work.*";
/// Subjects of all files.
pub const ALL_BLOBS: &str = "agon.blob.*.*";
/// Heartbeat subjects of all workers.
pub const ALL_HEARTBEATS: &str = "agon.up.*.beat";

/// Subject of queries for lost workers (reply [`crate::messages::LostWorkers`]).
pub const LOST_WORKERS: &str = "agon.lost";

/// Maximum length of a worker or competition name.
const MAX_NAME_LEN: usize = 48;

/// Whether the text is valid as a worker or competition name in a subject.
pub fn is_valid_name(name: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    (1..=MAX_NAME_LEN).contains(&name.len()) && name.chars().all(is_allowed)
}

/// Turns any text into a valid name.
pub fn sanitize_name(text: &str) -> String {
    let sanitized = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' };
    let name: String = text.chars().map(sanitized).take(MAX_NAME_LEN).collect();
    if name.is_empty() { "worker".to_owned() } else { name }
}

/// Subject of the jobs of a competition.
pub fn work(competition_id: &str) -> String {
    format!("agon.work.{competition_id}")
}

/// Subject of a file chunk.
pub fn blob(hash: &str, chunk: u32) -> String {
    format!("agon.blob.{hash}.{chunk}")
}

/// Subject of join requests ([`crate::messages::JoinRequest`]; reply [`crate::messages::JoinResponse`]). Worker `*`: all workers.
pub fn join(worker: &str, competition_id: &str) -> String {
    format!("agon.up.{worker}.hello.{competition_id}")
}

/// Subject of reports ([`crate::messages::ReportChunk`]; reply [`crate::messages::ReportAck`]).
pub fn report(worker: &str, competition_id: &str) -> String {
    format!("agon.up.{worker}.report.{competition_id}")
}

/// Subject of job errors ([`crate::messages::JobError`]; reply [`crate::messages::ReportAck`]).
pub fn job_error(worker: &str, competition_id: &str) -> String {
    format!("agon.up.{worker}.trouble.{competition_id}")
}

/// Subject of lease renewals by the coordinator ([`crate::messages::RenewalRequest`]).
pub fn renewal(worker: &str, competition_id: &str) -> String {
    format!("agon.up.{worker}.renew.{competition_id}")
}

/// Heartbeat subject of a worker ([`crate::messages::Heartbeat`]).
pub fn heartbeat(worker: &str) -> String {
    format!("agon.up.{worker}.beat")
}

/// Subject of the live stream of a slot of a worker ([`crate::messages::LiveChunk`]).
pub fn live(worker: &str, competition_id: &str, slot: u32) -> String {
    format!("agon.up.{worker}.live.{competition_id}.{slot}")
}

/// Subject of commands to a worker ([`crate::messages::WorkerCommand`]; reply [`crate::messages::CommandReply`]).
pub fn command(worker: &str) -> String {
    format!("agon.down.{worker}.order")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sanitize_name_any_text_gives_a_valid_name() {
        assert_eq!(sanitize_name("my host.example"), "my-host-example");
        assert_eq!(sanitize_name(""), "worker");
        assert!(
            is_valid_name(&sanitize_name("é*>."))
                && !is_valid_name("a.b")
                && !is_valid_name("")
                && !is_valid_name(&"x".repeat(49))
        );
    }
}
