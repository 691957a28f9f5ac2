//! Overview of a competition: its phases, entrants and rulings.

use std::collections::HashMap;
use std::sync::Arc;

use agon_competition::LoadedCompetition;
use agon_core::GameInfo;
use agon_league::MatchKey;
use agon_league::config::CompetitionConfig;
use agon_runner::phase_results;
use agon_site_db::{CompetitionState, Origin, SiteDb};
use agon_store::{Counts, Ledger, PhaseState, RulingKind};
use serde::Serialize;
use tokio::runtime::Handle;
use utoipa::ToSchema;

use super::response_cache::CachedValue;
use super::{CompetitionHandle, VisibleCompetition};
use crate::caller::{Caller, Role};
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;
use crate::uploads;

/// A bot that takes part.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Entrant {
    /// Id of the bot's page.
    pub bot: i64,
    /// Entrant number in tables; null before the start.
    pub entrant: Option<u32>,
    /// The bot's name.
    pub name: String,
    /// The bot's author.
    pub contributor: Option<String>,
    /// The bot's role, in a game with roles.
    pub role: Option<String>,
    /// Whether it is a house bot.
    pub house: bool,
    /// Whether the caller owns it. Never set in a table, which is the same for all callers.
    pub mine: bool,
    /// The latest version.
    pub version: Option<u32>,
    /// Marks such as `AI` and `exploit`.
    pub marks: Vec<EntrantMark>,
    /// Whether it was withdrawn.
    pub withdrawn: bool,
    /// Why it was disqualified, if it was.
    pub disqualified: Option<String>,
}

/// A mark shown after a bot's name.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct EntrantMark {
    /// The mark: a word or two.
    pub mark: String,
    /// What the mark means here.
    pub note: Option<String>,
}

impl From<&agon_league::config::EntrantMark> for EntrantMark {
    fn from(own: &agon_league::config::EntrantMark) -> Self {
        Self { mark: own.mark.clone(), note: own.note.clone() }
    }
}

/// A decision of an organiser.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Ruling {
    /// Number of the ruling, from 1.
    pub id: u64,
    /// Kind of decision.
    pub kind: RulingKindBody,
    /// The phase, of a void match.
    pub phase: Option<u32>,
    /// The void match.
    #[serde(rename = "match")]
    pub match_: Option<String>,
    /// Page id of the disqualified bot.
    pub bot: Option<i64>,
    /// Name of the disqualified bot.
    pub name: Option<String>,
    /// Why it was decided.
    pub reason: String,
    /// Name of the organiser.
    pub by: String,
    /// When it was decided.
    pub at: i64,
    /// Set when the ruling is no longer in force.
    pub lifted: Option<RulingLiftBody>,
}

/// Kind of a ruling.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum RulingKindBody {
    /// The match does not count.
    Void,
    /// The bot is not ranked.
    Disqualify,
}

/// How a ruling was lifted.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RulingLiftBody {
    /// When it was lifted.
    pub at: i64,
    /// Name of the organiser.
    pub by: String,
    /// Why it was lifted.
    pub reason: String,
}

/// A phase and its progress.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PhaseItem {
    /// Number of the phase, from 1.
    pub number: u32,
    /// The phase's name.
    pub name: String,
    /// Description of the format.
    pub format: String,
    /// `waiting`, `running`, `published` or `closed`.
    #[schema(pattern = "^(waiting|running|published|closed)$")]
    pub state: &'static str,
    /// When it started.
    pub started: Option<i64>,
    /// When its table was published.
    pub published: Option<i64>,
    /// Whether authors may submit new versions before it.
    pub resubmit: bool,
    /// Matches played.
    pub matches: u64,
    /// Games played.
    pub games: u64,
    /// Faults of all bots.
    pub faults: u64,
    /// Minimum and maximum number of matches, if known.
    pub expected: Option<[u64; 2]>,
    /// SHA-256 of the published table.
    pub table: Option<String>,
    /// Whether it is an elimination.
    pub bracket: bool,
    /// Whether its seeds are hidden until the end: no replays, no live games.
    pub hidden: bool,
}

/// An entrant and its owner.
#[derive(Clone, Debug)]
pub struct EntrantOwner {
    /// The entrant as sent to clients.
    pub body: Entrant,
    /// Account of the owner; none for house bots and bots of a file.
    pub account: Option<i64>,
    /// Accounts that manage the bot: the owner, or all members of its team.
    pub managers: Vec<i64>,
    /// Bot spec of a bot that was not uploaded.
    pub bot_spec: Option<String>,
}

impl EntrantOwner {
    /// Whether the caller manages the bot.
    pub fn is_managed_by(&self, caller: &Caller) -> bool {
        caller.user().is_some_and(|me| self.managers.contains(&me.id))
    }
}

/// Overview of a competition.
#[derive(Clone, Debug)]
pub struct Overview {
    /// Entrants in the order they entered.
    pub entrant_owners: Vec<EntrantOwner>,
    /// Phases in order.
    pub phases: Vec<PhaseItem>,
    /// Rulings, oldest first.
    pub rulings: Vec<Ruling>,
    /// SHA-256 of the secret seed, once the competition has started.
    pub commitment: Option<String>,
    /// The secret seed, once it is revealed.
    pub seed: Option<String>,
}

impl Overview {
    /// The entrants, with `mine` set for this caller.
    pub fn entrants(&self, caller: &Caller) -> Vec<Entrant> {
        self.entrant_owners
            .iter()
            .map(|one| Entrant { mine: one.is_managed_by(caller), ..one.body.clone() })
            .collect()
    }

    /// The entrant with this number.
    pub fn entrant_owner(&self, entrant: u32) -> Option<&EntrantOwner> {
        self.entrant_owners.iter().find(|one| one.body.entrant == Some(entrant))
    }

    /// The phase being played, or the last one that was played.
    pub fn current_phase(&self) -> Option<&PhaseItem> {
        self.phases.iter().rfind(|phase| phase.state != PhaseState::Waiting.name())
    }

    /// Whether the games of this phase (from 0) must not be shown.
    pub fn is_hidden(&self, phase: u32) -> bool {
        self.phases.get(phase as usize).is_none_or(|phase| phase.hidden)
    }

    /// Why a match is void, if it is.
    pub fn void_reason(&self, phase: u32, name: &str) -> Option<&str> {
        let on_it = |one: &&Ruling| {
            one.phase == Some(phase + 1) && one.match_.as_deref() == Some(name) && one.lifted.is_none()
        };
        self.rulings.iter().find(on_it).map(|one| one.reason.as_str())
    }
}

/// Name of a match within its phase: `2-15`.
pub fn match_name(key: MatchKey) -> String {
    format!("{}-{}", key.stage + 1, key.number + 1)
}

/// The match with this name in a phase (from 0); 404 if the name is malformed.
pub fn match_key(phase: u32, name: &str) -> ApiResult<MatchKey> {
    let number = |text: &str| text.parse::<u64>().ok().filter(|_| text.bytes().all(|b| b.is_ascii_digit()));
    let key = name.split_once('-').and_then(|(stage, within)| {
        let stage = u32::try_from(number(stage)?.checked_sub(1)?).ok()?;
        Some(MatchKey { phase, stage, number: number(within)?.checked_sub(1)? })
    });
    // SQLite integers end at 2^63.
    key.filter(|key| key.number < 1 << 62)
        .ok_or_else(|| ApiError::not_found("match").hint("matches are named STAGE-NUMBER, such as 2-15"))
}

/// Upload limits: bots per contributor, and bytes per upload.
pub fn upload_limits(
    row: &agon_site_db::HostedCompetition,
    loaded: Option<&LoadedCompetition>,
) -> (u32, u64) {
    let by_file = loaded.and_then(|loaded| loaded.competition.max_bots_per_contributor);
    let most = row.limits.per_contributor.or(by_file).unwrap_or(uploads::DEFAULT_BOTS_PER_CONTRIBUTOR);
    let zip_bytes =
        loaded.and_then(|loaded| loaded.competition.max_zip_mib).map(|most| u64::from(most) << 20);
    let max_bytes = row.limits.max_bytes.or(zip_bytes).unwrap_or(uploads::DEFAULT_UPLOAD_BYTES);
    (most, max_bytes.min(uploads::MAX_UPLOAD_BYTES))
}

/// How many more bots the caller may submit; `None` if it may not submit any. `accepts` says whether the competition accepts bots now.
pub fn bots_left(
    row: &agon_site_db::HostedCompetition,
    loaded: Option<&LoadedCompetition>,
    overview: &Overview,
    accepts: bool,
    caller: &Caller,
) -> Option<u32> {
    let me = caller.user().filter(|me| me.role >= Role::Author && accepts)?;
    // Between phases only new versions are accepted.
    if row.state != CompetitionState::Open {
        return Some(0);
    }
    let own = overview
        .entrant_owners
        .iter()
        .filter(|one| one.managers.contains(&me.id) && !one.body.withdrawn)
        .count();
    Some(upload_limits(row, loaded).0.saturating_sub(own as u32))
}

impl VisibleCompetition {
    /// The overview of this competition.
    pub async fn overview(&self, app: &AppState) -> ApiResult<Arc<Overview>> {
        Ok(load(app, &self.handle, &self.site_row).await?.value)
    }
}

/// The overview of a competition, from the cache if possible.
pub async fn load(
    app: &AppState,
    competition_handle: &Arc<CompetitionHandle>,
    row: &Arc<agon_site_db::HostedCompetition>,
) -> ApiResult<CachedValue<Overview>> {
    let running = row.state == CompetitionState::Running;
    // Submissions change the site database without a new revision, so the cache entry is valid for one second.
    let accepts_bots = matches!(
        row.state,
        CompetitionState::Draft
            | CompetitionState::Open
            | CompetitionState::Closed
            | CompetitionState::Waiting
    );
    let seconds = if accepts_bots { app.started.elapsed().as_secs() + 1 } else { 0 };
    let revision = (competition_handle.revision() << 24) | (seconds & 0xff_ffff);
    competition_handle.overviews.get((), revision, running, || compute(app, competition_handle, row)).await
}

async fn compute(
    app: &AppState,
    competition_handle: &Arc<CompetitionHandle>,
    row: &Arc<agon_site_db::HostedCompetition>,
) -> ApiResult<Overview> {
    let (loaded, ledger) = (competition_handle.loaded(), competition_handle.ledger());
    let owners = entrant_owners(&app.site_db, row, loaded.as_deref()).await?;
    let work = move |handle: &Handle| {
        let mut overview = Overview {
            entrant_owners: owners,
            phases: Vec::new(),
            rulings: Vec::new(),
            commitment: None,
            seed: None,
        };
        if let Some(loaded) = &loaded {
            handle.block_on(add_ledger_data(loaded, ledger.as_deref(), &mut overview))?;
        }
        Ok(overview)
    };
    app.competitions.compute(work).await
}

/// Entrants of the site database and of the file. Bots that were never accepted are left out.
async fn entrant_owners(
    site_db: &SiteDb,
    row: &agon_site_db::HostedCompetition,
    loaded: Option<&LoadedCompetition>,
) -> ApiResult<Vec<EntrantOwner>> {
    let playing = site_db.accepted_for_phase(&row.id, u32::MAX).await?;
    let stored_marks = site_db.marks(&row.id).await?;
    let mut names: HashMap<i64, String> = HashMap::new();
    let mut owners = Vec::new();
    for one in site_db.entrants(&row.id).await? {
        let version = playing.iter().find(|own| own.entrant == one.id).and_then(|own| own.version);
        if one.number.is_none() && (one.withdrawn.is_some() || (one.account.is_some() && version.is_none())) {
            continue;
        }
        let spec = one.number.and_then(|number| loaded?.competition.entrants.get(number as usize));
        let mut contributor = spec.and_then(|spec| spec.contributor.clone());
        if let (None, Some(account)) = (&contributor, one.account) {
            contributor = match (one.team, names.get(&account.0)) {
                (Some(team), _) => Some(site_db.team(team).await?.name),
                (None, Some(name)) => Some(name.clone()),
                (None, None) => Some(site_db.account(account).await?.name),
            };
            if let (None, Some(name)) = (one.team, &contributor) {
                names.insert(account.0, name.clone());
            }
        }
        let marks = match row.origin {
            // A file is the only source of its marks.
            Origin::File => spec.map_or(&[][..], |spec| &spec.marks).iter().map(EntrantMark::from).collect(),
            Origin::Hosted => {
                let own = stored_marks.iter().filter(|(marked, _)| *marked == one.id);
                own.map(|(_, own)| EntrantMark { mark: own.mark.clone(), note: own.note.clone() }).collect()
            }
        };
        let managers = site_db.managers(&one).await?.into_iter().map(|account| account.0).collect();
        let body = Entrant {
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
        let account = one.account.map(|account| account.0);
        owners.push(EntrantOwner { body, account, managers, bot_spec: one.bot });
    }
    Ok(owners)
}

/// Adds the data of the ledger: phases, rulings, versions, seed.
async fn add_ledger_data(
    loaded: &LoadedCompetition,
    ledger: Option<&dyn Ledger>,
    overview: &mut Overview,
) -> ApiResult<()> {
    let (competition, info) = (&loaded.competition, loaded.table.info());
    let Some(ledger) = ledger else {
        overview.phases =
            (0..).zip(&competition.phases).map(|(n, _)| waiting_phase(competition, info, n)).collect();
        return Ok(());
    };
    let ledger_info = ledger.competition().await.map_err(ApiError::internal)?;
    overview.commitment = Some(ledger_info.commitment.hex());
    overview.seed = ledger_info.revealed.map(|(seed, _)| seed.expose().to_owned());
    for one in ledger.rulings().await.map_err(ApiError::internal)? {
        add_ruling(overview, one);
    }
    for version in ledger.bot_versions().await.map_err(ApiError::internal)? {
        let owner =
            overview.entrant_owners.iter_mut().find(|one| one.body.entrant == Some(version.entrant.0));
        // Versions of uploaded bots come from the site database.
        if let Some(owner) = owner.filter(|owner| owner.account.is_none()) {
            owner.body.version = Some(version.version);
        }
    }
    let mut last_over = true;
    for status in ledger.phases().await.map_err(ApiError::internal)? {
        let number = status.phase;
        if number as usize >= competition.phases.len() {
            break;
        }
        let mut item = waiting_phase(competition, info, number);
        item.hidden &= overview.seed.is_none();
        item.state = status.state.name();
        (item.started, item.published) = (status.started.map(|at| at.0), status.published.map(|at| at.0));
        item.table = status.table_hash.map(agon_core::record::Digest::hex);
        if status.state > PhaseState::Waiting {
            let Counts { matches, games, faults } =
                ledger.counts(number).await.map_err(ApiError::internal)?;
            (item.matches, item.games, item.faults) = (matches, games, faults);
        }
        if status.state >= PhaseState::Published {
            item.expected = Some([item.matches; 2]);
        } else if last_over {
            item.expected = expected_matches(ledger, competition, info, number).await;
        }
        last_over = status.state >= PhaseState::Published;
        overview.phases.push(item);
    }
    Ok(())
}

/// Minimum and maximum number of matches; `None` if the phase cannot be planned yet.
async fn expected_matches(
    ledger: &dyn Ledger,
    competition: &CompetitionConfig,
    info: &'static GameInfo,
    number: u32,
) -> Option<[u64; 2]> {
    let seed = ledger.secret_seed().await.ok()?;
    let plan = phase_results::schedule(ledger, competition, info, number, &seed).await.ok()?;
    let (least, most) = plan.expected_matches();
    Some([least, most])
}

fn waiting_phase(competition: &CompetitionConfig, info: &GameInfo, number: u32) -> PhaseItem {
    let phase = &competition.phases[number as usize];
    let name = if phase.name.is_empty() { format!("Phase {}", number + 1) } else { phase.name.clone() };
    PhaseItem {
        number: number + 1,
        name,
        format: agon_report::text_format::describe_format(&phase.format),
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
        hidden: competition.is_phase_hidden(info, number),
    }
}

fn add_ruling(overview: &mut Overview, one: agon_store::Ruling) {
    let in_force = one.is_in_force();
    let mut body = Ruling {
        id: one.id,
        kind: RulingKindBody::Void,
        phase: None,
        match_: None,
        bot: None,
        name: None,
        reason: one.reason,
        by: one.by,
        at: one.at.0,
        lifted: one.lifted.map(|lifted| RulingLiftBody {
            at: lifted.at.0,
            by: lifted.by,
            reason: lifted.reason,
        }),
    };
    match one.kind {
        RulingKind::Void(key) => {
            (body.phase, body.match_) = (Some(key.phase + 1), Some(match_name(key)));
        }
        RulingKind::Disqualify(entrant) => {
            body.kind = RulingKindBody::Disqualify;
            let owner =
                overview.entrant_owners.iter_mut().find(|owner| owner.body.entrant == Some(entrant.0));
            if let Some(owner) = owner {
                (body.bot, body.name) = (Some(owner.body.bot), Some(owner.body.name.clone()));
                if in_force {
                    owner.body.disqualified = Some(body.reason.clone());
                }
            }
        }
    }
    overview.rulings.push(body);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn match_key_parses_match_names_and_rejects_anything_else() {
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
