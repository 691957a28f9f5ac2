//! Bots that are Python scripts of their own, started by a command such as `python3 bot.py`: the same command under a debugger or a profiler.

use std::path::Path;

use crate::program::Program;
use crate::python;

/// Runs a tool of the Python package on the script.
const RUN_TOOL: &str = "from agon_bot.script_tool import main; main()";

/// The same bot, run by a tool of the package: `debug`, `functions` or `lines`. `None` if the program is not a Python script.
pub fn with_tool(program: &Program, tool: &str) -> Option<Program> {
    let at = script_index(&program.words)?;
    let package = python::package().ok()?;
    let mut other = program.clone();
    other.words.splice(at..at, ["-c", RUN_TOOL, tool].map(str::to_owned));
    other.environment.push(("PYTHONPATH".to_owned(), package.display().to_string()));
    other.environment.push(("PYTHONDONTWRITEBYTECODE".to_owned(), "1".to_owned()));
    other.readable_dirs.push(package);
    Some(other)
}

/// Index of the script in a command that starts with a Python interpreter and its options.
fn script_index(words: &[String]) -> Option<usize> {
    let interpreter = Path::new(words.first()?).file_name()?.to_str()?;
    let version = interpreter.strip_prefix("python")?;
    if !version.chars().all(|c| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let at = 1 + words.iter().skip(1).take_while(|word| word.starts_with('-')).count();
    let takes_code = words[1..at].iter().any(|word| matches!(word.as_str(), "-c" | "-m"));
    let is_script =
        words.get(at).is_some_and(|word| Path::new(word).extension().is_some_and(|ending| ending == "py"));
    (is_script && !takes_code).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn script_of_a_python_command_is_found() {
        let index = |command: &str| script_index(&command.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(index("python3 bot.py"), Some(1));
        assert_eq!(index("/usr/bin/python3.11 -u -O bot.py --fast"), Some(3));
        for other in
            ["pythonista bot.py", "java Bot", "python3 -m bot", "python3 -c bot.py", "python3", "./bot.py"]
        {
            assert_eq!(index(other), None, "{other}");
        }
    }
}
