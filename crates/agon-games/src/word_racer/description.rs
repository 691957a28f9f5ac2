//! Word Racer: what other crates need to know about the game besides its rules.

use agon_core::standings_rules::{
    ColumnInfo, ColumnValue, MeanOf, PairCell, RankCriterion, RankedMean, StandingsRules, TableInfo,
    TableOrder, TieBreak,
};
use agon_core::{BotFile, BotRules, CompetitionRules, GameTexts, StarterBot, StarterFile, Starters};

use super::WordList;

/// Index of the word points in the statistics.
const WORD_POINTS: usize = 0;

pub(super) const BOTS: BotRules = BotRules {
    python: None,
    text_protocol: Some("word-racer"),
    players_yml: true,
    asked_together: false,
    named_class: None,
    may_start_processes: false,
    keeps_data: false,
    names_itself: false,
    measures_empty_answers: false,
    file: Some(BotFile { name: "words.dat", setting: "words", content: words_file }),
    check_settings: &[],
    requirements: &[
        "A folder or zip with a `players.yml` or an `agon.toml` that contains the command to run.",
        "Any language: the bot reads lines and writes lines. Submit everything it needs to run, already built.",
        "One process: threads are allowed and charged, but a bot cannot start other programs.",
    ],
};

/// The word list in use, one word per line.
fn words_file(asset: Option<&[u8]>) -> Option<Vec<u8>> {
    let words = asset.map_or_else(|| Some(WordList::built_in()), |bytes| WordList::from_bytes(bytes).ok())?;
    let mut text = Vec::new();
    words.for_each_word(|word| {
        text.extend(word.iter().map(|code| b'A' + code));
        text.push(b'\n');
    });
    Some(text)
}

pub(super) const STANDINGS: StandingsRules = StandingsRules {
    order: &[RankCriterion::TotalPoints, RankCriterion::TotalStat(WORD_POINTS)],
    mean: RankedMean { title: "Points a game", decimals: 3, of: MeanOf::Points },
    tables: &[TableInfo {
        id: "league",
        title: "Points",
        role: None,
        order: TableOrder::Official,
        columns: &[
            ColumnInfo::RANK,
            ColumnInfo::NAME,
            ColumnInfo::CONTRIBUTOR_IF_ANY,
            ColumnInfo::new("points", "Points", ColumnValue::TotalPoints),
            ColumnInfo::new("word_points", "Word points", ColumnValue::TotalStat(WORD_POINTS)),
            ColumnInfo::WON,
            ColumnInfo::DRAWN,
            ColumnInfo::LOST,
            ColumnInfo::GAMES,
        ],
        notes: &["Points: win 3, draw 1, loss 0; then word points"],
    }],
    tables_of_series: false,
    head_to_head: Some(PairCell::WON_DRAWN_LOST),
    tie_break: TieBreak::Stat(WORD_POINTS),
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
    asked_python: None,
    asked_lines: include_str!("starters/asked-lines.md"),
    next: include_str!("starters/next.md"),
    bots: &[
        StarterBot {
            language: "python",
            file: "wordracer.py",
            text: include_str!("starters/python/wordracer.py"),
        },
        StarterBot { language: "rust", file: "bot.rs", text: include_str!("starters/rust/bot.rs") },
        StarterBot { language: "cpp", file: "bot.cpp", text: include_str!("starters/cpp/bot.cpp") },
        StarterBot { language: "java", file: "Bot.java", text: include_str!("starters/java/Bot.java") },
        StarterBot { language: "js", file: "bot.js", text: include_str!("starters/js/bot.js") },
        // The files of the contest's own Scala template. The first one is the author's.
        StarterBot {
            language: "scala",
            file: "DemoWordRacer.scala",
            text: include_str!("starters/scala/DemoWordRacer.scala"),
        },
        StarterBot {
            language: "scala",
            file: "Runner.scala",
            text: include_str!("starters/scala/Runner.scala"),
        },
        StarterBot {
            language: "scala",
            file: "LocalTester.scala",
            text: include_str!("starters/scala/LocalTester.scala"),
        },
        StarterBot { language: "scala", file: "build.sh", text: include_str!("starters/scala/build.sh") },
    ],
    files: &[
        StarterFile { name: "words.dat", text: WordList::built_in_text(), about: "the words that count" },
        StarterFile {
            name: "words-licence.txt",
            text: include_str!("../../data/WORDS-LICENCE.txt"),
            about: "where those words come from",
        },
    ],
    opponents: &[". house:filler --games 2 --seed 7", ". house:rows --watch"],
};
