//! Title, description and picture of a page, for the previews that other sites show of a link.
//!
//! They contain what a visitor who is not signed in may see. Pages of drafts, of competitions that are not public and of a private site
//! have none.

use agon_core::text_format::plural;
use agon_league::MatchKey;

use super::cards;
use crate::caller::Caller;
use crate::error::{ApiError, ApiResult};
use crate::read_model::overview::{Overview, match_key};
use crate::read_model::{VisibleCompetition, is_public};
use crate::routes::played;
use crate::state::AppState;

/// Maximum number of players whose names are in a title.
const MAX_NAMES: usize = 4;
/// Maximum number of characters of an id in a path.
const MAX_ID_CHARS: usize = 64;

/// A page with a preview of its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SharedPage {
    /// A competition.
    Competition {
        /// Id of the competition.
        id: String,
    },
    /// A bot.
    Bot {
        /// Id of the competition.
        id: String,
        /// Id of the bot.
        bot: i64,
    },
    /// A game of a competition.
    Game {
        /// Id of the competition.
        id: String,
        /// Number of the phase, from 1.
        phase: u32,
        /// Name of the match.
        name: String,
        /// Number of the game, from 1.
        game: u32,
    },
    /// A game outside of competitions.
    Played {
        /// Id of the game.
        id: String,
    },
}

/// What other sites show of a page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PageTags {
    /// Title.
    pub title: String,
    /// Description in a sentence or two.
    pub description: String,
    /// Address of the page, from the root of the site.
    pub page: String,
    /// Address of the card, from the root of the site.
    pub card: String,
    /// Address of the replay that other sites can embed, from the root of the site.
    pub embed: Option<String>,
}

/// Whether a segment of a path is a plausible id. Other characters never occur, so they need no escaping.
fn is_id(text: &str) -> bool {
    let known = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    !text.is_empty() && text.len() <= MAX_ID_CHARS && text.bytes().all(known)
}

impl SharedPage {
    /// The page of a path; `None` for pages without a preview of their own.
    pub fn of_path(path: &str) -> Option<Self> {
        let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
        if !segments.iter().all(|segment| is_id(segment)) {
            return None;
        }
        let game = |id: &str, phase: &str, name: &str, game: &str| {
            let (id, name) = (id.to_owned(), name.to_owned());
            Some(Self::Game { id, phase: phase.parse().ok()?, name, game: game.parse().ok()? })
        };
        match segments[..] {
            ["c", id, "p", phase, "m", name, "g", number] => game(id, phase, name, number),
            ["embed", "played", id] | ["played", id] => Some(Self::Played { id: id.to_owned() }),
            ["embed", id, phase, name, number] => game(id, phase, name, number),
            ["c", id, "bots", bot] => Some(Self::Bot { id: id.to_owned(), bot: bot.parse().ok()? }),
            ["c", id, ..] => Some(Self::Competition { id: id.to_owned() }),
            _ => None,
        }
    }

    /// Address of the page.
    pub fn page_path(&self) -> String {
        match self {
            Self::Competition { id } => format!("/c/{id}"),
            Self::Bot { id, bot } => format!("/c/{id}/bots/{bot}"),
            Self::Game { id, phase, name, game } => format!("/c/{id}/p/{phase}/m/{name}/g/{game}"),
            Self::Played { id } => format!("/played/{id}"),
        }
    }

    /// Address of the page that other sites can embed: the replay of a game.
    pub fn embed_path(&self) -> Option<String> {
        match self {
            Self::Competition { .. } | Self::Bot { .. } => None,
            Self::Game { id, phase, name, game } => Some(format!("/embed/{id}/{phase}/{name}/{game}")),
            Self::Played { id } => Some(format!("/embed/played/{id}")),
        }
    }

    /// Address of the card.
    fn card_path(&self) -> String {
        match self {
            Self::Competition { id } => format!("/api/v1/competitions/{id}/card.png"),
            Self::Bot { id, bot } => format!("/api/v1/competitions/{id}/bots/{bot}/card.png"),
            Self::Game { id, phase, name, game } => {
                format!("/api/v1/competitions/{id}/phases/{phase}/matches/{name}/games/{game}/card.png")
            }
            Self::Played { id } => format!("/api/v1/played/{id}/card.png"),
        }
    }

    /// The tags of the page at a turn, as a visitor sees them who is not signed in; `None` if there is nothing to be shown.
    pub async fn tags(&self, app: &AppState, turn: Option<usize>) -> ApiResult<Option<PageTags>> {
        if app.config.private {
            return Ok(None);
        }
        let words = match self {
            Self::Competition { id } => competition_words(app, &visible(app, id).await?).await?,
            Self::Bot { id, bot } => bot_words(app, &visible(app, id).await?, *bot).await?,
            Self::Game { id, phase, name, game } => {
                let visible = visible(app, id).await?;
                match game_words(app, &visible, *phase, name, *game).await? {
                    Some(words) => words,
                    // Games of hidden phases have the preview of their competition.
                    None => {
                        let page = Self::Competition { id: id.clone() };
                        return Ok(Some(page.with_words(competition_words(app, &visible).await?, None)));
                    }
                }
            }
            Self::Played { id } => played_words(app, id).await?,
        };
        Ok(Some(self.with_words(words, turn)))
    }

    fn with_words(&self, (title, description): (String, String), turn: Option<usize>) -> PageTags {
        let is_game = self.embed_path().is_some();
        let at = |path: String, name: &str| match turn.filter(|_| is_game) {
            Some(turn) => format!("{path}?{name}={turn}"),
            None => path,
        };
        PageTags {
            title,
            description,
            page: at(self.page_path(), "t"),
            card: at(self.card_path(), "turn"),
            embed: self.embed_path().map(|path| at(path, "t")),
        }
    }
}

/// The competition, if everyone may see it.
async fn visible(app: &AppState, id: &str) -> ApiResult<VisibleCompetition> {
    let handle = app.competitions.get(id)?;
    let row = handle.site_row(&app.site_db).await?;
    if is_public(&row) {
        Ok(VisibleCompetition::of(&handle, &row, false))
    } else {
        Err(ApiError::not_found("competition"))
    }
}

async fn competition_words(app: &AppState, visible: &VisibleCompetition) -> ApiResult<(String, String)> {
    let card = cards::competition_card(app, visible).await?;
    let leaders: Vec<String> =
        card.rows.iter().take(3).map(|row| format!("{}. {}", row.rank, row.name)).collect();
    let more =
        if leaders.is_empty() { card.lines.first().cloned().unwrap_or_default() } else { leaders.join(", ") };
    Ok((card.title, format!("{}. {more}.", card.subtitle)))
}

async fn bot_words(app: &AppState, visible: &VisibleCompetition, bot: i64) -> ApiResult<(String, String)> {
    let card = cards::bot_card(app, visible, bot).await?;
    let facts: Vec<String> = card.facts.iter().map(|(label, value)| format!("{label}: {value}")).collect();
    let title = format!("{} · {}", card.name, visible.site_row.name);
    Ok((title, format!("{}. {}", card.subtitle, facts.join(", ")).trim_end().to_owned()))
}

/// Words of a game; `None` while its seeds are hidden.
async fn game_words(
    app: &AppState,
    visible: &VisibleCompetition,
    phase: u32,
    name: &str,
    game: u32,
) -> ApiResult<Option<(String, String)>> {
    let (_, ledger, number) = visible.handle.phase(phase)?;
    let overview = visible.overview(app).await?;
    if overview.is_hidden(number) {
        return Ok(None);
    }
    let key: MatchKey = match_key(number, name)?;
    let stored =
        ledger.find(key).await.map_err(ApiError::internal)?.ok_or_else(|| ApiError::not_found("match"))?;
    let index = game.checked_sub(1).ok_or_else(|| ApiError::not_found("game"))? as usize;
    let result = stored.result.games.get(index).ok_or_else(|| ApiError::not_found("game"))?;
    let names: Vec<String> = result.seats.iter().map(|seat| name_of(&overview, seat.entrant.0)).collect();
    let winners: Vec<&str> = result
        .seats
        .iter()
        .zip(&names)
        .filter(|(seat, _)| seat.place == 1)
        .map(|(_, name)| name.as_str())
        .collect();
    let phase_name = overview.phases.get(number as usize).map_or("", |phase| phase.name.as_str());
    let title = format!("{} · {}", players(&names), visible.site_row.name);
    let info = cards::game_info(visible)?;
    let place = format!("{}, {phase_name}, match {name}, game {game}", info.title);
    let result = winner_sentence(&winners, names.len());
    Ok(Some((title, format!("{place}. {result}").trim_end().to_owned())))
}

async fn played_words(app: &AppState, id: &str) -> ApiResult<(String, String)> {
    let game = played::find_game(app, &Caller::anonymous(), id).await?;
    let info = agon_games::game_info(&game.game).map_err(ApiError::internal)?;
    let names: Vec<String> = game.seats.iter().map(|seat| seat.name.clone()).collect();
    Ok((format!("{} · {}", players(&names), info.title), info.summary.to_owned()))
}

fn name_of(overview: &Overview, entrant: u32) -> String {
    overview.entrant_owner(entrant).map_or_else(|| format!("bot {entrant}"), |owner| owner.body.name.clone())
}

fn players(names: &[String]) -> String {
    if names.len() <= MAX_NAMES { names.join(" – ") } else { plural(names.len(), "bot", "bots") }
}

fn winner_sentence(winners: &[&str], players: usize) -> String {
    match winners {
        [winner] => format!("{winner} won."),
        winners if winners.len() == players && players > 1 => "A draw.".to_owned(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game() -> SharedPage {
        SharedPage::Game { id: "cup".to_owned(), phase: 1, name: "2-15".to_owned(), game: 3 }
    }

    #[test]
    fn paths_of_pages_are_recognised() {
        assert_eq!(SharedPage::of_path("/c/cup/p/1/m/2-15/g/3"), Some(game()));
        assert_eq!(SharedPage::of_path("/embed/cup/1/2-15/3"), Some(game()));
        let competition = SharedPage::Competition { id: "cup".to_owned() };
        for path in ["/c/cup", "/c/cup/", "/c/cup/standings/bracket", "/c/cup/screen"] {
            assert_eq!(SharedPage::of_path(path), Some(competition.clone()), "{path}");
        }
        assert_eq!(
            SharedPage::of_path("/c/cup/bots/7"),
            Some(SharedPage::Bot { id: "cup".to_owned(), bot: 7 })
        );
        let played = SharedPage::Played { id: "ab12".to_owned() };
        assert_eq!(SharedPage::of_path("/played/ab12"), Some(played.clone()));
        assert_eq!(SharedPage::of_path("/embed/played/ab12"), Some(played));
        for path in ["/", "/me", "/c", "/c/cup/bots/x", "/c/%3Cscript%3E", "/embed/cup/1/2-15/-1", "/c/a\"b"]
        {
            assert_eq!(SharedPage::of_path(path), None, "{path}");
        }
    }

    #[test]
    fn tags_of_a_turn_link_to_the_turn() {
        let tags = game().with_words(("title".to_owned(), "text".to_owned()), Some(12));
        assert_eq!(tags.page, "/c/cup/p/1/m/2-15/g/3?t=12");
        assert_eq!(tags.card, "/api/v1/competitions/cup/phases/1/matches/2-15/games/3/card.png?turn=12");
        assert_eq!(tags.embed.as_deref(), Some("/embed/cup/1/2-15/3?t=12"));
        let page = SharedPage::Competition { id: "cup".to_owned() };
        assert_eq!(page.with_words((String::new(), String::new()), Some(12)).page, "/c/cup");
    }
}
