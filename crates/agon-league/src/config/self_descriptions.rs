//! Names and authors that bots give themselves, beside those of the competition file. The file wins.

use std::collections::HashMap;

use agon_core::SelfDescription;
use agon_core::text_format::plural;

use super::EntrantSpec;
use super::toml_reader::MAX_NAME_CHARS;

/// The entrants as tables show them: where the file gives no name or no contributor, with what the bot says. `says` is in the
/// order of the entrants. Names stay unique: a bot that takes the name of another one also shows its own from the file.
pub fn shown_entrants(entrants: &[EntrantSpec], says: &[SelfDescription]) -> Vec<EntrantSpec> {
    let said = |number: usize| says.get(number).and_then(|says| says.name.clone());
    let wanted: Vec<String> = entrants
        .iter()
        .enumerate()
        .map(|(number, one)| said(number).filter(|_| !one.name_given).unwrap_or_else(|| one.name.clone()))
        .collect();
    let names = make_unique(entrants, &wanted);
    let shown = |(number, (one, name)): (usize, (&EntrantSpec, String))| {
        let contributor =
            one.contributor.clone().or_else(|| says.get(number).and_then(|says| says.contributor.clone()));
        EntrantSpec { name, contributor, ..one.clone() }
    };
    entrants.iter().zip(names).enumerate().map(shown).collect()
}

/// Adds the name of the file to each wanted name that another entrant wants or has.
fn make_unique(entrants: &[EntrantSpec], wanted: &[String]) -> Vec<String> {
    let mut count: HashMap<String, usize> = HashMap::new();
    for (one, wanted) in entrants.iter().zip(wanted) {
        *count.entry(wanted.to_lowercase()).or_default() += 1;
        if one.name.to_lowercase() != wanted.to_lowercase() {
            *count.entry(one.name.to_lowercase()).or_default() += 1;
        }
    }
    let name = |(one, wanted): (&EntrantSpec, &String)| {
        if one.name == *wanted || count.get(&wanted.to_lowercase()) == Some(&1) {
            return wanted.clone();
        }
        let room = MAX_NAME_CHARS.saturating_sub(one.name.chars().count() + 3);
        let start: String = wanted.chars().take(room).collect();
        // The name of the file is unique by itself.
        if room == 0 { one.name.clone() } else { format!("{} ({})", start.trim_end(), one.name) }
    };
    entrants.iter().zip(wanted).map(name).collect()
}

/// Contradictions between the file and the bots, one sentence each. They are no errors: the file wins.
pub fn contradictions(entrants: &[EntrantSpec], says: &[SelfDescription]) -> Vec<String> {
    let mut found = Vec::new();
    for (one, says) in entrants.iter().zip(says) {
        let mut add = |what: &str, file: &str, bot: &Option<String>| {
            if let Some(bot) = bot.as_ref().filter(|bot| *bot != file) {
                found.push(format!(
                    "entrant {}: its {what} is \"{file}\" in the file, but the bot says \"{bot}\"; tables show that of the file",
                    one.name
                ));
            }
        };
        if one.name_given {
            add("name", &one.name, &says.name);
        }
        if let Some(contributor) = &one.contributor {
            add("contributor", contributor, &says.contributor);
        }
    }
    found
}

/// Contributors with more bots than allowed, one sentence each. `shown` are the entrants as tables show them. Upper and lower case
/// make no difference.
pub fn contributors_over_limit(shown: &[EntrantSpec], most: u32) -> Vec<String> {
    let mut by_contributor: Vec<(String, Vec<&EntrantSpec>)> = Vec::new();
    for one in shown {
        let Some(contributor) = &one.contributor else { continue };
        let key = contributor.to_lowercase();
        match by_contributor.iter_mut().find(|(known, _)| *known == key) {
            Some((_, own)) => own.push(one),
            None => by_contributor.push((key, vec![one])),
        }
    }
    let over = by_contributor.iter().filter(|(_, own)| own.len() > most as usize);
    let describe = |(_, own): &(String, Vec<&EntrantSpec>)| {
        let names: Vec<&str> = own.iter().map(|one| one.name.as_str()).collect();
        let contributor = own.first().and_then(|one| one.contributor.as_deref()).unwrap_or_default();
        let bots = plural(own.len() as u64, "bot", "bots");
        format!("{contributor} has {bots} ({}); bots_per_contributor is {most}", names.join(", "))
    };
    over.map(describe).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::EntrantBot;

    fn entrant(name: &str, name_given: bool, contributor: Option<&str>) -> EntrantSpec {
        EntrantSpec {
            name: name.to_owned(),
            name_given,
            bot: EntrantBot::Spec(format!("{name}.py")),
            contributor: contributor.map(str::to_owned),
            marks: Vec::new(),
            role: None,
        }
    }

    fn says(name: &str, contributor: &str) -> SelfDescription {
        SelfDescription::new(Some(name), Some(contributor))
    }

    #[test]
    fn what_the_bot_says_is_shown_where_the_file_says_nothing() {
        let entrants = [entrant("kadabra", false, None), entrant("Abra", true, Some("Ray"))];
        let said = [says("Kadabra", "Rayman"), says("Other", "Rayman")];
        let shown = shown_entrants(&entrants, &said);
        let pairs: Vec<_> = shown.iter().map(|one| (&*one.name, one.contributor.as_deref())).collect();
        assert_eq!(pairs, [("Kadabra", Some("Rayman")), ("Abra", Some("Ray"))]);
        assert_eq!(
            contradictions(&entrants, &said),
            [
                "entrant Abra: its name is \"Abra\" in the file, but the bot says \"Other\"; tables show that of the file",
                "entrant Abra: its contributor is \"Ray\" in the file, but the bot says \"Rayman\"; tables show that of the file",
            ]
        );
        assert_eq!(shown_entrants(&entrants, &[]), entrants, "an old ledger has no descriptions");
    }

    #[test]
    fn bots_of_one_name_are_told_apart() {
        let entrants = [
            entrant("first", false, None),
            entrant("second", false, None),
            entrant("rambo", true, None),
            entrant("fourth", false, None),
        ];
        let said = [says("Steve", ""), says("steve", ""), says("", ""), says("Rambo", "")];
        let names: Vec<String> = shown_entrants(&entrants, &said).into_iter().map(|one| one.name).collect();
        assert_eq!(names, ["Steve (first)", "steve (second)", "rambo", "Rambo (fourth)"]);
    }

    #[test]
    fn bots_are_counted_by_the_contributor_that_tables_show() {
        let entrants = [
            entrant("a", false, None),
            entrant("b", false, None),
            entrant("c", false, Some("Rayman")),
            entrant("d", false, None),
        ];
        let said = [says("A", "rayman"), says("B", "Rayman"), says("C", "Someone"), says("D", "Hein")];
        let shown = shown_entrants(&entrants, &said);
        assert_eq!(
            contributors_over_limit(&shown, 2),
            ["rayman has 3 bots (A, B, C); bots_per_contributor is 2"]
        );
        assert!(contributors_over_limit(&shown, 3).is_empty());
    }
}
