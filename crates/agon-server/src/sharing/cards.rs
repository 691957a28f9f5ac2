//! Cards of competitions and bots: what their pages say first, for previews of links.

use std::fmt::Write as _;

use agon_core::GameInfo;
use agon_league::standings::{StandingsTable, TableCell, TableRow};
use agon_pictures::card::{BotCard, CardRow, MAX_ROWS, TableCard};
use agon_site_db::CompetitionState;

use crate::error::{ApiError, ApiResult};
use crate::read_model::VisibleCompetition;
use crate::read_model::overview::{EntrantOwner, Overview};
use crate::read_model::standings::{PhaseStandings, Placed};
use crate::state::AppState;

/// What a state means for a visitor.
pub const fn state_text(state: CompetitionState) -> &'static str {
    match state {
        CompetitionState::Draft => "Draft",
        CompetitionState::Open => "Open for submissions",
        CompetitionState::Closed => "Starts soon",
        CompetitionState::Running => "Running",
        CompetitionState::Paused => "Paused",
        CompetitionState::Waiting => "Between two phases",
        CompetitionState::Finished => "Finished",
        CompetitionState::Failed => "Stopped",
    }
}

/// Description of the competition's game.
pub fn game_info(visible: &VisibleCompetition) -> ApiResult<&'static GameInfo> {
    agon_games::game_info(&visible.site_row.game).map_err(ApiError::internal)
}

/// Number of bots that take part, in words.
fn bots_text(overview: &Overview) -> String {
    let bots = overview.entrant_owners.iter().filter(|one| !one.body.withdrawn).count();
    agon_core::text_format::plural(bots, "bot", "bots")
}

/// The card of a competition: the top of the standings, or what is known before the first match.
pub async fn competition_card(app: &AppState, visible: &VisibleCompetition) -> ApiResult<TableCard> {
    let overview = visible.overview(app).await?;
    let state = state_text(visible.site_row.state);
    let mut subtitle = format!("{} · {state}", game_info(visible)?.title);
    let mut rows = Vec::new();
    if let Some(phase) = overview.current_phase().filter(|phase| phase.matches > 0) {
        // Writing to a string does not fail.
        let _ = write!(subtitle, " · {}", phase.name);
        let standings = visible.standings(app, phase.number).await?;
        rows = top_rows(&standings, &overview);
    }
    let lines = vec![bots_text(&overview), state.to_owned()];
    let title = visible.site_row.name.clone();
    Ok(TableCard { title, subtitle, rows, lines, site: app.config.name.clone() })
}

/// The first rows of the official table.
fn top_rows(standings: &PhaseStandings, overview: &Overview) -> Vec<CardRow> {
    let Some(table) = standings.standings.tables.iter().find(|table| table.official) else {
        return Vec::new();
    };
    let value_column = value_column(table);
    let ranks = standings.leaders(MAX_ROWS, |_| None);
    let row = |placed: &Placed| {
        let entrant = placed.entrant;
        let own = table.rows.iter().find(|row| row.entrant.is_some_and(|number| number.0 == entrant))?;
        Some(CardRow {
            rank: placed.rank.to_string(),
            name: overview.entrant_owner(entrant)?.body.name.clone(),
            color: u16::try_from(entrant).unwrap_or_default(),
            value: value_column.map_or_else(String::new, |column| value_text(own, column)),
        })
    };
    ranks.iter().filter_map(row).collect()
}

/// The first column of numbers after the rank: what the table is about.
fn value_column(table: &StandingsTable) -> Option<usize> {
    let mut columns = table.columns.iter().enumerate();
    let is_value = |id: &str| !matches!(id, "rank" | "place" | "games" | "matches" | "played");
    columns.find(|(_, column)| column.right_aligned && is_value(&column.id)).map(|(index, _)| index)
}

fn value_text(row: &TableRow, column: usize) -> String {
    row.cells.get(column).map_or_else(String::new, TableCell::describe)
}

/// The bot with this id; 404 if there is none.
pub fn find_bot(overview: &Overview, bot: i64) -> ApiResult<&EntrantOwner> {
    overview.entrant_owners.iter().find(|one| one.body.bot == bot).ok_or_else(|| ApiError::not_found("bot"))
}

/// The card of a bot: its author, its rank and its rating in the phase that is played.
pub async fn bot_card(app: &AppState, visible: &VisibleCompetition, bot: i64) -> ApiResult<BotCard> {
    let overview = visible.overview(app).await?;
    let owner = find_bot(&overview, bot)?;
    let entrant = &owner.body;
    let mut facts: Vec<(String, String)> = Vec::new();
    let mut fact = |label: &str, value: String| facts.push((label.to_owned(), value));
    let phase = overview.current_phase().filter(|phase| phase.matches > 0);
    if let (Some(phase), Some(number)) = (phase, entrant.entrant) {
        let standings = visible.standings(app, phase.number).await?;
        if let (Some(rank), of) = standings.rank_of(number) {
            fact("Rank", format!("{rank} of {of}"));
        }
        if let Some(stats) = standings.stats.get(&number) {
            fact("Games", stats.games.to_string());
        }
    }
    if let Some(role) = &entrant.role {
        fact("Role", role.clone());
    }
    if let Some(author) = &entrant.contributor {
        fact("Author", author.clone());
    }
    if let Some(version) = entrant.version {
        fact("Version", version.to_string());
    }
    Ok(BotCard {
        name: entrant.name.clone(),
        color: entrant.entrant.and_then(|number| u16::try_from(number).ok()).unwrap_or_default(),
        subtitle: format!("{} · {}", visible.site_row.name, game_info(visible)?.title),
        facts,
        site: app.config.name.clone(),
    })
}
