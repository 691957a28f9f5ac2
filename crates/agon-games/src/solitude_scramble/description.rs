//! Solitude Scramble: what other crates need to know about the game besides its rules.

use agon_core::standings_rules::{
    ColumnInfo, ColumnValue, MeanOf, RankCriterion, RankedMean, StandingsRules, TableInfo, TableOrder,
    TieBreak,
};
use agon_core::{BotRules, CompetitionRules, GameTexts, PythonApi, StarterBot, Starters};

pub(super) const BOTS: BotRules = BotRules {
    python: Some(PythonApi::Function),
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
        "A file `Submission.py` with a function `get_action(state, match_history)`.",
        "It can import other `.py` and `.json` files beside it. Files, processes and the network are not allowed: the check lists each forbidden word.",
        "State is not kept between calls.",
    ],
};

pub(super) const STANDINGS: StandingsRules = StandingsRules {
    order: &[RankCriterion::PointsPerMatch],
    mean: RankedMean { title: "APPM", decimals: 3, of: MeanOf::Points },
    tables: &[TableInfo {
        id: "leaderboard",
        title: "Leaderboard",
        role: None,
        order: TableOrder::Official,
        columns: &[
            ColumnInfo::RANK,
            ColumnInfo::NAME,
            ColumnInfo::CONTRIBUTOR_IF_ANY,
            ColumnInfo::new("appm", "APPM", ColumnValue::PointsPerMatch).decimals(3),
            ColumnInfo::new("points", "Total points", ColumnValue::TotalPoints),
            ColumnInfo::MATCHES,
        ],
        notes: &["APPM: average points per match"],
    }],
    tables_of_series: false,
    head_to_head: None,
    tie_break: TieBreak::Score,
};

pub(super) const COMPETITION: CompetitionRules = CompetitionRules {
    preset: include_str!("competition/preset.toml"),
    demo: include_str!("competition/demo.toml"),
    short: include_str!("competition/short.toml"),
    same_seeds_for_all: false,
    publishes_history: true,
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
            file: "Submission.py",
            text: include_str!("starters/python/Submission.py"),
        },
        StarterBot { language: "rust", file: "bot.rs", text: include_str!("starters/rust/bot.rs") },
        StarterBot { language: "cpp", file: "bot.cpp", text: include_str!("starters/cpp/bot.cpp") },
        StarterBot { language: "java", file: "Bot.java", text: include_str!("starters/java/Bot.java") },
        StarterBot { language: "js", file: "bot.js", text: include_str!("starters/js/bot.js") },
    ],
    files: &[],
    opponents: &[
        ". house:greedy house:left house:random --seed 7",
        ". house:counter house:cautious house:greedy --watch",
    ],
};
