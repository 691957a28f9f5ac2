//! The hostile collection: every bot of `test-bots/hostile` plays two games against an honest one, through the whole command line and
//! behind the real sandbox, as root and as an ordinary user. Each attack must fail, and the game, the other bot and the next game
//! must go on; nobody around must notice anything, and nothing may be left behind.
//!
//! `cargo test -p agon --test hostile NAME` runs one of them.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::print_stderr, reason = "tests")]

mod harness;
mod judge;
mod manifest;
mod pages;

use std::path::PathBuf;

use harness::{Arena, Who, collection};

/// What a hostile bot is played in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Game {
    /// Connect Five, a Python class.
    Connect,
    /// The same against an honest bot that takes its time.
    Slow,
    /// The same with a short clock.
    Quick,
    /// Connect Five, a Python program that speaks the JSON-lines protocol itself.
    Json,
    /// The same with a short clock.
    JsonQuick,
    /// Connect Five, a C program that does.
    Native,
    /// Solitude Scramble, a `Submission.py`.
    Solitude,
    /// Colour Battle, a Python class; needs `NumPy`.
    Colour,
}

impl Game {
    /// The folder of the honest bot.
    fn honest(self) -> &'static str {
        match self {
            Self::Slow => "slow",
            Self::Solitude => "forgetful",
            Self::Colour => "painter",
            _ => "honest",
        }
    }

    /// Game, bots and settings.
    fn words<'a>(self, bot: &'a str, honest: &'a str) -> Vec<&'a str> {
        match self {
            Self::Solitude => {
                let settings = ["--set", "turns=4", "--set", "seconds=2"];
                [&["solitude-scramble", bot, honest, "house:greedy", "house:left"][..], &settings].concat()
            }
            Self::Colour => {
                let settings = ["--set", "rounds=4", "--set", "move_ms=100"];
                [&["colour-battle", bot, honest, "house:random"][..], &settings].concat()
            }
            _ => {
                let seconds = match self {
                    Self::Quick | Self::JsonQuick => "seconds=0.3",
                    _ => "seconds=10",
                };
                // The honest bot begins, so that it has played before anything goes wrong.
                let settings = ["--set", "first=1", "--set", "p=0", "--set", "q=0", "--set", seconds];
                [&["connect-five", bot, honest, "--match-games", "1"][..], &settings].concat()
            }
        }
    }

    /// What the bot answers as long as it has reached nothing, and what the honest one answers.
    fn answers(self) -> (&'static str, &'static str) {
        match self {
            Self::Solitude => ("L", "R"),
            Self::Colour => ("U", "D"),
            _ => ("0", "8"),
        }
    }
}

/// What must come of an attack. Nothing is ever reached, and nobody else has a fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expect {
    /// It is refused, or useless: the bot plays on without a fault, and its answers say that it reached nothing.
    Nothing,
    /// The bot's first fault in each game is of this kind, and its report holds these words.
    Fault(&'static str, &'static str),
    /// It is refused, or costs the bot a fault.
    Harmless,
    /// It does not come up, and is refused before any game, with these words.
    Refused(&'static str),
}

/// A bot of the collection.
#[derive(Debug)]
pub struct Bot {
    pub name: &'static str,
    pub game: Game,
    pub expect: Expect,
    /// Without the sandbox the attack succeeds, and does no harm: so it is shown to be real.
    pub real: bool,
    /// It takes long by its nature: both games at once.
    pub slow: bool,
    /// Why it is known to succeed today.
    pub hole: Option<&'static str>,
}

impl Bot {
    /// A file, or a folder with a `Submission.py`.
    fn source(&self) -> PathBuf {
        let path = collection().join(self.name);
        let ending = if self.game == Game::Native { "c" } else { "py" };
        if path.is_dir() { path } else { path.with_extension(ending) }
    }

    /// Its file in its own folder.
    fn file(&self) -> String {
        match self.game {
            Game::Solitude => "Submission.py".to_owned(),
            Game::Native => "native.c".to_owned(),
            _ => format!("{}.py", self.name),
        }
    }

    /// How it is named on the command line, in its own folder.
    fn seat(&self) -> String {
        match self.game {
            Game::Solitude => "../bot".to_owned(),
            Game::Native => "./native".to_owned(),
            Game::Json | Game::JsonQuick => format!("python3 {}", self.file()),
            _ => self.file(),
        }
    }
}

/// Plays a bot as everybody, and judges what came of it.
fn stand_up_to(name: &str) {
    let bot = manifest::BOTS.iter().find(|bot| bot.name == name).expect("in the manifest");
    if bot.slow {
        // It mostly waits.
        std::thread::scope(|scope| {
            for who in Who::all() {
                scope.spawn(move || stand_up_as(bot, who));
            }
        });
    } else {
        for who in Who::all() {
            stand_up_as(bot, who);
        }
    }
}

fn stand_up_as(bot: &Bot, who: Who) {
    let Some(mut arena) = Arena::new(bot, who) else {
        // A Python in root's home is closed to other users: then it is there, and not for them.
        let lacks = if who == Who::User && Who::Root.python(true).is_some() {
            agon_test_servers::Lacks::Machine
        } else {
            agon_test_servers::Lacks::Setup
        };
        agon_test_servers::cannot_run(lacks, &format!("as {who:?}: no Python for it that {who:?} can run"));
        return;
    };
    let outcome = arena.play(bot, "on");
    let mut wrong = judge::wrong(bot, &outcome);
    wrong.extend(arena.damage(&outcome));
    assert!(wrong.is_empty(), "{} as {who:?}: {wrong:#?}\n{}", bot.name, judge::excerpt(&outcome));
}

/// Without the sandbox, as an ordinary user, the attack succeeds: what the sandbox refuses is there to be refused.
fn is_real(name: &str) {
    let bot = manifest::BOTS.iter().find(|bot| bot.name == name).expect("in the manifest");
    let arena = Arena::new(bot, Who::User).expect("a Python");
    let outcome = arena.play(bot, "off");
    assert!(
        outcome.text.contains("REACHED"),
        "{name} reaches nothing even without the sandbox: {}",
        judge::excerpt(&outcome)
    );
}

/// Without the sandbox a daemon does stay: the look around afterwards finds what is left.
#[test]
fn the_look_around_finds_what_is_left() {
    let bot = manifest::BOTS.iter().find(|bot| bot.name == "daemon_left").expect("in the manifest");
    let mut arena = Arena::new(bot, Who::User).expect("a Python");
    let outcome = arena.play(bot, "off");
    let damage = arena.damage(&outcome);
    arena.end_strangers();
    assert!(damage.iter().any(|what| what.starts_with("left running: ")), "{damage:?}");
}
