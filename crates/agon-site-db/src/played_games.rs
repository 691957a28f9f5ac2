//! Games outside of competitions: games of persons, of challenges and of the practice ladder. The database knows who played and how it
//! ended; records are files of the server.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};

use agon_store::Timestamp;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::model::named_enum;
use super::{
    AccountId, ChallengeId, EntrantId, FromSiteRow, PageRequest, Result, ResultPage, SiteDb, SiteDbError,
    SubmissionId, cursor, enum_column, error, names, result_page, row_limit, time,
};

/// Maximum number of games that one call of [`SiteDb::prune_played_games`] removes.
const MAX_PRUNED_AT_ONCE: i64 = 1_000;
/// Maximum length of the name of a seat.
const MAX_SEAT_NAME_CHARS: usize = 80;

named_enum! {
    /// Why a game outside of a competition was played.
    PlayedKind {
        /// At least one person took part.
        Person = "person",
        /// A game of a challenge.
        Challenge = "challenge",
        /// A game of the practice ladder of a competition.
        Practice = "practice",
    }
}

/// Defines an id of 16 random hexadecimal digits, so that ids of others cannot be guessed.
macro_rules! random_id {
    ($(#[$about:meta])* $name:ident, $column:literal) => {
        $(#[$about])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(String);

        impl $name {
            /// A random id.
            pub fn random() -> ::std::io::Result<Self> {
                crate::played_games::random_digits().map(Self)
            }

            /// Parses an id. A valid id is safe as a file name.
            pub fn parse(text: &str) -> Option<Self> {
                let hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
                (text.len() == 16 && text.bytes().all(hex)).then(|| Self(text.to_owned()))
            }

            /// The digits of the id.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The id in a column.
            pub(crate) fn read(text: &str) -> ::std::result::Result<Self, ::sqlx::Error> {
                Self::parse(text).ok_or_else(|| ::sqlx::Error::Decode(concat!("invalid ", $column).into()))
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}
pub(crate) use random_id;

/// Sixteen random hexadecimal digits.
pub(crate) fn random_digits() -> io::Result<String> {
    let mut bytes = [0; 8];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(format!("{:016x}", u64::from_ne_bytes(bytes)))
}

random_id! {
    /// Id of a played game.
    PlayedGameId, "id of a played game"
}

/// A seat of a played game.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PlayedSeat {
    /// Name in the game.
    pub name: String,
    /// The person, or the author of the bot.
    pub account: Option<AccountId>,
    /// The bot, if it is an entrant of a competition.
    pub entrant: Option<EntrantId>,
    /// The version of the bot.
    pub submission: Option<SubmissionId>,
    /// Name of the house bot, if it is one.
    pub house: Option<String>,
}

/// A game that was played outside of a competition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlayedGameRow {
    /// Id, which also names its files.
    pub id: PlayedGameId,
    /// Why it was played.
    pub kind: PlayedKind,
    /// Id of the game.
    pub game: String,
    /// Id of the competition of a practice game, or whose settings a challenge uses.
    pub competition: Option<String>,
    /// The challenge, for a game of a challenge.
    pub challenge: Option<ChallengeId>,
    /// Number of the game within its challenge, from 0.
    pub number: u32,
    /// Account that had it played.
    pub owner: Option<AccountId>,
    /// Settings, as JSON.
    pub settings: String,
    /// Seed of the game.
    pub seed: u64,
    /// Outcome, as JSON.
    pub outcome: String,
    /// Size of its files; 0 if they were removed.
    pub bytes: u64,
    /// Start of the game.
    pub started: Timestamp,
    /// End of the game.
    pub ended: Timestamp,
    /// Players in seat order.
    pub seats: Vec<PlayedSeat>,
}

impl fmt::Display for PlayedGameRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} game {} of {}", self.kind, self.id, self.game)
    }
}

impl FromSiteRow for PlayedGameRow {
    fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            id: PlayedGameId::read(row.try_get("id")?)?,
            kind: enum_column(row, "kind", PlayedKind::by_name)?,
            game: row.try_get("game")?,
            competition: row.try_get("competition")?,
            challenge: row.try_get::<Option<&str>, _>("challenge")?.map(ChallengeId::read).transpose()?,
            number: row.try_get("number")?,
            owner: row.try_get::<Option<i64>, _>("owner")?.map(AccountId),
            settings: row.try_get("settings")?,
            seed: row.try_get::<i64, _>("seed")? as u64,
            outcome: row.try_get("outcome")?,
            bytes: row.try_get::<i64, _>("bytes")?.max(0) as u64,
            started: time(row, "started")?,
            ended: time(row, "ended")?,
            seats: Vec::new(),
        })
    }
}

impl FromSiteRow for PlayedSeat {
    fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            name: row.try_get("name")?,
            account: row.try_get::<Option<i64>, _>("account")?.map(AccountId),
            entrant: row.try_get::<Option<i64>, _>("entrant")?.map(EntrantId),
            submission: row.try_get::<Option<&str>, _>("submission")?.and_then(SubmissionId::parse),
            house: row.try_get("house")?,
        })
    }
}

/// Who asks for a list of played games, and so which are in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PlayedGameViewer {
    /// A visitor: practice games of public competitions.
    Visitor,
    /// An account: also its own games, and those of its bots.
    Account(AccountId),
    /// An organiser: all games.
    Organiser,
}

/// Selects played games. `None` selects all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlayedGameFilter<'f> {
    /// Who asks.
    pub viewer: PlayedGameViewer,
    /// Why they were played.
    pub kind: Option<PlayedKind>,
    /// Id of the game.
    pub game: Option<&'f str>,
    /// Id of the competition.
    pub competition: Option<&'f str>,
    /// A bot that took part.
    pub entrant: Option<EntrantId>,
}

/// How many played games are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlayedGameQuota {
    /// Maximum bytes of all files.
    pub bytes: u64,
    /// Maximum number of practice games.
    pub practice_games: u64,
    /// Maximum number of other games.
    pub other_games: u64,
}

impl SiteDb {
    /// Stores a played game. Its files are already on disk.
    pub async fn add_played_game(&self, new: &PlayedGameRow) -> Result<()> {
        for seat in &new.seats {
            names::check_line("name", &seat.name, 1, MAX_SEAT_NAME_CHARS)?;
        }
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let seq: i64 = sqlx::query_scalar(
            "INSERT INTO played_game (id, kind, game, competition, challenge, number, owner, settings, seed, outcome, bytes, started, ended)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING seq",
        )
        .bind(new.id.as_str())
        .bind(new.kind.name())
        .bind(&new.game)
        .bind(&new.competition)
        .bind(new.challenge.as_ref().map(ChallengeId::as_str))
        .bind(new.number)
        .bind(new.owner.map(|account| account.0))
        .bind(&new.settings)
        .bind(new.seed as i64)
        .bind(&new.outcome)
        .bind(i64::try_from(new.bytes).unwrap_or(i64::MAX))
        .bind(new.started.0)
        .bind(new.ended.0)
        .fetch_one(&mut *change)
        .await
        .map_err(error::unless_taken(self.path(), "id of a played game"))?;
        for (number, seat) in (0_i64..).zip(&new.seats) {
            sqlx::query(
                "INSERT INTO played_seat (played, seat, name, account, entrant, submission, house) VALUES (?, ?, ?, ?, ?, ?, ?)",
            )
            .bind(seq)
            .bind(number)
            .bind(&seat.name)
            .bind(seat.account.map(|account| account.0))
            .bind(seat.entrant.map(|entrant| entrant.0))
            .bind(seat.submission.as_ref().map(SubmissionId::as_str))
            .bind(&seat.house)
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
        }
        change.commit().await.map_err(self.failed())
    }

    /// The played game with this id.
    pub async fn played_game(&self, id: &PlayedGameId) -> Result<PlayedGameRow> {
        let mut reader = self.0.readers.acquire().await.map_err(self.failed())?;
        let row = sqlx::query("SELECT * FROM played_game WHERE id = ?")
            .bind(id.as_str())
            .fetch_optional(&mut *reader)
            .await
            .map_err(self.failed())?
            .ok_or(SiteDbError::NotFound { what: "played game" })?;
        let mut game = PlayedGameRow::read(&row).map_err(self.failed())?;
        game.seats = self.played_seats_in(&mut reader, &row).await?;
        Ok(game)
    }

    /// Played games that the viewer may see in lists, newest first.
    pub async fn played_games(
        &self,
        filter: PlayedGameFilter<'_>,
        page: PageRequest,
    ) -> Result<ResultPage<PlayedGameRow>> {
        let viewer = match filter.viewer {
            PlayedGameViewer::Account(account) => Some(account.0),
            PlayedGameViewer::Visitor | PlayedGameViewer::Organiser => None,
        };
        let mut reader = self.0.readers.acquire().await.map_err(self.failed())?;
        let rows = sqlx::query(
            "SELECT * FROM played_game WHERE seq < ?1
                AND (?2 IS NULL OR kind = ?2) AND (?3 IS NULL OR game = ?3) AND (?4 IS NULL OR competition = ?4)
                AND (?5 IS NULL OR seq IN (SELECT played FROM played_seat WHERE entrant = ?5))
                AND (?6 OR owner = ?7 OR seq IN (SELECT played FROM played_seat WHERE account = ?7)
                    OR (kind = 'practice' AND EXISTS (
                        SELECT 1 FROM competition WHERE competition.id = played_game.competition AND public AND state <> 'draft'
                    )))
             ORDER BY seq DESC LIMIT ?8",
        )
        .bind(cursor(page))
        .bind(filter.kind.map(PlayedKind::name))
        .bind(filter.game)
        .bind(filter.competition)
        .bind(filter.entrant.map(|entrant| entrant.0))
        .bind(filter.viewer == PlayedGameViewer::Organiser)
        .bind(viewer)
        .bind(row_limit(page))
        .fetch_all(&mut *reader)
        .await
        .map_err(self.failed())?;
        let mut found: ResultPage<PlayedGameRow> = result_page(page, &rows, "seq").map_err(self.failed())?;
        for (game, row) in found.items.iter_mut().zip(&rows) {
            game.seats = self.played_seats_in(&mut reader, row).await?;
        }
        Ok(found)
    }

    /// The games of a challenge, in the order in which they were played.
    pub async fn challenge_games(&self, challenge: &ChallengeId) -> Result<Vec<PlayedGameRow>> {
        let mut reader = self.0.readers.acquire().await.map_err(self.failed())?;
        let rows = sqlx::query("SELECT * FROM played_game WHERE challenge = ? ORDER BY number, seq")
            .bind(challenge.as_str())
            .fetch_all(&mut *reader)
            .await
            .map_err(self.failed())?;
        let mut games = Vec::with_capacity(rows.len());
        for row in &rows {
            let mut game = PlayedGameRow::read(row).map_err(self.failed())?;
            game.seats = self.played_seats_in(&mut reader, row).await?;
            games.push(game);
        }
        Ok(games)
    }

    /// What the files of all played games occupy on disk.
    pub async fn played_bytes(&self) -> Result<u64> {
        let sum: i64 = sqlx::query_scalar("SELECT coalesce(sum(bytes), 0) FROM played_game WHERE bytes > 0")
            .fetch_one(&self.0.readers)
            .await
            .map_err(self.failed())?;
        Ok(sum.max(0) as u64)
    }

    /// Ids of all played games that have files.
    pub async fn played_games_with_files(&self) -> Result<Vec<PlayedGameId>> {
        let ids: Vec<String> = sqlx::query_scalar("SELECT id FROM played_game WHERE bytes > 0")
            .fetch_all(&self.0.readers)
            .await
            .map_err(self.failed())?;
        ids.iter().map(|id| PlayedGameId::read(id)).collect::<Result<_, _>>().map_err(self.failed())
    }

    /// Removes played games beyond the quota: the oldest practice games first, then the files of the oldest challenges, then those of the
    /// oldest games of persons. Results of challenges and of persons stay until there are too many. Returns the games whose files can
    /// be deleted. Call it again until it returns none.
    pub async fn prune_played_games(&self, quota: PlayedGameQuota) -> Result<Vec<PlayedGameId>> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let mut gone = Vec::new();
        for (is_practice, limit) in [(true, quota.practice_games), (false, quota.other_games)] {
            gone.extend(self.remove_oldest_in(&mut change, is_practice, limit).await?);
        }
        for kind in [PlayedKind::Practice, PlayedKind::Challenge, PlayedKind::Person] {
            gone.extend(self.drop_files_in(&mut change, kind, quota.bytes).await?);
        }
        change.commit().await.map_err(self.failed())?;
        gone.iter().map(|id| PlayedGameId::read(id)).collect::<Result<_, _>>().map_err(self.failed())
    }

    /// Deletes the oldest rows beyond the limit. Returns their ids.
    async fn remove_oldest_in(
        &self,
        change: &mut SqliteConnection,
        is_practice: bool,
        limit: u64,
    ) -> Result<Vec<String>> {
        sqlx::query_scalar(
            "DELETE FROM played_game WHERE seq IN (
                SELECT seq FROM played_game WHERE (kind = 'practice') = ?1 ORDER BY seq LIMIT
                    min(?3, max(0, (SELECT count(*) FROM played_game WHERE (kind = 'practice') = ?1) - ?2))
             ) RETURNING id",
        )
        .bind(is_practice)
        .bind(i64::try_from(limit).unwrap_or(i64::MAX))
        .bind(MAX_PRUNED_AT_ONCE)
        .fetch_all(change)
        .await
        .map_err(self.failed())
    }

    /// Marks the files of the oldest games of a kind as removed, until all files fit. Returns their ids.
    async fn drop_files_in(
        &self,
        change: &mut SqliteConnection,
        kind: PlayedKind,
        limit: u64,
    ) -> Result<Vec<String>> {
        sqlx::query_scalar(
            "UPDATE played_game SET bytes = 0 WHERE seq IN (
                SELECT seq FROM (
                    SELECT seq, bytes, sum(bytes) OVER (ORDER BY seq) AS freed FROM played_game
                    WHERE kind = ?1 AND bytes > 0 ORDER BY seq LIMIT ?3
                ) WHERE freed - bytes < (SELECT coalesce(sum(bytes), 0) FROM played_game WHERE bytes > 0) - ?2
             ) RETURNING id",
        )
        .bind(kind.name())
        .bind(i64::try_from(limit).unwrap_or(i64::MAX))
        .bind(MAX_PRUNED_AT_ONCE)
        .fetch_all(change)
        .await
        .map_err(self.failed())
    }

    async fn played_seats_in(
        &self,
        connection: &mut SqliteConnection,
        row: &SqliteRow,
    ) -> Result<Vec<PlayedSeat>> {
        let seq: i64 = row.try_get("seq").map_err(self.failed())?;
        let rows = sqlx::query("SELECT * FROM played_seat WHERE played = ? ORDER BY seat")
            .bind(seq)
            .fetch_all(connection)
            .await
            .map_err(self.failed())?;
        rows.iter().map(PlayedSeat::read).collect::<Result<_, _>>().map_err(self.failed())
    }
}
