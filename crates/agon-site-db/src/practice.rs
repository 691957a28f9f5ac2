//! Practice: which bots others may play against, and the players, results and ratings of practice ladders.

use agon_store::Timestamp;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::{
    AccountId, Entrant, EntrantId, FromSiteRow, Result, SiteDb, SiteDbError, Submission, SubmissionId,
};

/// Number of results in [`PracticePlayer::form`].
pub const MAX_FORM_RESULTS: usize = 20;

/// A version of a bot, or a house bot, that joins a ladder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewPracticePlayer {
    /// The version; `None` for a house bot.
    pub submission: Option<SubmissionId>,
    /// Name of the house bot.
    pub house: Option<String>,
    /// Role; empty in games with one role.
    pub role: String,
}

/// A player of a ladder.
#[derive(Clone, PartialEq, Debug)]
pub struct PracticePlayer {
    /// Id, for pairs.
    pub id: i64,
    /// The bot; `None` for a house bot.
    pub entrant: Option<EntrantId>,
    /// The version.
    pub submission: Option<SubmissionId>,
    /// Number of the version.
    pub version: Option<u32>,
    /// Author of the bot.
    pub account: Option<AccountId>,
    /// Name of the bot or of the house bot.
    pub name: String,
    /// Name of the house bot, if it is one.
    pub house: Option<String>,
    /// Role; empty in games with one role.
    pub role: String,
    /// Whether a newer version of the bot was accepted, or the bot has withdrawn.
    pub is_replaced: bool,
    /// Number of games.
    pub games: u32,
    /// Number of faults.
    pub faults: u32,
    /// Opponents beaten; a shared place counts half.
    pub beaten: f64,
    /// Sum of the squares of that number, game by game.
    pub beaten_squares: f64,
    /// The latest results, `W`, `D` or `L`, the newest last.
    pub form: String,
    /// Rating; `None` before the first game.
    pub rating: Option<f64>,
    /// Half the width of its 95 % interval.
    pub error: Option<f64>,
    /// Why it takes no part.
    pub failed: Option<String>,
}

/// Results between two players.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PracticePair {
    /// The player with the lower id.
    pub a: i64,
    /// The player with the higher id.
    pub b: i64,
    /// Number of games.
    pub games: u32,
    /// Wins of `a`; a draw counts half.
    pub won: f64,
}

/// What a game changes for a player.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PracticeScore {
    /// The player.
    pub player: i64,
    /// Opponents beaten; a shared place counts half.
    pub beaten: f64,
    /// Number of faults.
    pub faults: u32,
    /// `W`, `D` or `L`.
    pub letter: char,
}

/// A rating to store.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PracticeRating {
    /// The player.
    pub player: i64,
    /// Rating on the Elo scale.
    pub rating: f64,
    /// Half the width of its 95 % interval.
    pub error: f64,
}

/// A bot that everybody may play against.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PracticeBot {
    /// The bot.
    pub entrant: Entrant,
    /// Its latest accepted version.
    pub submission: SubmissionId,
    /// Name of its author.
    pub contributor: Option<String>,
    /// Name of its competition.
    pub competition_name: String,
    /// Id of the game.
    pub game: String,
}

impl FromSiteRow for PracticePlayer {
    fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            id: row.try_get("id")?,
            entrant: row.try_get::<Option<i64>, _>("entrant")?.map(EntrantId),
            submission: row.try_get::<Option<&str>, _>("submission_id")?.and_then(SubmissionId::parse),
            version: row.try_get("version")?,
            account: row.try_get::<Option<i64>, _>("account")?.map(AccountId),
            name: row.try_get("name")?,
            house: row.try_get("house")?,
            role: row.try_get("role")?,
            is_replaced: row.try_get("is_replaced")?,
            games: row.try_get("games")?,
            faults: row.try_get("faults")?,
            beaten: row.try_get("beaten")?,
            beaten_squares: row.try_get("beaten_squares")?,
            form: row.try_get("form")?,
            rating: row.try_get("rating")?,
            error: row.try_get("error")?,
            failed: row.try_get("failed")?,
        })
    }
}

impl FromSiteRow for PracticeBot {
    fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        let submission: &str = row.try_get("submission_id")?;
        Ok(Self {
            entrant: Entrant::read(row)?,
            submission: SubmissionId::parse(submission)
                .ok_or_else(|| sqlx::Error::Decode("a submission's id".into()))?,
            contributor: row.try_get("contributor")?,
            competition_name: row.try_get("competition_name")?,
            game: row.try_get("game")?,
        })
    }
}

impl SiteDb {
    /// Sets whether everybody may play against a bot and challenge it.
    pub async fn set_practice_allowed(&self, entrant: EntrantId, allowed: bool) -> Result<()> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        self.entrant_in(&mut change, entrant).await?;
        sqlx::query("UPDATE entrant SET practice = ? WHERE id = ?")
            .bind(allowed)
            .bind(entrant.0)
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
        change.commit().await.map_err(self.failed())
    }

    /// Bots that everybody may play against, and those of the account `own` and its teams, of all games or of one, by name, with their latest accepted
    /// version. Bots of others are of public competitions.
    pub async fn practice_bots(
        &self,
        game: Option<&str>,
        own: Option<AccountId>,
        limit: u32,
    ) -> Result<Vec<PracticeBot>> {
        let rows = sqlx::query(
            "SELECT e.*, s.id AS submission_id, account.name AS contributor, c.name AS competition_name, c.game AS game
             FROM entrant_shown e JOIN competition c ON c.seq = e.competition LEFT JOIN account ON account.id = e.account
             JOIN submission s ON s.entrant = e.id AND s.version =
                (SELECT max(version) FROM submission AS latest WHERE latest.entrant = e.id AND latest.state = 'accepted')
             WHERE e.withdrawn IS NULL AND (?1 IS NULL OR c.game = ?1)
                AND ((e.practice AND c.public AND c.state <> 'draft') OR (e.team IS NULL AND e.account = ?2)
                    OR e.team IN (SELECT team FROM team_member WHERE account = ?2))
             ORDER BY e.name_key, e.id LIMIT ?3",
        )
        .bind(game)
        .bind(own.map(|account| account.0))
        .bind(limit)
        .fetch_all(&self.0.readers)
        .await
        .map_err(self.failed())?;
        rows.iter().map(PracticeBot::read).collect::<Result<_, _>>().map_err(self.failed())
    }

    /// The latest accepted version of a bot, if it has one and has not withdrawn.
    pub async fn latest_version(&self, entrant: EntrantId) -> Result<Option<Submission>> {
        let row = sqlx::query(
            "SELECT s.* FROM submission_shown s JOIN entrant e ON e.id = s.entrant
             WHERE s.entrant = ?1 AND e.withdrawn IS NULL AND s.state = 'accepted' ORDER BY s.version DESC LIMIT 1",
        )
        .bind(entrant.0)
        .fetch_optional(&self.0.readers)
        .await
        .map_err(self.failed())?;
        row.as_ref().map(Submission::read).transpose().map_err(self.failed())
    }

    /// Whether an organiser has left the practice ladder of a competition on, as it is by default.
    pub async fn has_practice_ladder(&self, competition: &str) -> Result<bool> {
        let is_off: bool = sqlx::query_scalar(
            "SELECT EXISTS (SELECT 1 FROM practice_off JOIN competition c ON c.seq = practice_off.competition WHERE c.id = ?)",
        )
        .bind(competition)
        .fetch_one(&self.0.readers)
        .await
        .map_err(self.failed())?;
        Ok(!is_off)
    }

    /// Switches the practice ladder of a competition on or off. Ratings stay.
    pub async fn set_practice_ladder(&self, competition: &str, on: bool) -> Result<()> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let (seq, _) = self.competition_in(&mut change, competition).await?;
        let query = if on {
            sqlx::query("DELETE FROM practice_off WHERE competition = ?")
        } else {
            sqlx::query("INSERT INTO practice_off (competition) VALUES (?) ON CONFLICT DO NOTHING")
        };
        query.bind(seq).execute(&mut *change).await.map_err(self.failed())?;
        change.commit().await.map_err(self.failed())
    }

    /// Players of the ladder of a competition, in the order in which they joined. Versions that were replaced are included.
    pub async fn practice_players(&self, competition: &str) -> Result<Vec<PracticePlayer>> {
        let mut reader = self.0.readers.acquire().await.map_err(self.failed())?;
        self.practice_players_in(&mut reader, competition).await
    }

    /// Adds players to the ladder of a competition, and returns all. Players that are there already stay as they are.
    pub async fn add_practice_players(
        &self,
        competition: &str,
        new: &[NewPracticePlayer],
    ) -> Result<Vec<PracticePlayer>> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let (seq, _) = self.competition_in(&mut change, competition).await?;
        for player in new {
            sqlx::query(
                "INSERT INTO practice_player (competition, entrant, submission, house, role)
                 VALUES (?1, (SELECT entrant FROM submission WHERE id = ?2), (SELECT seq FROM submission WHERE id = ?2), ?3, ?4)
                 ON CONFLICT DO NOTHING",
            )
            .bind(seq)
            .bind(player.submission.as_ref().map(SubmissionId::as_str))
            .bind(&player.house)
            .bind(&player.role)
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
        }
        let players = self.practice_players_in(&mut change, competition).await?;
        change.commit().await.map_err(self.failed())?;
        Ok(players)
    }

    /// Results between the players of a ladder.
    pub async fn practice_pairs(&self, competition: &str) -> Result<Vec<PracticePair>> {
        let rows = sqlx::query(
            "SELECT pair.* FROM practice_pair pair JOIN practice_player p ON p.id = pair.a
             JOIN competition c ON c.seq = p.competition WHERE c.id = ? ORDER BY pair.a, pair.b",
        )
        .bind(competition)
        .fetch_all(&self.0.readers)
        .await
        .map_err(self.failed())?;
        let read = |row: &SqliteRow| {
            Ok(PracticePair {
                a: row.try_get("a")?,
                b: row.try_get("b")?,
                games: row.try_get("games")?,
                won: row.try_get("won")?,
            })
        };
        rows.iter().map(read).collect::<Result<_, _>>().map_err(self.failed())
    }

    /// Adds the results of games: what they change for each player, and the results between pairs. Both are sums, so that one call can
    /// hold several games; `scores` has an entry for each player and game.
    pub async fn add_practice_results(&self, scores: &[PracticeScore], pairs: &[PracticePair]) -> Result<()> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        for score in scores {
            sqlx::query(
                "UPDATE practice_player SET games = games + 1, faults = faults + ?2, beaten = beaten + ?3,
                    beaten_squares = beaten_squares + ?3 * ?3, form = substr(form || ?4, -?5) WHERE id = ?1",
            )
            .bind(score.player)
            .bind(score.faults)
            .bind(score.beaten)
            .bind(score.letter.to_string())
            .bind(MAX_FORM_RESULTS as i64)
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
        }
        for pair in pairs {
            if pair.a >= pair.b {
                return Err(SiteDbError::invalid("pair", "the first player must have the lower id"));
            }
            sqlx::query(
                "INSERT INTO practice_pair (a, b, games, won) VALUES (?, ?, ?, ?)
                 ON CONFLICT (a, b) DO UPDATE SET games = games + excluded.games, won = won + excluded.won",
            )
            .bind(pair.a)
            .bind(pair.b)
            .bind(pair.games)
            .bind(pair.won)
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
        }
        change.commit().await.map_err(self.failed())
    }

    /// Stores ratings.
    pub async fn set_practice_ratings(&self, ratings: &[PracticeRating]) -> Result<()> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        for one in ratings {
            sqlx::query("UPDATE practice_player SET rating = ?, error = ? WHERE id = ?")
                .bind(one.rating)
                .bind(one.error)
                .bind(one.player)
                .execute(&mut *change)
                .await
                .map_err(self.failed())?;
        }
        change.commit().await.map_err(self.failed())
    }

    /// Takes a player out of the ladder, with the reason; `None` lets it play again.
    pub async fn set_practice_failed(&self, player: i64, reason: Option<&str>) -> Result<()> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        sqlx::query("UPDATE practice_player SET failed = ? WHERE id = ?")
            .bind(reason)
            .bind(player)
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
        change.commit().await.map_err(self.failed())
    }

    /// The versions of a bot on the ladder of its competition, the latest last.
    pub async fn practice_versions(&self, entrant: EntrantId) -> Result<Vec<PracticePlayer>> {
        let competition = self.entrant(entrant).await?.competition;
        let mut players = self.practice_players(&competition).await?;
        players.retain(|player| player.entrant == Some(entrant));
        players.sort_by_key(|player| player.version);
        Ok(players)
    }

    /// When a competition last accepted a version of a bot, if it has: the ladder looks for new players when it changes.
    pub async fn last_accepted(&self, competition: &str) -> Result<Option<Timestamp>> {
        let last: Option<i64> = sqlx::query_scalar(
            "SELECT max(finished) FROM submission WHERE state = 'accepted'
                AND competition = (SELECT seq FROM competition WHERE id = ?)",
        )
        .bind(competition)
        .fetch_one(&self.0.readers)
        .await
        .map_err(self.failed())?;
        Ok(last.map(Timestamp))
    }

    async fn practice_players_in(
        &self,
        connection: &mut SqliteConnection,
        competition: &str,
    ) -> Result<Vec<PracticePlayer>> {
        let rows = sqlx::query(
            "SELECT p.id, p.entrant, s.id AS submission_id, s.version, e.account, coalesce(e.name, p.house) AS name, p.house, p.role,
                (e.id IS NOT NULL AND (e.withdrawn IS NOT NULL OR s.version < (
                    SELECT max(version) FROM submission AS latest WHERE latest.entrant = e.id AND latest.state = 'accepted'
                ))) AS is_replaced,
                p.games, p.faults, p.beaten, p.beaten_squares, p.form, p.rating, p.error, p.failed
             FROM practice_player p JOIN competition c ON c.seq = p.competition
             LEFT JOIN submission s ON s.seq = p.submission LEFT JOIN entrant e ON e.id = p.entrant
             WHERE c.id = ? ORDER BY p.id",
        )
        .bind(competition)
        .fetch_all(connection)
        .await
        .map_err(self.failed())?;
        rows.iter().map(PracticePlayer::read).collect::<Result<_, _>>().map_err(self.failed())
    }
}
