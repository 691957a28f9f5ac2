//! What pages show about a competition, and the freeze of its standings.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use agon_league::config::{ChangeImpact, CompetitionConfig, compare_configs};

fn read(top: &str, phase: &str) -> Result<CompetitionConfig, String> {
    let text = format!(
        "game = \"word-racer\"\n{top}\n\n[[phase]]\nformat = \"round-robin\"\n{phase}\n\n\
        [[entrant]]\nbot = \"house:random\"\n[[entrant]]\nbot = \"house:filler\"\n"
    );
    CompetitionConfig::read(&text).map_err(|errors| {
        errors.iter().map(|error| error.describe("cup.toml")).collect::<Vec<_>>().join("\n")
    })
}

#[test]
fn presentation_is_read() {
    let top = "about = \"\"\"\nOpen to all.\n\n*Come!*\n\"\"\"\nprizes = [\"500 EUR\", \"a book\"]\n\
        [[sponsor]]\nname = \"One\"\nlink = \"https://example.org/a?b=c\"\npicture = \"one-1.png\"\n[[sponsor]]\nname = \"Two\"";
    let found = read(top, "").unwrap().presentation;
    assert_eq!(found.about.as_deref(), Some("Open to all.\n\n*Come!*"));
    assert_eq!(found.prizes, ["500 EUR", "a book"]);
    let names: Vec<&str> = found.sponsors.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["One", "Two"]);
    assert_eq!(found.sponsors[0].link.as_deref(), Some("https://example.org/a?b=c"));
    assert_eq!(
        (found.sponsors[0].picture.as_deref(), &found.sponsors[1].picture),
        (Some("one-1.png"), &None)
    );
}

#[test]
fn wrong_presentation_is_reported_with_its_line() {
    let long = format!("about = \"{}\"", "x".repeat(2001));
    let prize = format!("prizes = [\"{}\"]", "x".repeat(121));
    let prizes = format!("prizes = [{}]", "\"x\", ".repeat(21));
    let sponsors = "[[sponsor]]\nname = \"x\"\n".repeat(21);
    for (top, what) in [
        (long.as_str(), "`about` is longer than 2000 characters"),
        ("about = 3", "`about` is not text"),
        ("about = \"a\\u0007b\"", "`about` holds a control character"),
        (prize.as_str(), "longer than 120 characters"),
        (prizes.as_str(), "more than 20 prizes"),
        (sponsors.as_str(), "more than 20 sponsors"),
        ("[[sponsor]]\nlink = \"https://example.org\"", "this sponsor has no `name`"),
        ("[[sponsor]]\nname = \"x\"\nlink = \"javascript:alert(1)\"", "is not the address of a page"),
        ("[[sponsor]]\nname = \"x\"\nlink = \"https://\"", "is not the address of a page"),
        ("[[sponsor]]\nname = \"x\"\npicture = \"../x.png\"", "is not the name of a picture"),
        ("[[sponsor]]\nname = \"x\"\npicture = \"x.svg\"", "is not the name of a picture"),
        ("[[sponsor]]\nname = \"x\"\nhomepage = \"x\"", "there is no key `homepage` here"),
        ("link = \"https://example.org\"", "`link` belongs to a sponsor"),
        ("freeze = 2027-04-26", "`freeze` needs a date and a time"),
        ("freeze = 2027-04-26T20:00:00", "`freeze` has no time zone"),
    ] {
        let errors = read(top, "").unwrap_err();
        assert!(errors.contains(what) && errors.contains("cup.toml:"), "{top}\n{errors}");
    }
    let errors = read("", "freeze = \"yes\"").unwrap_err();
    assert!(errors.contains("`freeze` is text, not true or false"), "{errors}");
}

#[test]
fn presentation_and_freeze_can_be_changed_at_any_time() {
    let plain = read("", "").unwrap();
    assert!(plain.normalised().get("presentation").is_none() && plain.normalised().get("freeze").is_none());
    assert!(plain.normalised()["phases"][0].get("freeze").is_none());
    let changed = read("freeze = 2027-04-26T20:00:00Z\nprizes = [\"a cup\"]", "freeze = true").unwrap();
    assert_eq!(changed.freeze.as_ref().unwrap().unix_ms, 1_808_769_600_000);
    assert!(changed.phases[0].freeze);
    let changes = compare_configs(&plain.normalised(), &changed.normalised());
    assert!(!changes.is_empty());
    assert!(changes.iter().all(|change| change.impact == ChangeImpact::Never), "{changes:?}");
}
