//! Hostile bots: every bot of `test-bots/hostile` plays two games against an honest bot, through the whole command line and in the real
//! sandbox, as root and as an ordinary user. Each attack must fail. The game, the other bot and the next game must continue. No other
//! process may be affected, and nothing may be left behind.
//!
//! `cargo test -p agon --test hostile NAME` runs one of them.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::print_stderr, reason = "tests")]

mod harness;
mod judge;
mod manifest;
mod pages;
mod stateless;

use std::path::PathBuf;

use harness::{Harness, Who, collection};

/// Game and kind of a hostile bot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Game {
    /// Connect Five, a Python class.
    Connect,
    /// The same against a slow honest bot.
    Slow,
    /// The same with a clock of a second.
    Timed,
    /// The same with a short clock.
    Quick,
    /// Connect Five, a Python program that speaks the JSON-lines protocol itself.
    Json,
    /// The same with a short clock.
    JsonQuick,
    /// Connect Five, a C program that speaks the JSON-lines protocol.
    Native,
    /// Solitude Scramble, a `Submission.py`.
    Solitude,
    /// Colour Battle, a Python class; needs `NumPy`.
    Colour,
}

impl Game {
    /// Folder of the honest bot.
    fn honest(self) -> &'static str {
        match self {
            Self::Slow | Self::Timed => "slow",
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
                    Self::Timed => "seconds=1",
                    _ => "seconds=10",
                };
                // The honest bot moves first, so that it has played before anything fails.
                let settings = ["--set", "first=1", "--set", "p=0", "--set", "q=0", "--set", seconds];
                [&["connect-five", bot, honest, "--match-games", "1"][..], &settings].concat()
            }
        }
    }

    /// Answer of the bot while it has reached nothing, and answer of the honest bot.
    fn answers(self) -> (&'static str, &'static str) {
        match self {
            Self::Solitude => ("L", "R"),
            Self::Colour => ("U", "D"),
            _ => ("0", "8"),
        }
    }
}

/// Required result of an attack. Nothing is ever reached, and no other bot has a fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expect {
    /// The attack fails: the bot keeps playing without a fault, and its answers show that it reached nothing.
    Nothing,
    /// The bot's first fault in each game has this kind, and its report contains this text.
    Fault(&'static str, &'static str),
    /// The attack fails, or costs the bot a fault.
    Harmless,
    /// The bot is rejected before any game, with this text.
    Refused(&'static str),
    /// The bot reports in a crash how much CPU time it has used, and at most 2 % of its limit for each move was not charged.
    Charged,
}

/// A hostile bot.
#[derive(Debug)]
pub struct Bot {
    pub name: &'static str,
    pub game: Game,
    pub expect: Expect,
    /// Whether the attack succeeds without the sandbox, and does no harm. This shows that it is real.
    pub real: bool,
    /// Whether the bot takes long: both games run in parallel.
    pub slow: bool,
    /// Reason why the attack is known to succeed today.
    pub hole: Option<&'static str>,
    /// The defences without which the attack succeeds, separated by commas.
    pub defences: Option<&'static str>,
}

impl Bot {
    /// A file, or a folder with a `Submission.py`.
    fn source(&self) -> PathBuf {
        let path = collection().join(self.name);
        let ending = if self.game == Game::Native { "c" } else { "py" };
        if path.is_dir() { path } else { path.with_extension(ending) }
    }

    /// Name of its file in its folder.
    fn file(&self) -> String {
        match self.game {
            Game::Solitude => "Submission.py".to_owned(),
            Game::Native => "native.c".to_owned(),
            _ => format!("{}.py", self.name),
        }
    }

    /// Bot spec in its folder.
    fn seat(&self) -> String {
        match self.game {
            Game::Solitude => "../bot".to_owned(),
            Game::Native => "./native".to_owned(),
            Game::Json | Game::JsonQuick => format!("python3 {}", self.file()),
            _ => self.file(),
        }
    }
}

/// Plays a bot as each user, and checks the result.
fn attack_must_fail(name: &str) {
    let bot = manifest::BOTS.iter().find(|bot| bot.name == name).expect("in the manifest");
    if bot.slow {
        // The bot mostly waits.
        std::thread::scope(|scope| {
            for who in Who::all() {
                scope.spawn(move || stand_up_as(bot, who));
            }
        });
    } else {
        for who in Who::all() {
            stand_up_as(bot, who);
        }
        if bot.expect == Expect::Charged {
            stand_up_as(bot, Who::UserWithoutCgroup);
        }
    }
}

fn stand_up_as(bot: &Bot, who: Who) {
    let Some(mut harness) = Harness::new(bot, who) else {
        // Other users cannot read a Python in root's home. Then Python is installed, but not for them.
        let lacks = if who != Who::Root && Who::Root.python(true).is_some() {
            agon_test_servers::Lacks::Machine
        } else {
            agon_test_servers::Lacks::Setup
        };
        agon_test_servers::cannot_run(lacks, &format!("as {who:?}: no suitable Python that {who:?} can run"));
        return;
    };
    let outcome = harness.play(bot, "on");
    let mut wrong = judge::wrong(bot, &outcome);
    wrong.extend(harness.damage(&outcome));
    assert!(wrong.is_empty(), "{} as {who:?}: {wrong:#?}\n{}", bot.name, judge::excerpt(&outcome));
}

/// Checks that a bot which must be charged for its thinking thinks for free when the meter is switched off.
fn is_free_without_the_meter(name: &str) {
    let bot = manifest::BOTS.iter().find(|bot| bot.name == name).expect("in the manifest");
    let who = Who::all()[0];
    let Some(mut harness) = Harness::new(bot, who) else {
        agon_test_servers::cannot_run(agon_test_servers::Lacks::Setup, "no suitable Python");
        return;
    };
    harness.defences_off = Some("meter");
    let outcome = harness.play(bot, "on");
    let free = judge::free_microseconds(&outcome);
    if outcome.text.contains(" us refused") {
        // Another defence already refuses the call itself.
        return;
    }
    assert!(
        free.iter().any(|free| *free >= judge::MIN_FREE_MICROSECONDS),
        "{name} gets nothing for free even without the meter: {free:?} {}",
        judge::excerpt(&outcome)
    );
}

/// Checks that the attack succeeds without the sandbox, as an ordinary user, so that the sandbox has something to prevent.
fn is_real(name: &str) {
    let bot = manifest::BOTS.iter().find(|bot| bot.name == name).expect("in the manifest");
    let harness = Harness::new(bot, Who::User).expect("a Python");
    let outcome = harness.play(bot, "off");
    assert!(
        outcome.text.contains("REACHED"),
        "{name} reaches nothing even without the sandbox: {}",
        judge::excerpt(&outcome)
    );
}

/// Checks that the attack succeeds in the sandbox as soon as its defences are switched off.
fn works_without(name: &str) {
    let bot = manifest::BOTS.iter().find(|bot| bot.name == name).expect("in the manifest");
    let mut harness = Harness::new(bot, Who::User).expect("a Python");
    harness.defences_off = bot.defences;
    let outcome = harness.play(bot, "on");
    assert!(
        outcome.text.contains("REACHED") || !judge::exceeded(&outcome).is_empty(),
        "{name} reaches nothing even without {}: {}",
        bot.defences.unwrap_or_default(),
        judge::excerpt(&outcome)
    );
}

/// Without the sandbox a daemon stays, so the checks must find it.
#[test]
fn leftover_daemon_without_the_sandbox_is_found() {
    let bot = manifest::BOTS.iter().find(|bot| bot.name == "daemon_left").expect("in the manifest");
    let mut harness = Harness::new(bot, Who::User).expect("a Python");
    let outcome = harness.play(bot, "off");
    let damage = harness.damage(&outcome);
    harness.kill_leftovers();
    assert!(damage.iter().any(|what| what.starts_with("left running: ")), "{damage:?}");
}
