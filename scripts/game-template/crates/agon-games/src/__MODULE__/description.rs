//! __TITLE__: what other crates need to know about the game besides its rules.

use agon_core::standings_rules::StandingsRules;
use agon_core::{BotRules, CompetitionRules, GameTexts, PythonApi, StarterBot, Starters};

// FILL IN: how bots are written, run, checked and submitted.
pub(super) const BOTS: BotRules = BotRules {
    python: Some(PythonApi::Class),
    text_protocol: None,
    players_yml: false,
    asked_together: false,
    named_class: None,
    may_start_processes: true,
    keeps_data: false,
    names_itself: false,
    measures_empty_answers: false,
    file: None,
    check_settings: &[],
    requirements: &[
        "FILL IN: what a submission must contain, such as a `.py` file with a class that has `get_move(self, state)`.",
    ],
};

// FILL IN: the order and the tables of the game's competitions, if they are others than points, then mean score.
pub(super) const STANDINGS: StandingsRules = StandingsRules::POINTS_THEN_SCORE;

// FILL IN: what competitions hide and publish.
pub(super) const COMPETITION: CompetitionRules = CompetitionRules {
    preset: include_str!("competition/preset.toml"),
    demo: include_str!("competition/demo.toml"),
    short: include_str!("competition/short.toml"),
    same_seeds_for_all: false,
    publishes_history: false,
};

pub(super) const TEXTS: GameTexts =
    GameTexts { rules: include_str!("texts/rules.md"), api: include_str!("texts/api.md") };

pub(super) const STARTERS: Starters = Starters {
    about: include_str!("starters/about.md"),
    asked_python: Some(include_str!("starters/asked-python.md")),
    asked_lines: include_str!("starters/asked-lines.md"),
    next: include_str!("starters/next.md"),
    bots: &[
        StarterBot {
            language: "python",
            file: "StarterBot.py",
            text: include_str!("starters/python/StarterBot.py"),
        },
        StarterBot { language: "rust", file: "bot.rs", text: include_str!("starters/rust/bot.rs") },
        StarterBot { language: "cpp", file: "bot.cpp", text: include_str!("starters/cpp/bot.cpp") },
        StarterBot { language: "java", file: "Bot.java", text: include_str!("starters/java/Bot.java") },
        StarterBot { language: "js", file: "bot.js", text: include_str!("starters/js/bot.js") },
    ],
    files: &[],
    // FILL IN: house bots to try the starter against; the last game is watched.
    opponents: &[". house:first --seed 7", ". house:first --watch"],
};
