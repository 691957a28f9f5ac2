//! Ranking and tables of a game's competitions, as data.

use crate::info::GameInfo;

/// Ranking and tables of a game's competitions.
#[derive(Clone, Copy, Debug)]
pub struct StandingsRules {
    /// Criteria of the official order; the first one that differs decides. Each role is ranked separately.
    pub order: &'static [RankCriterion],
    /// The mean whose confidence interval is shown.
    pub mean: RankedMean,
    /// Official tables in the order of the game's document.
    pub tables: &'static [TableInfo],
    /// Whether a series of games (`agon play --games N`) counts like a competition, so that it gives the official tables.
    pub tables_of_series: bool,
    /// Cells of the head-to-head table. `None` for games of more than two seats.
    pub head_to_head: Option<PairCell>,
    /// Second criterion in a knockout, after the points.
    pub tie_break: TieBreak,
}

impl StandingsRules {
    /// The statistic (index into [`GameInfo::stats`]) that decides the order after the score. Results show it beside the score.
    pub fn stat_beside_score(&self) -> Option<usize> {
        self.order.iter().find_map(|criterion| match criterion {
            RankCriterion::TotalStat(stat) => Some(*stat),
            _ => None,
        })
    }
}

/// A criterion of an order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RankCriterion {
    /// Points per match, most first.
    PointsPerMatch,
    /// All points, most first.
    TotalPoints,
    /// Mean score; the role says whether higher or lower is better.
    MeanScore,
    /// Sum of a statistic (index into [`GameInfo::stats`]), highest first.
    TotalStat(usize),
    /// Games won minus games lost, most first.
    GamesWonMinusLost,
    /// Points, then games won minus lost, in the matches of equal entrants against each other. Only as the last criterion.
    HeadToHead,
}

/// The mean whose confidence interval is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RankedMean {
    /// Column title.
    pub title: &'static str,
    /// Decimals.
    pub decimals: usize,
    /// What is averaged.
    pub of: MeanOf,
}

/// What is averaged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MeanOf {
    /// Points of a match.
    Points,
    /// Score of a game.
    Score,
}

/// An official table.
#[derive(Clone, Copy, Debug)]
pub struct TableInfo {
    /// Stable id for programs.
    pub id: &'static str,
    /// Title.
    pub title: &'static str,
    /// Role of the entrants in it. `None` in a game with one role.
    pub role: Option<&'static str>,
    /// Order of the rows.
    pub order: TableOrder,
    /// Columns from left to right.
    pub columns: &'static [ColumnInfo],
    /// Notes below the table.
    pub notes: &'static [&'static str],
}

/// Order of the rows of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TableOrder {
    /// The official order.
    Official,
    /// Mean score per microsecond of thinking time, highest first. The order depends on measured times.
    ScorePerTime,
}

/// A column of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ColumnInfo {
    /// Stable id for programs.
    pub id: &'static str,
    /// Title.
    pub title: &'static str,
    /// Content of the cells.
    pub value: ColumnValue,
    /// Decimals of a real number.
    pub decimals: usize,
    /// Unit after a real number; may be empty.
    pub unit: &'static str,
}

/// Content of the cells of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ColumnValue {
    /// Rank in this table.
    Rank,
    /// `gold`, `silver` or `bronze` for the first three ranks.
    Medal,
    /// Name with marks.
    Name,
    /// Contributor.
    Contributor,
    /// Contributor; the column is left out if no entrant has one.
    ContributorIfAny,
    /// Mean thinking time per answer, in microseconds.
    MeanTime,
    /// Mean score.
    MeanScore,
    /// Mean score per microsecond of thinking time.
    ScorePerTime,
    /// Standard deviation of the scores.
    ScoreDeviation,
    /// Highest score.
    HighestScore,
    /// Lowest score.
    LowestScore,
    /// Points per match.
    PointsPerMatch,
    /// All points.
    TotalPoints,
    /// Sum of a statistic (index into [`GameInfo::stats`]).
    TotalStat(usize),
    /// Games won.
    Won,
    /// Games drawn.
    Drawn,
    /// Games lost.
    Lost,
    /// Games won minus games lost.
    WonMinusLost,
    /// Share of games won, in percent.
    WonPercent,
    /// Games.
    Games,
    /// Matches.
    Matches,
}

impl ColumnInfo {
    /// Column with the rank.
    pub const RANK: Self = Self::new("rank", "Rank", ColumnValue::Rank);
    /// Column with the name.
    pub const NAME: Self = Self::new("name", "Name", ColumnValue::Name);
    /// Column with the contributor.
    pub const CONTRIBUTOR: Self = Self::new("contributor", "Contributor", ColumnValue::Contributor);
    /// Column with the contributor, left out if no entrant has one.
    pub const CONTRIBUTOR_IF_ANY: Self =
        Self::new("contributor", "Contributor", ColumnValue::ContributorIfAny);
    /// Column with the games won.
    pub const WON: Self = Self::new("won", "Won", ColumnValue::Won);
    /// Column with the games drawn.
    pub const DRAWN: Self = Self::new("drawn", "Drawn", ColumnValue::Drawn);
    /// Column with the games lost.
    pub const LOST: Self = Self::new("lost", "Lost", ColumnValue::Lost);
    /// Column with the number of games.
    pub const GAMES: Self = Self::new("games", "Games", ColumnValue::Games);
    /// Column with the number of matches.
    pub const MATCHES: Self = Self::new("matches", "Matches", ColumnValue::Matches);

    /// A column. Real numbers have no decimals and no unit.
    pub const fn new(id: &'static str, title: &'static str, value: ColumnValue) -> Self {
        Self { id, title, value, decimals: 0, unit: "" }
    }

    /// The same with this number of decimals.
    #[must_use]
    pub const fn decimals(self, decimals: usize) -> Self {
        Self { decimals, ..self }
    }

    /// The same with a unit.
    #[must_use]
    pub const fn unit(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }
}

/// Cells of the head-to-head table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PairCell {
    /// Content of a cell.
    pub value: PairValue,
    /// Note that says how to read a row.
    pub note: &'static str,
}

impl PairCell {
    /// Games won, drawn and lost.
    pub const WON_DRAWN_LOST: Self = Self {
        value: PairValue::WonDrawnLost,
        note: "A row reads: games won-drawn-lost against the entrant of that number",
    };
}

/// Content of a cell of the head-to-head table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PairValue {
    /// Games won, drawn and lost.
    WonDrawnLost,
    /// Points, and games won and lost.
    PointsAndGames,
    /// Mean score with this number of decimals.
    MeanScore(usize),
}

/// Second criterion in a knockout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TieBreak {
    /// Sum of the scores.
    Score,
    /// Games won minus games lost.
    GamesWonMinusLost,
    /// Sum of a statistic (index into [`GameInfo::stats`]).
    Stat(usize),
}

impl TieBreak {
    /// Name for tables and brackets.
    pub fn name(self, game: &GameInfo) -> &'static str {
        match self {
            Self::Score => "score",
            Self::GamesWonMinusLost => "games won - lost",
            Self::Stat(index) => game.stats.get(index).map_or("", |stat| stat.name),
        }
    }
}

impl StandingsRules {
    /// Points, then mean score: for a game with one role whose document defines no tables.
    pub const POINTS_THEN_SCORE: Self = Self {
        order: &[RankCriterion::TotalPoints, RankCriterion::MeanScore],
        mean: RankedMean { title: "Points a match", decimals: 3, of: MeanOf::Points },
        tables: &[TableInfo {
            id: "table",
            title: "Table",
            role: None,
            order: TableOrder::Official,
            columns: &[
                ColumnInfo::RANK,
                ColumnInfo::NAME,
                ColumnInfo::CONTRIBUTOR_IF_ANY,
                ColumnInfo::new("points", "Points", ColumnValue::TotalPoints),
                ColumnInfo::new("score", "Mean score", ColumnValue::MeanScore).decimals(3),
                ColumnInfo::WON,
                ColumnInfo::DRAWN,
                ColumnInfo::LOST,
                ColumnInfo::GAMES,
            ],
            notes: &["Points, then mean score"],
        }],
        tables_of_series: false,
        head_to_head: Some(PairCell::WON_DRAWN_LOST),
        tie_break: TieBreak::Score,
    };
}
