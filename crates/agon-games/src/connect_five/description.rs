//! Connect Five: what other crates need to know about the game besides its rules.

use agon_core::standings_rules::{
    ColumnInfo, ColumnValue, MeanOf, PairCell, PairValue, RankCriterion, RankedMean, StandingsRules,
    TableInfo, TableOrder, TieBreak,
};
use agon_core::{BotRules, CompetitionRules, GameTexts, PythonApi, StarterBot, Starters};

pub(super) const BOTS: BotRules = BotRules {
    python: Some(PythonApi::Class),
    text_protocol: None,
    players_yml: false,
    asked_together: false,
    named_class: Some("get_move"),
    may_start_processes: true,
    keeps_data: true,
    names_itself: false,
    measures_empty_answers: false,
    file: None,
    check_settings: &[],
    requirements: &[
        "A zip or folder with `BotName.py`. Its class has the same name as the file and a method `get_move(self, board, player, T, N)`.",
        "The bot can write to a folder `data` beside it. The folder is kept between matches.",
    ],
};

pub(super) const STANDINGS: StandingsRules = StandingsRules {
    order: &[RankCriterion::TotalPoints, RankCriterion::GamesWonMinusLost, RankCriterion::HeadToHead],
    mean: RankedMean { title: "Points a match", decimals: 3, of: MeanOf::Points },
    tables: &[TableInfo {
        id: "league",
        title: "League",
        role: None,
        order: TableOrder::Official,
        columns: &[
            ColumnInfo::RANK,
            ColumnInfo::NAME,
            ColumnInfo::CONTRIBUTOR_IF_ANY,
            ColumnInfo::new("points", "Points", ColumnValue::TotalPoints),
            ColumnInfo::new("difference", "Won - lost", ColumnValue::WonMinusLost),
            ColumnInfo::WON,
            ColumnInfo::DRAWN,
            ColumnInfo::LOST,
            ColumnInfo::MATCHES,
        ],
        notes: &[
            "Points: +1 for a phase of a match won, -1 for one lost; then games won minus lost, then head to head",
        ],
    }],
    tables_of_series: false,
    head_to_head: Some(PairCell {
        value: PairValue::PointsAndGames,
        note: "A row reads: points (games won-lost) against the entrant of that number",
    }),
    tie_break: TieBreak::GamesWonMinusLost,
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
            file: "StarterBot.py",
            text: include_str!("starters/python/StarterBot.py"),
        },
        StarterBot { language: "rust", file: "bot.rs", text: include_str!("starters/rust/bot.rs") },
        StarterBot { language: "cpp", file: "bot.cpp", text: include_str!("starters/cpp/bot.cpp") },
        StarterBot { language: "java", file: "Bot.java", text: include_str!("starters/java/Bot.java") },
        StarterBot { language: "js", file: "bot.js", text: include_str!("starters/js/bot.js") },
    ],
    files: &[],
    opponents: &[". house:random --games 10 --seed 7", ". house:tactician --watch"],
};
