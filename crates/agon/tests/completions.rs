//! `agon completions` and `agon man`: every command and option is in them.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs;
use std::process::Command;

use common::{agon, folder_with, good, stdout, whole};

/// Names of the commands, from the help.
fn commands() -> Vec<String> {
    let help = stdout("--help");
    let lines = help.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
    let names = lines
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names
        .filter_map(|line| line.split_whitespace().next().map(str::to_owned))
        .filter(|name| name != "help")
        .collect()
}

#[test]
fn completions_of_each_shell_contain_every_command() {
    let commands = commands();
    assert!(commands.len() > 20, "{commands:?}");
    for (shell, start) in [("bash", "_agon()"), ("zsh", "#compdef agon"), ("fish", "# Print an optspec")] {
        let script = stdout(&format!("completions {shell}"));
        assert!(script.starts_with(start), "{shell}: {}", script.lines().next().unwrap_or_default());
        for command in &commands {
            assert!(script.contains(command.as_str()), "{shell}: {command}");
        }
        assert!(script.contains("match-games"), "{shell}: an option of `agon play`");
    }
}

#[test]
fn bash_accepts_the_script_and_completes_a_command() {
    let folder = folder_with(&[("agon.bash", &stdout("completions bash"))]);
    let script = "source ./agon.bash && COMP_WORDS=(agon pl) COMP_CWORD=1 && _agon agon pl agon && echo \"${COMPREPLY[@]}\"";
    let output =
        Command::new("bash").args(["--norc", "-c", script]).current_dir(folder.path()).output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "play\n",
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn unknown_shell_is_refused_with_the_known_ones() {
    let said = whole("completions tcsh");
    assert!(said.contains("exit code 2") && said.contains("zsh"), "{said}");
}

#[test]
fn man_pages_are_written_for_every_command() {
    let folder = folder_with(&[]);
    let listed = good(&agon(folder.path(), &["man", "pages"]).output().unwrap());
    for command in commands() {
        let page = fs::read_to_string(folder.path().join(format!("pages/agon-{command}.1"))).unwrap();
        assert!(page.contains(".TH") && page.contains(".SH SYNOPSIS"), "{command}: {page}");
        assert!(listed.contains(&format!("pages/agon-{command}.1\n")), "{listed}");
    }
    let page = fs::read_to_string(folder.path().join("pages/agon.1")).unwrap();
    assert!(page.contains("Exit codes"), "{page}");
    let refused = agon(folder.path(), &["man", "pages/agon.1"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
}
