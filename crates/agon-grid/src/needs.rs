//! Programs that the bots of a phase need on every machine that plays them.

use std::path::Path;

use agon_engine::PlayerSpec;
use agon_host::{Program, python};
use agon_runner::LoadedEntrant;

/// Name of the interpreter of Python bots, wherever it is on a machine.
pub const PYTHON: &str = "python";

/// Programs that these entrants need besides their own files.
pub fn of_entrants(entrants: &[LoadedEntrant]) -> Vec<String> {
    let mut needs = Vec::new();
    for entrant in entrants {
        let PlayerSpec::Program(spec) = &entrant.player else { continue };
        let program = &spec.program;
        let name =
            if program.zygote.is_some() { Some(PYTHON) } else { program.words.first().map(String::as_str) };
        // A path that is not absolute is one of the bot's own files.
        let is_own = |name: &&str| name.contains('/') && !Path::new(name).is_absolute();
        // An absolute path below the bot's folders travels with the bot.
        let folders = || std::iter::once(&program.folder).chain(&program.readable_dirs);
        let travels = |name: &&str| folders().any(|folder| Path::new(name).starts_with(folder));
        if let Some(name) = name.filter(|name| !is_own(name) && !travels(name))
            && !needs.iter().any(|known| known == name)
        {
            needs.push(name.to_owned());
        }
    }
    needs.sort();
    needs
}

/// Those of these programs that do not work on this machine, with the reason and a hint.
pub fn missing(needs: &[String]) -> Vec<(String, String)> {
    let error = |name: &String| {
        let found = if name == PYTHON {
            python::interpreter().map(drop)
        } else {
            // With and without a sandbox, programs are searched in different folders.
            let program = Program::new([name.as_str()], "/");
            program.locate().or_else(|_| program.sandboxed().locate()).map(drop)
        };
        found.err().map(|error| (name.clone(), format!("{} ({})", error.what, error.hint)))
    };
    needs.iter().filter_map(error).collect()
}

/// The missing programs as one text.
pub fn describe(missing: &[(String, String)]) -> String {
    let reasons: Vec<String> = missing.iter().map(|(name, why)| format!("{name}: {why}")).collect();
    reasons.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_names_the_programs_that_do_not_exist() {
        let needs = ["sh", "/usr/bin/env", "no-such-program-7", "/no/such/program"].map(str::to_owned);
        let missing = missing(&needs);
        let names: Vec<&str> = missing.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["no-such-program-7", "/no/such/program"], "{missing:?}");
        assert!(describe(&missing).starts_with("no-such-program-7: "), "{missing:?}");
    }
}
