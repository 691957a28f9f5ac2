//! Challenges: bots that play a number of games for an account. The queue survives a crash of the server: a challenge that was being played
//! continues after its last stored game.

use agon_store::Timestamp;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::model::named_enum;
use super::played_games::random_id;
use super::{
    AccountId, FromSiteRow, PageRequest, Result, ResultPage, SiteDb, SiteDbError, account_in, cursor,
    enum_column, error, optional_time, result_page, row_limit, time,
};

/// Number of games that a challenge plays before others have their turn.
pub const CHALLENGE_TURN_GAMES: u32 = 10;
/// Time over which [`OpenChallengeLimits::per_hour`] counts.
const HOUR_MS: i64 = 3_600_000;

random_id! {
    /// Id of a challenge.
    ChallengeId, "id of a challenge"
}

named_enum! {
    /// State of a challenge.
    ChallengeState {
        /// Waits for its turn.
        Queued = "queued",
        /// Its games are being played.
        Playing = "playing",
        /// All games are played.
        Done = "done",
        /// A bot or a game failed; the error says why.
        Failed = "failed",
        /// Its account or an organiser has ended it.
        Cancelled = "cancelled",
    }
}

impl ChallengeState {
    /// Whether games may follow.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Queued | Self::Playing)
    }
}

/// A challenge to add.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewChallenge {
    /// Id from [`ChallengeId::random`].
    pub id: ChallengeId,
    /// Account that wants it.
    pub account: AccountId,
    /// Id of the game.
    pub game: String,
    /// Id of the competition whose settings it uses.
    pub competition: Option<String>,
    /// The bots, as JSON of the server.
    pub bots: String,
    /// Settings, as JSON.
    pub settings: String,
    /// Number of games.
    pub games: u32,
    /// Time of the request.
    pub at: Timestamp,
}

/// A challenge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Challenge {
    /// Row: later challenges have higher numbers.
    pub seq: i64,
    /// Id.
    pub id: ChallengeId,
    /// Account that wants it.
    pub account: AccountId,
    /// Id of the game.
    pub game: String,
    /// Id of the competition whose settings it uses.
    pub competition: Option<String>,
    /// The bots, as JSON of the server.
    pub bots: String,
    /// Settings, as JSON.
    pub settings: String,
    /// Number of games.
    pub games: u32,
    /// Current state.
    pub state: ChallengeState,
    /// Why it failed.
    pub error: Option<String>,
    /// Time of the request.
    pub created: Timestamp,
    /// Time at which its first game started.
    pub started: Option<Timestamp>,
    /// Time at which it ended.
    pub finished: Option<Timestamp>,
}

impl FromSiteRow for Challenge {
    fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            seq: row.try_get("seq")?,
            id: ChallengeId::read(row.try_get("id")?)?,
            account: AccountId(row.try_get("account")?),
            game: row.try_get("game")?,
            competition: row.try_get("competition")?,
            bots: row.try_get("bots")?,
            settings: row.try_get("settings")?,
            games: row.try_get("games")?,
            state: enum_column(row, "state", ChallengeState::by_name)?,
            error: row.try_get("error")?,
            created: time(row, "created")?,
            started: optional_time(row, "started")?,
            finished: optional_time(row, "finished")?,
        })
    }
}

/// Maximum numbers of challenges.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpenChallengeLimits {
    /// Queued or being played, of one account.
    pub per_account: u32,
    /// Requested in the last hour, of one account.
    pub per_hour: u32,
    /// Queued or being played, of all accounts.
    pub total: u32,
}

impl SiteDb {
    /// Queues a challenge. Fails with `TooMany` if the account has reached its limit, with `Conflict` if the queue is full.
    pub async fn add_challenge(&self, new: &NewChallenge, limits: OpenChallengeLimits) -> Result<Challenge> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        account_in(&mut change, new.account, self.path()).await?;
        let row = sqlx::query(
            "SELECT count(*) AS total, coalesce(sum(account = ?1), 0) AS own,
                (SELECT count(*) FROM challenge WHERE account = ?1 AND created > ?2) AS lately
             FROM challenge WHERE state IN ('queued', 'playing')",
        )
        .bind(new.account.0)
        .bind(new.at.0 - HOUR_MS)
        .fetch_one(&mut *change)
        .await
        .map_err(self.failed())?;
        let count = |column: &str| row.try_get::<i64, _>(column).map_err(self.failed());
        if count("own")? >= i64::from(limits.per_account) {
            return Err(SiteDbError::TooMany { limit: limits.per_account });
        }
        if count("lately")? >= i64::from(limits.per_hour) {
            return Err(SiteDbError::conflict("too many challenges in the last hour"));
        }
        if count("total")? >= i64::from(limits.total) {
            return Err(SiteDbError::conflict("too many challenges are waiting"));
        }
        sqlx::query(
            "INSERT INTO challenge (id, account, game, competition, bots, settings, games, state, created)
             VALUES (?, ?, ?, ?, ?, ?, ?, 'queued', ?)",
        )
        .bind(new.id.as_str())
        .bind(new.account.0)
        .bind(&new.game)
        .bind(&new.competition)
        .bind(&new.bots)
        .bind(&new.settings)
        .bind(new.games)
        .bind(new.at.0)
        .execute(&mut *change)
        .await
        .map_err(error::unless_taken(self.path(), "id of a challenge"))?;
        let challenge = self.challenge_in(&mut change, &new.id).await?;
        change.commit().await.map_err(self.failed())?;
        Ok(challenge)
    }

    /// The challenge with this id.
    pub async fn challenge(&self, id: &ChallengeId) -> Result<Challenge> {
        let mut reader = self.0.readers.acquire().await.map_err(self.failed())?;
        self.challenge_in(&mut reader, id).await
    }

    /// Challenges of an account, newest first; of all accounts with `None`.
    pub async fn challenges(
        &self,
        account: Option<AccountId>,
        page: PageRequest,
    ) -> Result<ResultPage<Challenge>> {
        let rows = sqlx::query(
            "SELECT * FROM challenge WHERE (?1 IS NULL OR account = ?1) AND seq < ?2 ORDER BY seq DESC LIMIT ?3",
        )
        .bind(account.map(|account| account.0))
        .bind(cursor(page))
        .bind(row_limit(page))
        .fetch_all(&self.0.readers)
        .await
        .map_err(self.failed())?;
        result_page(page, &rows, "seq").map_err(self.failed())
    }

    /// Takes the next queued challenge and marks it as being played. First come the accounts with the fewest challenges being played, then
    /// the challenges with the fewest games so far, in steps of [`CHALLENGE_TURN_GAMES`], then the order of the requests: a long challenge
    /// does not make short ones wait.
    pub async fn claim_next_challenge(&self, at: Timestamp) -> Result<Option<Challenge>> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let id: Option<String> = sqlx::query_scalar(
            "WITH running AS (SELECT account, count(*) AS challenges FROM challenge WHERE state = 'playing' GROUP BY account)
             UPDATE challenge SET state = 'playing', started = coalesce(started, ?1) WHERE seq = (
                SELECT next.seq FROM challenge AS next LEFT JOIN running ON running.account = next.account
                WHERE next.state = 'queued'
                ORDER BY coalesce(running.challenges, 0),
                    (SELECT count(*) FROM played_game WHERE challenge = next.id) / ?2, next.seq
                LIMIT 1
             ) RETURNING id",
        )
        .bind(at.0)
        .bind(i64::from(CHALLENGE_TURN_GAMES))
        .fetch_optional(&mut *change)
        .await
        .map_err(self.failed())?;
        let Some(id) = id.as_deref().and_then(ChallengeId::parse) else { return Ok(None) };
        let challenge = self.challenge_in(&mut change, &id).await?;
        change.commit().await.map_err(self.failed())?;
        Ok(Some(challenge))
    }

    /// Number of challenges that wait.
    pub async fn count_queued_challenges(&self) -> Result<u64> {
        let count: i64 = sqlx::query_scalar("SELECT count(*) FROM challenge WHERE state = 'queued'")
            .fetch_one(&self.0.readers)
            .await
            .map_err(self.failed())?;
        Ok(count.max(0) as u64)
    }

    /// Ends an open challenge with this state. Returns it as it is now; one that has already ended stays as it is.
    pub async fn end_challenge(
        &self,
        id: &ChallengeId,
        state: ChallengeState,
        error: Option<&str>,
        at: Timestamp,
    ) -> Result<Challenge> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        sqlx::query(
            "UPDATE challenge SET state = ?2, error = ?3, finished = ?4 WHERE id = ?1 AND state IN ('queued', 'playing')",
        )
        .bind(id.as_str())
        .bind(state.name())
        .bind(error)
        .bind(at.0)
        .execute(&mut *change)
        .await
        .map_err(self.failed())?;
        let challenge = self.challenge_in(&mut change, id).await?;
        change.commit().await.map_err(self.failed())?;
        Ok(challenge)
    }

    /// Queues a challenge again whose game was ended so that a competition gets its core.
    pub async fn requeue_challenge(&self, id: &ChallengeId) -> Result<()> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        sqlx::query("UPDATE challenge SET state = 'queued' WHERE id = ? AND state = 'playing'")
            .bind(id.as_str())
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
        change.commit().await.map_err(self.failed())
    }

    /// Queues interrupted challenges again. Call it when a server starts. Returns their number.
    pub async fn requeue_challenges(&self) -> Result<u64> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let queued = sqlx::query("UPDATE challenge SET state = 'queued' WHERE state = 'playing'")
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
        change.commit().await.map_err(self.failed())?;
        Ok(queued.rows_affected())
    }

    /// Number of queued challenges that will probably be played before this one.
    pub async fn count_challenges_before(&self, challenge: &Challenge) -> Result<u64> {
        let count: i64 =
            sqlx::query_scalar("SELECT count(*) FROM challenge WHERE state = 'queued' AND seq < ?")
                .bind(challenge.seq)
                .fetch_one(&self.0.readers)
                .await
                .map_err(self.failed())?;
        Ok(count.max(0) as u64)
    }

    async fn challenge_in(&self, connection: &mut SqliteConnection, id: &ChallengeId) -> Result<Challenge> {
        let row = sqlx::query("SELECT * FROM challenge WHERE id = ?")
            .bind(id.as_str())
            .fetch_optional(connection)
            .await
            .map_err(self.failed())?
            .ok_or(SiteDbError::NotFound { what: "challenge" })?;
        Challenge::read(&row).map_err(self.failed())
    }
}
