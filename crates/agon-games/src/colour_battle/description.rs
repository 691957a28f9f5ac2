//! Colour Battle: what other crates need to know about the game besides its rules.

use agon_core::standings_rules::{
    ColumnInfo, ColumnValue, MeanOf, RankCriterion, RankedMean, StandingsRules, TableInfo, TableOrder,
    TieBreak,
};
use agon_core::{BotRules, CompetitionRules, GameTexts, PythonApi, StarterBot, Starters};

pub(super) const BOTS: BotRules = BotRules {
    python: Some(PythonApi::Class),
    text_protocol: None,
    players_yml: false,
    asked_together: true,
    named_class: None,
    may_start_processes: true,
    keeps_data: false,
    names_itself: true,
    measures_empty_answers: true,
    file: None,
    check_settings: &[("rounds", "200")],
    requirements: &[
        "A `.py` file with a class that has `determine_next_move(self, grid, enemies, game_info)`, `get_name()` and `get_contributor()`.",
        "Import `Move` from `bot_control`. One thread only.",
    ],
};

const TIME: ColumnInfo = ColumnInfo::new("time_us", "Avg [us]", ColumnValue::MeanTime).decimals(3);
const SCORE_WITH_UNIT: ColumnInfo =
    ColumnInfo::new("score", "Score", ColumnValue::MeanScore).decimals(3).unit("%");
const SCORE: ColumnInfo = ColumnInfo::new("score", "Score [%]", ColumnValue::MeanScore).decimals(3);

pub(super) const STANDINGS: StandingsRules = StandingsRules {
    order: &[RankCriterion::MeanScore],
    mean: RankedMean { title: "Score [%]", decimals: 3, of: MeanOf::Score },
    tables: &[
        TableInfo {
            id: "score",
            title: "Score",
            role: None,
            order: TableOrder::Official,
            columns: &[ColumnInfo::RANK, ColumnInfo::NAME, ColumnInfo::CONTRIBUTOR, TIME, SCORE_WITH_UNIT],
            notes: &[],
        },
        TableInfo {
            id: "efficiency",
            title: "Efficiency",
            role: None,
            order: TableOrder::ScorePerTime,
            columns: &[
                ColumnInfo::RANK,
                ColumnInfo::NAME,
                ColumnInfo::CONTRIBUTOR,
                TIME,
                SCORE,
                ColumnInfo::new("efficiency", "Efficiency [%/us]", ColumnValue::ScorePerTime).decimals(3),
            ],
            notes: &[],
        },
        TableInfo {
            id: "spread",
            title: "Spread",
            role: None,
            order: TableOrder::Official,
            columns: &[
                ColumnInfo::RANK,
                ColumnInfo::NAME,
                SCORE,
                ColumnInfo::new("deviation", "Standard deviation", ColumnValue::ScoreDeviation).decimals(3),
                ColumnInfo::new("best", "Best game", ColumnValue::HighestScore).decimals(3),
                ColumnInfo::new("worst", "Worst game", ColumnValue::LowestScore).decimals(3),
                ColumnInfo::GAMES,
            ],
            notes: &[],
        },
    ],
    tables_of_series: true,
    head_to_head: None,
    tie_break: TieBreak::Score,
};

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
            file: "starter_bot.py",
            text: include_str!("starters/python/starter_bot.py"),
        },
        StarterBot { language: "rust", file: "bot.rs", text: include_str!("starters/rust/bot.rs") },
        StarterBot { language: "cpp", file: "bot.cpp", text: include_str!("starters/cpp/bot.cpp") },
        StarterBot { language: "java", file: "Bot.java", text: include_str!("starters/java/Bot.java") },
        StarterBot { language: "js", file: "bot.js", text: include_str!("starters/js/bot.js") },
    ],
    files: &[],
    opponents: &[
        ". house:random house:sweeper --set rounds=200 --seed 7",
        ". house:seeker house:drawn --set rounds=300 --watch",
    ],
};
