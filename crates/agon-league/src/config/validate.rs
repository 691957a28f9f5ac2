//! Checks that formats fit the game, the entrants and the earlier phases.

use agon_core::text_format::plural;

use super::entrants::ParsedEntrant;
use super::game::GameContext;
use super::phases::ParsedPhase;
use super::toml_reader::TomlReader;
use super::{PhaseConfig, StopRule};
use crate::format::{Format, TieRule};

struct Validator<'c> {
    game: &'c GameContext,
    entrants: &'c [ParsedEntrant],
}

/// Reports all contradictions.
pub fn validate(
    top: &TomlReader<'_>,
    game: &GameContext,
    entrants: &[ParsedEntrant],
    phases: &[ParsedPhase<'_>],
) {
    let whole = top.get("entrant").and_then(|value| value.get_ref().as_array().map(|list| list.len()));
    // Do not count if an entrant could not be read.
    let all_entrants_read = whole == Some(entrants.len());
    let validator = Validator { game, entrants };
    for parsed in phases {
        let (number, table) = (parsed.number, &parsed.fields);
        if !validator.check_game(table, &parsed.phase.format) {
            continue;
        }
        if all_entrants_read {
            validator.check_entrant_count(table, &parsed.phase.format, number);
        }
        Validator::check_phase_order(table, &parsed.phase, number);
        Validator::check_contradictions(table, &parsed.phase);
    }
}

/// Name of a format in a file.
pub const fn format_name(format: &Format) -> &'static str {
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

impl Validator<'_> {
    /// Whether the game can be played in this format.
    fn check_game(&self, table: &TomlReader<'_>, format: &Format) -> bool {
        let info = self.game.info;
        let seats = info.seats;
        let reject = |key: &str, what: String, hint: &str| {
            let span = table.get(key).map_or_else(|| table.span.clone(), toml::Spanned::span);
            table.errors.global_error(span, what, hint);
            false
        };
        let title = info.title;
        if self.game.has_roles() && !matches!(format, Format::Cross { .. }) {
            let roles: Vec<String> = info.roles.iter().map(|role| format!("{}s", role.name)).collect();
            let what = format!("{} does not fit: {title} has {}", format_name(format), roles.join(" and "));
            return reject(
                "format",
                what,
                "write format = \"cross\": every bot of one role plays every bot of the other",
            );
        }
        match format {
            Format::Cross { .. } if !self.game.has_roles() => {
                let hint = "cross is for games with two roles; use round-robin or groups";
                reject("format", format!("cross does not fit: {title} has no roles"), hint)
            }
            Format::Groups { size, .. } if !seats.allows(*size as usize) => reject(
                "size",
                format!("{title} is played by {}, not by {size}", seats.describe()),
                "set `size` to a number the game allows",
            ),
            Format::Arena { .. } if seats.min == seats.max => {
                let hint = if seats.max == 2 { "use round-robin, swiss or knockout" } else { "use groups" };
                let what = format!(
                    "arena does not fit: {title} is played by {}, not by all entrants",
                    seats.describe()
                );
                reject("format", what, hint)
            }
            Format::Cross { .. } | Format::Groups { .. } | Format::Arena { .. } => true,
            _ if !seats.allows(2) => {
                let what = format!(
                    "{} does not fit: it is for two players, {title} is played by {}",
                    format_name(format),
                    seats.describe()
                );
                reject("format", what, "use groups")
            }
            _ => true,
        }
    }

    /// Whether there are enough entrants, and not too many.
    fn check_entrant_count(&self, table: &TomlReader<'_>, format: &Format, number: usize) {
        let all = self.entrants.len();
        let place = |key: &str| table.get(key).map_or_else(|| table.span.clone(), toml::Spanned::span);
        let short = |key: &str, least: usize| {
            let there = if all == 1 { "there is 1".to_owned() } else { format!("there are {all}") };
            let what = match format {
                Format::Groups { size, .. } => format!("groups of {size} need {size} entrants; {there}"),
                _ => format!("{} needs at least {least} entrants; {there}", format_name(format)),
            };
            let add = format!("add {} more [[entrant]]", least - all);
            table.errors.global_error(place(key), what, add);
        };
        match format {
            Format::Groups { size, .. } if (*size as usize) > all => {
                short(if table.has("size") { "size" } else { "format" }, *size as usize);
            }
            Format::Arena { .. } if all > self.game.info.seats.max => {
                let what = format!(
                    "one arena holds {}; there are {}",
                    self.game.info.seats.max,
                    plural(all, "entrant", "entrants")
                );
                table.errors.global_error(
                    place("format"),
                    what,
                    "use format = \"groups\" with size = 20: balanced arenas, the same number of games for all",
                );
            }
            Format::Cross { .. } => self.check_roles(table),
            Format::Gauntlet { challengers, .. } if all >= 2 && challengers.len() == all => {
                table.errors.global_error(
                    place("challengers"),
                    "all entrants are challengers: there are no opponents",
                    "remove some, or use round-robin",
                );
            }
            Format::Knockout(TieRule { top: Some(top), .. })
            | Format::DoubleElimination(TieRule { top: Some(top), .. })
                if *top as usize > all && number > 0 =>
            {
                let what = format!("`top` is {top}, but there are {}", plural(all, "entrant", "entrants"));
                table.errors.global_error(
                    place("top"),
                    what,
                    format!("set top to at most {all}, or remove it so that all take part"),
                );
            }
            Format::Swiss { rounds, .. } if all >= 2 && *rounds as usize > all - 1 + all % 2 => {
                let what = format!(
                    "{rounds} rounds among {} would repeat pairings",
                    plural(all, "entrant", "entrants")
                );
                table.errors.global_error(
                    place("rounds"),
                    what,
                    format!("set rounds to at most {}, or use round-robin", all - 1 + all % 2),
                );
            }
            _ if all < 2 => short("format", 2),
            _ => {}
        }
    }

    /// Each role needs an entrant.
    fn check_roles(&self, table: &TomlReader<'_>) {
        // An unclear role was reported already.
        if self.entrants.iter().any(|one| one.spec.role.is_none()) {
            return;
        }
        for role in self.game.info.roles {
            if !self.entrants.iter().any(|one| one.spec.role == Some(role.name)) {
                let what = format!("there is no {}", role.name);
                let house = self.game.house_bots.iter().find(|(_, roles)| roles.contains(&role.name));
                let such =
                    house.map_or_else(String::new, |(name, _)| format!(", such as bot = \"house:{name}\""));
                let hint = format!("add an [[entrant]] with role = \"{}\"{such}", role.name);
                table.errors.global_error(table.key_span("format"), what, hint);
            }
        }
    }

    /// Whether the phase can be at this position.
    fn check_phase_order(table: &TomlReader<'_>, phase: &PhaseConfig, number: usize) {
        let ties = matches!(phase.format, Format::Knockout(_) | Format::DoubleElimination(_));
        let seeding = if ties { table.choice("seeding", &["file"]) } else { None };
        if number == 0 {
            if phase.resubmit {
                let what = "`resubmit` is not for the first phase";
                table.errors.global_error(
                    table.key_span("resubmit"),
                    what,
                    "remove `resubmit` here; use it in later phases",
                );
            }
            if ties && table.has("top") {
                let what = "`top` needs an earlier phase, but this is the first";
                table.errors.global_error(
                    table.key_span("top"),
                    what,
                    "play a round-robin first, or remove `top`",
                );
            } else if ties && !table.has("seeding") {
                let what = format!("{} as the first phase has no seeding", format_name(&phase.format));
                let hint = "play a round-robin first, or add seeding = \"file\" to seed entrants in the order of the file";
                table.errors.global_error(
                    table.get("format").map_or_else(|| table.span.clone(), toml::Spanned::span),
                    what,
                    hint,
                );
            }
        } else if seeding.is_some() {
            let what = "`seeding` is only for the first phase; the phase before seeds this one";
            table.errors.global_error(table.key_span("seeding"), what, "remove `seeding`");
        }
    }

    /// Other contradictions.
    fn check_contradictions(table: &TomlReader<'_>, phase: &PhaseConfig) {
        let chain =
            matches!(phase.format, Format::Swiss { .. } | Format::Knockout(_) | Format::DoubleElimination(_));
        if chain && matches!(phase.stop, StopRule::Settled { .. }) {
            let what = format!("a {} phase ends by itself", format_name(&phase.format));
            table.errors.global_error(table.key_span("stop"), what, "remove `stop` and `most`");
        }
        let seeds = ["map_seed", "game_seed"];
        if let Format::Cross { boards } = phase.format
            && boards > 1
            && seeds.iter().all(|seed| phase.settings.int(seed).is_some())
        {
            let what = format!("with both seeds set, all {boards} boards are the same");
            let hint = "remove map_seed or game_seed, or set boards = 1";
            table.errors.global_error(
                table.get("boards").map_or_else(|| table.span.clone(), toml::Spanned::span),
                what,
                hint,
            );
        }
    }
}
