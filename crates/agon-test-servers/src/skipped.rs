//! List of tests that cannot run on this machine, so that `make test` can count and name them at its end.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::panic::Location;

/// Environment variable with the file of the list. Set by `make test`.
pub const SKIPPED_TESTS: &str = "AGON_SKIPPED_TESTS";
/// Environment variable (like `CI`) that makes a test fail if it lacks something that `scripts/setup.sh tests` installs.
pub const REQUIRE_ALL: &str = "AGON_REQUIRE_ALL";

/// What a test lacks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lacks {
    /// Something that `scripts/setup.sh tests` installs. If everything is required, the test fails.
    Setup,
    /// Something that this machine does not have: an optional compiler, another user, another kernel.
    Machine,
}

/// Adds the calling test, or a part of it, to the list of skipped tests, with the reason.
///
/// # Panics
/// If `scripts/setup.sh tests` should have made it possible and `CI` or `AGON_REQUIRE_ALL` is set.
#[track_caller]
#[allow(clippy::print_stderr, reason = "for tests: skipped tests are printed")]
pub fn cannot_run(lacks: Lacks, why: &str) {
    let thread = std::thread::current();
    let place = Location::caller();
    let program = std::env::args().next().unwrap_or_default();
    let name = test_name(thread.name(), &program, &format!("{}:{}", place.file(), place.line()));
    eprintln!("skipped: {name}: {why}");
    if let Some(list) = std::env::var_os(SKIPPED_TESTS).filter(|list| !list.is_empty()) {
        let written = OpenOptions::new().create(true).append(true).open(&list);
        // A single write, because other test programs append to the same file.
        let written = written.and_then(|mut file| file.write_all(line(&name, why, lacks).as_bytes()));
        assert!(written.is_ok(), "{}: {written:?}", list.display());
    }
    let all =
        [REQUIRE_ALL, "CI"].iter().any(|name| std::env::var_os(name).is_some_and(|set| !set.is_empty()));
    assert!(
        !all || lacks == Lacks::Machine,
        "{name} cannot run: {why}\nhint: install what it needs with `scripts/setup.sh tests`"
    );
}

/// The program without its hash, and the test. A test that runs in its program's main thread is named by its place.
fn test_name(thread: Option<&str>, program: &str, place: &str) -> String {
    let file = program.rsplit('/').next().unwrap_or_default();
    let program = file.rsplit_once('-').map_or(file, |(name, _)| name);
    match thread {
        Some(test) if test != "main" => format!("{program}::{test}"),
        _ => format!("{program} ({place})"),
    }
}

fn line(name: &str, why: &str, lacks: Lacks) -> String {
    let lacks = match lacks {
        Lacks::Setup => "setup",
        Lacks::Machine => "machine",
    };
    format!("rust\t{name}\t{}\t{lacks}\n", why.replace(['\t', '\n'], " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_test_is_named_by_program_and_test() {
        let program = "/x/target/debug/deps/grid_users-0123456789abcdef";
        assert_eq!(
            test_name(Some("a_league_is_played"), program, "a.rs:5"),
            "grid_users::a_league_is_played"
        );
        assert_eq!(test_name(Some("main"), program, "a.rs:5"), "grid_users (a.rs:5)");
    }

    #[test]
    fn skipped_test_is_one_line_with_four_fields() {
        assert_eq!(line("a::b", "no\tserver\nhere", Lacks::Setup), "rust\ta::b\tno server here\tsetup\n");
    }
}
