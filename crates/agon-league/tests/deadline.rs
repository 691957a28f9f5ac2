//! Deadlines in the competition file.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use agon_league::config::CompetitionConfig;

fn read(top: &str, phase: &str) -> Result<CompetitionConfig, String> {
    let text = format!(
        "{top}\ngame = \"connect-five\"\n\n[[entrant]]\nbot = \"house:random\"\n[[entrant]]\nbot = \"Ana Perez.zip\"\n\n[[phase]]\nformat = \"round-robin\"\nparts = [{{ games = 1, first_to = 1 }}]\n\n[[phase]]\nname = \"Second\"\nformat = \"round-robin\"\nparts = [{{ games = 1, first_to = 1 }}]\n{phase}\n"
    );
    CompetitionConfig::read(&text).map_err(|errors| {
        errors.iter().map(|error| error.describe("cup.toml")).collect::<Vec<_>>().join("\n")
    })
}

#[test]
fn deadline_has_a_time_zone() {
    let ms = |top: &str| read(top, "").unwrap().deadline.unwrap().unix_ms;
    assert_eq!(ms("deadline = 2027-04-26T23:59:00+02:00"), 1_808_776_740_000);
    assert_eq!(ms("deadline = 2027-04-26T21:59:00Z"), 1_808_776_740_000);
    assert_eq!(ms("deadline = \"2027-04-26T23:59:00+02:00\""), 1_808_776_740_000);
    for (wrong, what) in [
        ("2027-04-26T23:59:00", "`deadline` has no time zone: 2027-04-26T23:59:00"),
        ("2027-04-26", "`deadline` needs a date and a time: 2027-04-26"),
        ("\"26 April\"", "`deadline` is not a date and time: \"26 April\""),
        ("26", "`deadline` is not a date and time"),
    ] {
        let errors = read(&format!("deadline = {wrong}"), "").unwrap_err();
        assert!(errors.contains(what) && errors.contains("with a time zone, such as"), "{errors}");
    }
}

#[test]
fn deadline_of_a_phase_needs_resubmission() {
    let errors = read("", "deadline = 2027-04-26T23:59:00Z").unwrap_err();
    assert!(errors.contains("its deadline has no effect") && errors.contains("resubmit = true"), "{errors}");
    let config =
        read("deadline = 2027-01-01T00:00:00Z", "resubmit = true\ndeadline = 2027-04-26T23:59:00Z").unwrap();
    let text = |phase| config.deadline_before(phase).map(|deadline| deadline.text.clone());
    assert_eq!(text(0).as_deref(), Some("2027-01-01T00:00:00Z"));
    assert_eq!(text(1).as_deref(), Some("2027-04-26T23:59:00Z"));
    assert_eq!(text(2), None);
}

#[test]
fn later_deadline_does_not_make_results_incomparable() {
    let (old, new) = (read("", "").unwrap(), read("deadline = 2027-01-01T00:00:00Z", "").unwrap());
    let changes = agon_league::config::compare_configs(&old.normalised(), &new.normalised());
    assert_eq!(changes.len(), 1);
    let started = agon_league::config::CompetitionProgress { started_phases: 1, waiting_for_bots: false };
    assert!(!changes[0].is_refused(started), "{}", changes[0]);
}

#[test]
fn entrant_of_an_archive_has_the_name_of_its_file() {
    assert_eq!(read("", "").unwrap().entrants[1].name, "Ana Perez");
}
