//! Hide and Seek: what other crates need to know about the game besides its rules.

use agon_core::standings_rules::{
    ColumnInfo, ColumnValue, MeanOf, PairCell, PairValue, RankCriterion, RankedMean, StandingsRules,
    TableInfo, TableOrder, TieBreak,
};
use agon_core::{BotRules, CompetitionRules, GameTexts, PythonApi, StarterBot, Starters};

pub(super) const BOTS: BotRules = BotRules {
    python: Some(PythonApi::ClassPerRole),
    text_protocol: None,
    players_yml: false,
    asked_together: false,
    named_class: None,
    may_start_processes: true,
    keeps_data: false,
    names_itself: false,
    measures_empty_answers: false,
    file: None,
    check_settings: &[("steps", "400")],
    requirements: &[
        "A `.py` file with a class `Seeker` or `Hider` that has `move()`.",
        "Choose which of them takes part.",
    ],
};

const MEDAL: ColumnInfo = ColumnInfo::new("medal", "Medal", ColumnValue::Medal);
const STEPS: ColumnInfo = ColumnInfo::new("steps", "Mean steps", ColumnValue::MeanScore).decimals(1);
const CAUGHT: ColumnInfo = ColumnInfo::new("caught", "Caught [%]", ColumnValue::WonPercent).decimals(1);
const GOT_AWAY: ColumnInfo = ColumnInfo::new("caught", "Got away [%]", ColumnValue::WonPercent).decimals(1);

pub(super) const STANDINGS: StandingsRules = StandingsRules {
    order: &[RankCriterion::MeanScore],
    mean: RankedMean { title: "Mean steps", decimals: 1, of: MeanOf::Score },
    tables: &[
        TableInfo {
            id: "seekers",
            title: "Seekers",
            role: Some("seeker"),
            order: TableOrder::Official,
            columns: &[
                ColumnInfo::RANK,
                MEDAL,
                ColumnInfo::NAME,
                ColumnInfo::CONTRIBUTOR_IF_ANY,
                STEPS,
                CAUGHT,
                ColumnInfo::GAMES,
            ],
            notes: &["The fewest steps to the catch are best"],
        },
        TableInfo {
            id: "hiders",
            title: "Hiders",
            role: Some("hider"),
            order: TableOrder::Official,
            columns: &[
                ColumnInfo::RANK,
                MEDAL,
                ColumnInfo::NAME,
                ColumnInfo::CONTRIBUTOR_IF_ANY,
                STEPS,
                GOT_AWAY,
                ColumnInfo::GAMES,
            ],
            notes: &["The most steps to the catch are best"],
        },
    ],
    tables_of_series: false,
    head_to_head: Some(PairCell {
        value: PairValue::MeanScore(1),
        note: "Mean steps of the seeker of the row against the hider of the column",
    }),
    tie_break: TieBreak::Score,
};

pub(super) const COMPETITION: CompetitionRules = CompetitionRules {
    preset: include_str!("competition/preset.toml"),
    demo: include_str!("competition/demo.toml"),
    short: include_str!("competition/short.toml"),
    same_seeds_for_all: true,
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
            file: "my_players.py",
            text: include_str!("starters/python/my_players.py"),
        },
        StarterBot { language: "rust", file: "bot.rs", text: include_str!("starters/rust/bot.rs") },
        StarterBot { language: "cpp", file: "bot.cpp", text: include_str!("starters/cpp/bot.cpp") },
        StarterBot { language: "java", file: "Bot.java", text: include_str!("starters/java/Bot.java") },
        StarterBot { language: "js", file: "bot.js", text: include_str!("starters/js/bot.js") },
    ],
    files: &[],
    opponents: &[
        ". house:running-hider --seed 7",
        "house:chasing-seeker . --seed 7",
        ". house:lurking-hider --watch",
    ],
};
