//! Whether formats fit the game, the entrants, and the phases before them.

use super::entrants::ParsedEntrant;
use super::toml_reader::TomlReader;
use super::game::GameContext;
use super::phases::ParsedPhase;
use super::{PhaseConfig, StopRule};
use crate::format::{Format, TieRule};

struct Checked<'c> {
    played: &'c GameContext,
    listed: &'c [ParsedEntrant],
}

/// Notes what does not fit.
pub fn validate(top: &TomlReader<'_>, played: &GameContext, listed: &[ParsedEntrant], phases: &[ParsedPhase<'_>]) {
    let whole = top.get("entrant").and_then(|value| value.get_ref().as_array().map(|list| list.len()));
    // With an entrant that could not be read, counting is idle.
    let counted = whole == Some(listed.len());
    let checked = Checked { played, listed };
    for (number, planned) in phases.iter().enumerate() {
        let at = &planned.fields;
        if !checked.game(at, &planned.phase.format) {
            continue;
        }
        if counted {
            checked.field(at, &planned.phase.format, number);
        }
        Checked::order(at, &planned.phase, number);
        Checked::rest(at, &planned.phase);
    }
}

/// What a format is called in a file.
pub const fn word(format: &Format) -> &'static str {
    match format {
        Format::Groups { .. } => "groups",
        Format::Arena { .. } => "arena",
        Format::RoundRobin { .. } => "round-robin",
        Format::Cross { .. } => "cross",
        Format::Swiss { .. } => "swiss",
        Format::Knockout(_) => "knockout",
        Format::DoubleElimination(_) => "double-elimination",
        Format::Gauntlet { .. } => "gauntlet",
    }
}

impl Checked<'_> {
    /// Whether the game can be played that way.
    fn game(&self, at: &TomlReader<'_>, format: &Format) -> bool {
        let info = self.played.info;
        let seats = info.seats;
        let refuse = |key: &str, what: String, hint: &str| {
            let span = at.get(key).map_or_else(|| at.span.clone(), toml::Spanned::span);
            at.notes.unfit(span, what, hint);
            false
        };
        let title = info.title;
        if self.played.has_roles() && !matches!(format, Format::Cross { .. }) {
            let roles: Vec<String> = info.roles.iter().map(|role| format!("{}s", role.name)).collect();
            let what = format!("{} cannot be: {title} has {}", word(format), roles.join(" and "));
            return refuse(
                "format",
                what,
                "write format = \"cross\": each of the one against each of the other",
            );
        }
        match format {
            Format::Cross { .. } if !self.played.has_roles() => {
                let hint = "cross is each of one role against each of the other; for equals take round-robin or groups";
                refuse("format", format!("cross cannot be: {title} has no roles"), hint)
            }
            Format::Groups { size, .. } if !seats.allows(*size as usize) => refuse(
                "size",
                format!("{title} is played by {}, not by {size}", seats.words()),
                "change `size`",
            ),
            Format::Arena { .. } if seats.min == seats.max => {
                let hint = if seats.max == 2 { "take round-robin, swiss or knockout" } else { "take groups" };
                let what =
                    format!("arena cannot be: {title} is played by {}, not by all at once", seats.words());
                refuse("format", what, hint)
            }
            Format::Cross { .. } | Format::Groups { .. } | Format::Arena { .. } => true,
            _ if !seats.allows(2) => {
                let what = format!(
                    "{} cannot be: it is for two, {title} is played by {}",
                    word(format),
                    seats.words()
                );
                refuse("format", what, "take groups")
            }
            _ => true,
        }
    }

    /// Whether there are as many entrants as it takes.
    fn field(&self, at: &TomlReader<'_>, format: &Format, number: usize) {
        let all = self.listed.len();
        let place = |key: &str| at.get(key).map_or_else(|| at.span.clone(), toml::Spanned::span);
        let many = |n: usize| if n == 1 { "1 entrant".to_owned() } else { format!("{n} entrants") };
        let short = |key: &str, least: usize| {
            let there = if all == 1 { "there is 1".to_owned() } else { format!("there are {all}") };
            let what = match format {
                Format::Groups { size, .. } => format!("groups of {size} need {size} entrants; {there}"),
                _ => format!("{} needs at least {least} entrants; {there}", word(format)),
            };
            let add = format!("add {} more [[entrant]]", least - all);
            at.notes.unfit(place(key), what, add);
        };
        match format {
            Format::Groups { size, .. } if (*size as usize) > all => {
                short(if at.has("size") { "size" } else { "format" }, *size as usize);
            }
            Format::Arena { .. } if all > self.played.info.seats.max => {
                let what = format!("one arena holds {}; there are {}", self.played.info.seats.max, many(all));
                at.notes.unfit(
                    place("format"),
                    what,
                    "take format = \"groups\" with size = 20: balanced arenas, everyone in equally many",
                );
            }
            Format::Cross { .. } => self.roles(at),
            Format::Gauntlet { challengers, .. } if all >= 2 && challengers.len() == all => {
                at.notes.unfit(
                    place("challengers"),
                    "everybody runs the gauntlet: there is no field",
                    "leave some out, or take round-robin",
                );
            }
            Format::Knockout(TieRule { top: Some(top), .. })
            | Format::DoubleElimination(TieRule { top: Some(top), .. })
                if *top as usize > all && number > 0 =>
            {
                let what = format!("the best {top} go on, but there are {}", many(all));
                at.notes.unfit(place("top"), what, format!("top is at most {all}; without it all take part"));
            }
            Format::Swiss { rounds, .. } if all >= 2 && *rounds as usize > all - 1 + all % 2 => {
                let what = format!("{rounds} rounds among {}: some would meet twice", many(all));
                at.notes.unfit(
                    place("rounds"),
                    what,
                    format!("at most {}, or take round-robin", all - 1 + all % 2),
                );
            }
            _ if all < 2 => short("format", 2),
            _ => {}
        }
    }

    /// Each role has somebody.
    fn roles(&self, at: &TomlReader<'_>) {
        // A role that is not clear was told already.
        if self.listed.iter().any(|one| one.spec.role.is_none()) {
            return;
        }
        for role in self.played.info.roles {
            if !self.listed.iter().any(|one| one.spec.role == Some(role.name)) {
                let what = format!("there is no {}", role.name);
                let house = self.played.house.iter().find(|(_, roles)| roles.contains(&role.name));
                let such =
                    house.map_or_else(String::new, |(name, _)| format!(", such as bot = \"house:{name}\""));
                let hint = format!("add an [[entrant]] with role = \"{}\"{such}", role.name);
                at.notes.unfit(at.place("format"), what, hint);
            }
        }
    }

    /// Whether it can stand at this place among the phases.
    fn order(at: &TomlReader<'_>, phase: &PhaseConfig, number: usize) {
        let ties = matches!(phase.format, Format::Knockout(_) | Format::DoubleElimination(_));
        let seeding = if ties { at.choice("seeding", &["file"]) } else { None };
        if number == 0 {
            if phase.resubmit {
                let what = "the first phase has nothing to wait for";
                at.notes.unfit(
                    at.place("resubmit"),
                    what,
                    "leave `resubmit` out here; it is for the phases after it",
                );
            }
            if ties && at.has("top") {
                let what = "the best of what? there is no phase before this one";
                at.notes.unfit(at.place("top"), what, "play a round-robin first, or leave `top` out");
            } else if ties && !at.has("seeding") {
                let what = format!("{} first: nobody is seeded yet", word(&phase.format));
                let hint = "play a round-robin first, or add seeding = \"file\": seeded as the entrants are listed here";
                at.notes.unfit(
                    at.get("format").map_or_else(|| at.span.clone(), toml::Spanned::span),
                    what,
                    hint,
                );
            }
        } else if seeding.is_some() {
            let what = "the phase before this one decides who is seeded";
            at.notes.unfit(at.place("seeding"), what, "leave `seeding` out");
        }
    }

    /// What else contradicts itself.
    fn rest(at: &TomlReader<'_>, phase: &PhaseConfig) {
        let chain =
            matches!(phase.format, Format::Swiss { .. } | Format::Knockout(_) | Format::DoubleElimination(_));
        if chain && matches!(phase.stop, StopRule::Settled { .. }) {
            let what = format!("a {} phase ends by itself", word(&phase.format));
            at.notes.unfit(at.place("stop"), what, "leave `stop` and `most` out");
        }
        let seeds = ["map_seed", "game_seed"];
        if let Format::Cross { boards } = phase.format
            && boards > 1
            && seeds.iter().all(|seed| phase.settings.int(seed).is_some())
        {
            let what = format!("with both seeds set, all {boards} boards are the same");
            let hint = "leave map_seed or game_seed out, or play boards = 1";
            at.notes.unfit(at.get("boards").map_or_else(|| at.span.clone(), toml::Spanned::span), what, hint);
        }
    }
}
