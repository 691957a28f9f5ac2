//! Search over the names of people, bots, teams and competitions, with a full-text index of SQLite.

use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use super::model::named_enum;
use super::{FromSiteRow, Result, SiteDb, names};

/// Maximum number of words of a query. More are ignored.
const MAX_WORDS: usize = 8;
/// Maximum length of a query.
pub const MAX_QUERY_CHARS: usize = 100;

named_enum! {
    /// What a search finds.
    SearchKind {
        /// An account.
        Person = "person",
        /// A bot.
        Bot = "bot",
        /// A team.
        Team = "team",
        /// A competition.
        Competition = "competition",
    }
}

/// Something that was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SearchHit {
    /// What it is.
    pub kind: SearchKind,
    /// Its id; of a competition the text in its address is in `competition`.
    pub id: i64,
    /// Its name.
    pub name: String,
    /// Id of the competition, of a bot or a competition.
    pub competition: Option<String>,
    /// Name of the competition, of a bot.
    pub competition_name: Option<String>,
    /// Id of the game, of a bot or a competition.
    pub game: Option<String>,
}

struct Found(SearchHit);

impl FromSiteRow for Found {
    fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        let kind: &str = row.try_get("kind")?;
        Ok(Self(SearchHit {
            kind: SearchKind::by_name(kind).ok_or_else(|| sqlx::Error::Decode("kind of a name".into()))?,
            id: row.try_get("id")?,
            name: row.try_get("name")?,
            competition: row.try_get("competition_id")?,
            competition_name: row.try_get("competition_name")?,
            game: row.try_get("game")?,
        }))
    }
}

/// Bots that were never accepted are found by nobody, like drafts by visitors.
const BOT: &str = "SELECT 'bot' AS kind, entrant.id, entrant.name, competition.id AS competition_id,
        competition.name AS competition_name, competition.game
    FROM search_bot JOIN entrant ON entrant.id = search_bot.rowid
        JOIN competition ON competition.seq = entrant.competition
    WHERE search_bot MATCH ?1 AND (?2 OR (public = 1 AND competition.state != 'draft'))
        AND (number IS NOT NULL OR (withdrawn IS NULL AND (bot IS NOT NULL
            OR EXISTS (SELECT 1 FROM submission WHERE submission.entrant = entrant.id AND submission.state = 'accepted'))))
    ORDER BY search_bot.rowid DESC LIMIT ?3";
const PERSON: &str = "SELECT 'person' AS kind, account.id, account.name, NULL AS competition_id, NULL AS competition_name, NULL AS game
    FROM search_person JOIN account ON account.id = search_person.rowid
    WHERE search_person MATCH ?1 AND (?2 OR disabled IS NULL)
    ORDER BY search_person.rowid DESC LIMIT ?3";
const TEAM: &str = "SELECT 'team' AS kind, team.id, team.name, NULL AS competition_id, NULL AS competition_name, NULL AS game
    FROM search_team JOIN team ON team.id = search_team.rowid
    WHERE search_team MATCH ?1 AND (?2 OR dissolved IS NULL)
    ORDER BY search_team.rowid DESC LIMIT ?3";
const COMPETITION: &str = "SELECT 'competition' AS kind, competition.seq AS id, competition.name, competition.id AS competition_id,
        NULL AS competition_name, competition.game
    FROM search_competition JOIN competition ON competition.seq = search_competition.rowid
    WHERE search_competition MATCH ?1 AND (?2 OR (public = 1 AND competition.state != 'draft'))
    ORDER BY search_competition.rowid DESC LIMIT ?3";

impl SiteDb {
    /// Names with words that begin with the words of the query, newest first, at most `limit`. `all` includes what only organisers see.
    pub async fn search(
        &self,
        query: &str,
        kind: SearchKind,
        all: bool,
        limit: u32,
    ) -> Result<Vec<SearchHit>> {
        let Some(expression) = expression(query) else { return Ok(Vec::new()) };
        let statement = match kind {
            SearchKind::Person => PERSON,
            SearchKind::Bot => BOT,
            SearchKind::Team => TEAM,
            SearchKind::Competition => COMPETITION,
        };
        let rows = sqlx::query(statement)
            .bind(expression)
            .bind(all)
            .bind(limit)
            .fetch_all(&self.0.readers)
            .await
            .map_err(self.failed())?;
        let found = rows.iter().map(Found::read).collect::<Result<Vec<_>, _>>().map_err(self.failed())?;
        Ok(found.into_iter().map(|found| found.0).collect())
    }
}

/// The full-text expression of a query: all words, each as the beginning of a word. Without words there is none. Only letters and digits
/// get into it, so nothing in a query is an operator.
fn expression(query: &str) -> Option<String> {
    let folded = names::key(names::truncated(query.trim(), MAX_QUERY_CHARS));
    let words = folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).take(MAX_WORDS);
    let quoted: Vec<String> = words.map(|word| format!("\"{word}\"*")).collect();
    (!quoted.is_empty()).then(|| quoted.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expression_has_only_quoted_words() {
        assert_eq!(expression("Ada  Love").as_deref(), Some("\"ada\"* \"love\"*"));
        assert_eq!(expression("a\"b OR name:x*").as_deref(), Some("\"a\"* \"b\"* \"or\"* \"name\"* \"x\"*"));
        for empty in ["", "  ", "\"*(", "--"] {
            assert_eq!(expression(empty), None);
        }
    }
}
