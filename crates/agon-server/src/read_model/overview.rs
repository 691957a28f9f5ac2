//! What a competition is and how far: its phases, who takes part, what was decided.

use std::collections::HashMap;
use std::sync::Arc;

use agon_core::GameInfo;
use agon_league::MatchKey;
use agon_league::config::CompetitionConfig;
use agon_runner::phase_results;
use agon_store::site_db::{self, SiteDb, CompetitionState};
use agon_store::{Counts, Ledger, PhaseState, RulingKind};
use agon_venue::Sitting;
use serde::Serialize;
use tokio::runtime::Handle;
use utoipa::ToSchema;

use super::response_cache::CachedValue;
use super::{CompetitionHandle, VisibleCompetition};
use crate::caller::{Caller, Role};
use crate::error::{ApiError, ApiResult};
use crate::uploads;
use crate::state::AppState;

/// Who takes part.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Entrant {
    /// The number of its page.
    pub bot: i64,
    /// Its number in tables; null before the start.
    pub entrant: Option<u32>,
    /// Its name.
    pub name: String,
    /// Who wrote it.
    pub contributor: Option<String>,
    /// What it plays, in a game with roles.
    pub role: Option<String>,
    /// Whether it is one of ours.
    pub house: bool,
    /// Whether it is the reader's own. Never in a table, which is the same for all.
    pub mine: bool,
    /// Its latest version.
    pub version: Option<u32>,
    /// `AI`, `exploit`.
    pub marks: Vec<Mark>,
    /// Whether it takes no part any more.
    pub withdrawn: bool,
    /// Why it was disqualified, if it was.
    pub disqualified: Option<String>,
}

/// A mark behind a name.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Mark {
    /// A word or two.
    pub mark: String,
    /// What it means here.
    pub note: Option<String>,
}

/// What an organiser decided.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Ruling {
    /// From 1.
    pub id: u64,
    /// What.
    pub kind: RulingKindBody,
    /// The phase, if it is about a match.
    pub phase: Option<u32>,
    /// The match.
    #[serde(rename = "match")]
    pub match_: Option<String>,
    /// The number of the bot's page.
    pub bot: Option<i64>,
    /// The bot's name.
    pub name: Option<String>,
    /// Why.
    pub reason: String,
    /// Who decided.
    pub by: String,
    /// When.
    pub at: i64,
    /// That it is no longer in force.
    pub lifted: Option<Lifted>,
}

/// What can be decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum RulingKindBody {
    /// A match counts for nothing.
    Void,
    /// A bot has no place.
    Disqualify,
}

/// How a ruling came to be no longer in force.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Lifted {
    /// When.
    pub at: i64,
    /// Who decided.
    pub by: String,
    /// Why.
    pub reason: String,
}

/// A phase, and how far it is.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PhaseItem {
    /// From 1.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// What is played, in words.
    pub format: String,
    /// `waiting`, `running`, `published`, `closed`.
    #[schema(pattern = "^(waiting|running|published|closed)$")]
    pub state: &'static str,
    /// When it began.
    pub started: Option<i64>,
    /// When its table came out.
    pub published: Option<i64>,
    /// Whether bots may be handed in anew before it.
    pub resubmit: bool,
    /// Matches played.
    pub matches: u64,
    /// Games played.
    pub games: u64,
    /// Faults made.
    pub faults: u64,
    /// How many matches it has, at least and at most, where that is known.
    pub expected: Option<[u64; 2]>,
    /// SHA-256 of the published table.
    pub table: Option<String>,
    /// Whether it is an elimination.
    pub bracket: bool,
    /// Whether its boards are a secret until the end: no replays, no live games.
    pub hidden: bool,
}

/// Somebody who takes part, and whose it is.
#[derive(Clone, Debug)]
pub struct EntrantOwner {
    /// As all see it.
    pub shown: Entrant,
    /// Whose.
    pub account: Option<i64>,
    /// The BOT, if nobody has uploaded it.
    pub spec: Option<String>,
}

/// All of it.
#[derive(Clone, Debug)]
pub struct Overview {
    /// In the order they came.
    pub takers: Vec<EntrantOwner>,
    /// In order.
    pub phases: Vec<PhaseItem>,
    /// The first first.
    pub rulings: Vec<Ruling>,
    /// SHA-256 of the secret seed, once it was started.
    pub commitment: Option<String>,
    /// The seed, once it was revealed.
    pub seed: Option<String>,
}

impl Overview {
    /// Who takes part, as this one sees it.
    pub fn entrants(&self, caller: &Caller) -> Vec<Entrant> {
        self.takers.iter().map(|one| Entrant { mine: caller.is(one.account), ..one.shown.clone() }).collect()
    }

    /// The one with this number in tables.
    pub fn taker(&self, entrant: u32) -> Option<&EntrantOwner> {
        self.takers.iter().find(|one| one.shown.entrant == Some(entrant))
    }

    /// The phase that is played, or was played last.
    pub fn current(&self) -> Option<&PhaseItem> {
        self.phases.iter().rfind(|phase| phase.state != PhaseState::Waiting.name())
    }

    /// Whether boards of this phase, from 0, must not be shown.
    pub fn hides(&self, phase: u32) -> bool {
        self.phases.get(phase as usize).is_none_or(|phase| phase.hidden)
    }

    /// Why a match is void, if it is.
    pub fn void(&self, phase: u32, name: &str) -> Option<&str> {
        let on_it = |one: &&Ruling| {
            one.phase == Some(phase + 1) && one.match_.as_deref() == Some(name) && one.lifted.is_none()
        };
        self.rulings.iter().find(on_it).map(|one| one.reason.as_str())
    }
}

/// As people name a match of a phase: `2-15`.
pub fn match_name(key: MatchKey) -> String {
    format!("{}-{}", key.stage + 1, key.number + 1)
}

/// The match of this name in a phase from 0; 404 if it is no name.
pub fn match_key(phase: u32, name: &str) -> ApiResult<MatchKey> {
    let number = |text: &str| text.parse::<u64>().ok().filter(|_| text.bytes().all(|b| b.is_ascii_digit()));
    let key = name.split_once('-').and_then(|(stage, within)| {
        let stage = u32::try_from(number(stage)?.checked_sub(1)?).ok()?;
        Some(MatchKey { phase, stage, number: number(within)?.checked_sub(1)? })
    });
    // SQLite counts to 2^63.
    key.filter(|key| key.number < 1 << 62)
        .ok_or_else(|| ApiError::not_found("match").hint("a match is named STAGE-NUMBER, such as 2-15"))
}

/// How many bots, and how large ones, may be handed in.
pub fn limits(row: &site_db::HostedCompetition, sitting: Option<&Sitting>) -> (u32, u64) {
    let by_file = sitting.and_then(|sitting| sitting.competition.most_by_contributor);
    let most = row.limits.per_contributor.or(by_file).unwrap_or(uploads::PER_CONTRIBUTOR);
    (most, row.limits.max_bytes.unwrap_or(uploads::MOST_BYTES))
}

/// How many more bots this one may hand in, of a competition that takes some or not; `None` for who may not.
pub fn left(
    row: &site_db::HostedCompetition,
    sitting: Option<&Sitting>,
    overview: &Overview,
    accepts: bool,
    caller: &Caller,
) -> Option<u32> {
    let me = caller.me().filter(|me| me.role >= Role::Author && accepts)?;
    // Before a later phase only new versions are taken.
    if row.state != CompetitionState::Open {
        return Some(0);
    }
    let own = overview.takers.iter().filter(|one| one.account == Some(me.id) && !one.shown.withdrawn).count();
    Some(limits(row, sitting).0.saturating_sub(own as u32))
}

impl VisibleCompetition {
    /// What the competition is and how far.
    pub async fn overview(&self, app: &AppState) -> ApiResult<Arc<Overview>> {
        Ok(of(app, &self.arena, &self.row).await?.value)
    }
}

/// The same, of any.
pub async fn of(app: &AppState, arena: &Arc<CompetitionHandle>, row: &Arc<site_db::HostedCompetition>) -> ApiResult<CachedValue<Overview>> {
    let moves = row.state == CompetitionState::Running;
    // While bots come in, the office changes without the arena's knowing: good for a second.
    let taking = matches!(row.state, CompetitionState::Draft | CompetitionState::Open | CompetitionState::Closed | CompetitionState::Waiting);
    let seconds = if taking { app.started.elapsed().as_secs() + 1 } else { 0 };
    let revision = (arena.revision() << 24) | (seconds & 0xff_ffff);
    arena.overviews.get((), revision, moves, || make(app, arena, row)).await
}

async fn make(app: &AppState, arena: &Arc<CompetitionHandle>, row: &Arc<site_db::HostedCompetition>) -> ApiResult<Overview> {
    let (sitting, ledger) = (arena.sitting(), arena.ledger());
    let takers = takers(&app.office, row, sitting.as_deref()).await?;
    let work = move |handle: &Handle| {
        let mut overview =
            Overview { takers, phases: Vec::new(), rulings: Vec::new(), commitment: None, seed: None };
        if let Some(sitting) = &sitting {
            handle.block_on(read(sitting, ledger.as_deref(), &mut overview))?;
        }
        Ok(overview)
    };
    app.arenas.work(work).await
}

/// Who takes part, by the office and by the file. Who was never accepted is not among them.
async fn takers(
    office: &SiteDb,
    row: &site_db::HostedCompetition,
    sitting: Option<&Sitting>,
) -> ApiResult<Vec<EntrantOwner>> {
    let playing = office.accepted_for_phase(&row.id, u32::MAX).await?;
    let mut names: HashMap<i64, String> = HashMap::new();
    let mut takers = Vec::new();
    for one in office.entrants(&row.id).await? {
        let version = playing.iter().find(|own| own.entrant == one.id).and_then(|own| own.version);
        if one.number.is_none() && (one.withdrawn.is_some() || (one.account.is_some() && version.is_none())) {
            continue;
        }
        let spec = one.number.and_then(|number| sitting?.competition.entrants.get(number as usize));
        let mut contributor = spec.and_then(|spec| spec.contributor.clone());
        if let (None, Some(account)) = (&contributor, one.account) {
            let name = match names.get(&account.0) {
                Some(name) => name.clone(),
                None => office.account(account).await?.name,
            };
            names.insert(account.0, name.clone());
            contributor = Some(name);
        }
        let marks = spec.map_or_else(Vec::new, |spec| {
            spec.marks.iter().map(|own| Mark { mark: own.mark.clone(), note: own.note.clone() }).collect()
        });
        let shown = Entrant {
            bot: one.id.0,
            entrant: one.number,
            name: one.name,
            contributor,
            role: one.role.or_else(|| spec.and_then(|spec| spec.role).map(str::to_owned)),
            house: one.bot.as_deref().is_some_and(|bot| bot.starts_with("house:")),
            mine: false,
            version,
            marks,
            withdrawn: one.withdrawn.is_some(),
            disqualified: None,
        };
        takers.push(EntrantOwner { shown, account: one.account.map(|account| account.0), spec: one.bot });
    }
    Ok(takers)
}

/// What the ledger adds.
async fn read(sitting: &Sitting, ledger: Option<&dyn Ledger>, overview: &mut Overview) -> ApiResult<()> {
    let (competition, info) = (&sitting.competition, sitting.table.info());
    let Some(ledger) = ledger else {
        overview.phases =
            (0..).zip(&competition.phases).map(|(n, _)| waiting(competition, info, n)).collect();
        return Ok(());
    };
    let kept = ledger.competition().await.map_err(ApiError::broke)?;
    overview.commitment = Some(kept.commitment.hex());
    overview.seed = kept.revealed.map(|(seed, _)| seed.expose().to_owned());
    for one in ledger.rulings().await.map_err(ApiError::broke)? {
        rule(overview, one);
    }
    for version in ledger.bots().await.map_err(ApiError::broke)? {
        let taker = overview.takers.iter_mut().find(|one| one.shown.entrant == Some(version.entrant.0));
        // What was uploaded is counted by the office.
        if let Some(taker) = taker.filter(|taker| taker.account.is_none()) {
            taker.shown.version = Some(version.version);
        }
    }
    let mut last_over = true;
    for status in ledger.phases().await.map_err(ApiError::broke)? {
        let number = status.phase;
        if number as usize >= competition.phases.len() {
            break;
        }
        let mut item = waiting(competition, info, number);
        item.hidden &= overview.seed.is_none();
        item.state = status.state.name();
        (item.started, item.published) = (status.started.map(|at| at.0), status.published.map(|at| at.0));
        item.table = status.table.map(agon_core::record::Digest::hex);
        if status.state > PhaseState::Waiting {
            let Counts { matches, games, faults } = ledger.counts(number).await.map_err(ApiError::broke)?;
            (item.matches, item.games, item.faults) = (matches, games, faults);
        }
        if status.state >= PhaseState::Published {
            item.expected = Some([item.matches; 2]);
        } else if last_over {
            item.expected = expected(ledger, competition, info, number).await;
        }
        last_over = status.state >= PhaseState::Published;
        overview.phases.push(item);
    }
    Ok(())
}

/// A phase that cannot be planned yet has no figure.
async fn expected(
    ledger: &dyn Ledger,
    competition: &CompetitionConfig,
    info: &'static GameInfo,
    number: u32,
) -> Option<[u64; 2]> {
    let seed = ledger.secret().await.ok()?;
    let plan = phase_results::plan(ledger, competition, info, number, &seed).await.ok()?;
    let (least, most) = plan.expected();
    Some([least, most])
}

fn waiting(competition: &CompetitionConfig, info: &GameInfo, number: u32) -> PhaseItem {
    let phase = &competition.phases[number as usize];
    let name = if phase.name.is_empty() { format!("Phase {}", number + 1) } else { phase.name.clone() };
    PhaseItem {
        number: number + 1,
        name,
        format: agon_report::text_format::format(&phase.format),
        state: PhaseState::Waiting.name(),
        started: None,
        published: None,
        resubmit: phase.resubmit,
        matches: 0,
        games: 0,
        faults: 0,
        expected: None,
        table: None,
        bracket: phase.format.is_bracket(),
        hidden: competition.hidden(info, number),
    }
}

fn rule(overview: &mut Overview, one: agon_store::Ruling) {
    let in_force = one.is_in_force();
    let mut shown = Ruling {
        id: one.id,
        kind: RulingKindBody::Void,
        phase: None,
        match_: None,
        bot: None,
        name: None,
        reason: one.reason,
        by: one.by,
        at: one.at.0,
        lifted: one.lifted.map(|lifted| Lifted { at: lifted.at.0, by: lifted.by, reason: lifted.reason }),
    };
    match one.kind {
        RulingKind::Void(key) => {
            (shown.phase, shown.match_) = (Some(key.phase + 1), Some(match_name(key)));
        }
        RulingKind::Disqualify(entrant) => {
            shown.kind = RulingKindBody::Disqualify;
            let taker = overview.takers.iter_mut().find(|taker| taker.shown.entrant == Some(entrant.0));
            if let Some(taker) = taker {
                (shown.bot, shown.name) = (Some(taker.shown.bot), Some(taker.shown.name.clone()));
                if in_force {
                    taker.shown.disqualified = Some(shown.reason.clone());
                }
            }
        }
    }
    overview.rulings.push(shown);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_have_names_and_nothing_else_is_one() {
        let key = MatchKey { phase: 3, stage: 1, number: 14 };
        assert_eq!(match_key(3, &match_name(key)).unwrap(), key);
        for wrong in [
            "",
            "1",
            "0-1",
            "1-0",
            "-1",
            "1-",
            "+1-1",
            "1-1-1",
            "a-b",
            "1-99999999999999999999",
            "4294967297-1",
        ] {
            assert!(match_key(0, wrong).is_err(), "{wrong}");
        }
    }
}
