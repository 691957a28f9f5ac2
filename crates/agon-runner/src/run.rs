//! Runs a competition phase by phase and stage by stage. Resumes after a stop.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use agon_core::record::Digest;
use agon_core::{Assets, GameInfo};
use agon_engine::AnyGame;
use agon_engine::any_game::bot_hash;
use agon_league::config::{CompetitionConfig, PhaseConfig, StopRule};
use agon_league::format::{MatchVerdict, PhaseHistory, PhaseSchedule, Stage};
use agon_league::standings::{self, Standings};
use agon_league::tally::Tally;
use agon_league::{Entrant, MatchKey};
use agon_store::{
    AppendResult, FinishedMatch, Ledger, MatchFilter, NewBotVersion, PhaseState, Ranges, SecretSeed,
    Snapshot, StoreError, Timestamp,
};
use futures_util::StreamExt as _;
use sha2::{Digest as _, Sha256};
use tokio::runtime::Runtime;

use crate::event::{NOTICE_TARGET, RunEvent, RunListener};
use crate::executor::{Executor, ExecutorEvent};
use crate::local::ActiveMatches;
use crate::logs_dirs::{FinishedGame, LogsDirs};
use crate::phase_context::{LoadedEntrant, PhaseContext};
use crate::phase_results::PhaseResults;
use crate::queue::MatchQueue;
use crate::rulings::Rulings;
use crate::stop_flag::StopFlag;
use crate::{RunError, data_dir, phase_results, revoke};

/// Number of matches between two snapshots. Reading this many matches one by one takes no noticeable time.
const MATCHES_PER_SNAPSHOT: u64 = 16_384;
/// Interval of [`RunEvent::Tick`].
const TICK_INTERVAL: Duration = Duration::from_millis(500);
/// Maximum number of matches of a phase for which the balance is computed.
const MAX_MATCHES_FOR_BALANCE: u64 = 100_000;
/// Maximum number of matches in one transaction.
const MAX_MATCHES_PER_TRANSACTION: usize = 1024;

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunOutcome {
    /// All phases are finished.
    Finished,
    /// This phase, from 0, waits for new submissions. Running again starts it.
    Waiting(u32),
    /// A stop was requested.
    Stopped,
}

/// A competition about to be run.
pub struct CompetitionRun<'r> {
    /// The competition.
    pub competition: &'r CompetitionConfig,
    /// Its game.
    pub game: &'r dyn AnyGame,
    /// Files that replace the game's built-in ones.
    pub assets: &'r Assets,
    /// Ledger that stores the results.
    pub ledger: &'r dyn Ledger,
    /// Runtime for the calls of the ledger.
    pub runtime: &'r Runtime,
    /// Plays the matches.
    pub executor: &'r dyn Executor,
    /// Flag that requests a stop.
    pub stop: &'r StopFlag,
    /// Matches being played.
    pub active_matches: ActiveMatches,
}

/// A phase while it is played.
struct PhaseRun<'g> {
    context: &'g PhaseContext<'g>,
    results: PhaseResults,
    /// Verdicts of the finished stages, if the schedule depends on results.
    verdicts: Vec<Vec<MatchVerdict>>,
    logs_dirs: &'g LogsDirs<'g>,
    /// Whether a stage depends on the results of earlier stages.
    depends_on_results: bool,
    /// Whether stored matches were revoked. Then the phase resumes from the remaining ones.
    revoked: bool,
}

/// How a stage or a phase ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StageOutcome {
    /// All matches were played.
    Finished,
    /// A stop was requested.
    Stopped,
    /// Stored matches were revoked. The phase must resume from the remaining ones.
    Revoked,
}

impl CompetitionRun<'_> {
    /// Runs the competition. `load_bots` returns the bots of a phase, indexed by entrant.
    pub fn run<E: From<RunError>>(
        &self,
        load_bots: &mut dyn FnMut(u32) -> Result<Vec<LoadedEntrant>, E>,
        listener: &mut dyn RunListener,
    ) -> Result<RunOutcome, E> {
        let _run_lock = self.block_on(self.ledger.acquire_run_lock())?;
        let secret = self.block_on(self.ledger.secret_seed())?;
        let competition_id = agon_league::competition_id(&self.competition.name, secret.commitment());
        // At the error level, so that every line of the run names the competition, whatever the filter.
        let _in_run = tracing::error_span!("run", competition = %competition_id).entered();
        let outcome = self.run_phases(&secret, &competition_id, load_bots, listener)?;
        match outcome {
            RunOutcome::Finished => tracing::info!("competition finished"),
            RunOutcome::Waiting(phase) => {
                tracing::info!(phase = phase + 1, "competition waits for new submissions");
            }
            RunOutcome::Stopped => tracing::info!("competition stopped"),
        }
        Ok(outcome)
    }

    fn run_phases<E: From<RunError>>(
        &self,
        secret: &SecretSeed,
        competition_id: &str,
        load_bots: &mut dyn FnMut(u32) -> Result<Vec<LoadedEntrant>, E>,
        listener: &mut dyn RunListener,
    ) -> Result<RunOutcome, E> {
        let phases = self.block_on(self.ledger.phases())?;
        let resumed = phases.first().is_some_and(|first| first.state != PhaseState::Waiting);
        tracing::info!(
            name = self.competition.name,
            game = self.competition.game,
            resumed,
            "competition started"
        );
        listener.event(&RunEvent::RunStarted {
            competition: self.competition,
            commitment: secret.commitment().to_string(),
            resumed,
        });
        let mut published = false;
        for (status, phase) in phases.iter().zip(&self.competition.phases) {
            let number = status.phase;
            if status.state >= PhaseState::Published {
                continue;
            }
            if phase.resubmit && published {
                listener.event(&RunEvent::Waiting { phase: number, name: &phase.name });
                return Ok(RunOutcome::Waiting(number));
            }
            if self.stop.is_requested() {
                return Ok(RunOutcome::Stopped);
            }
            let entrants = load_bots(number)?;
            self.record_bot_versions(number, status.state, &entrants)?;
            if let Some(before) = number.checked_sub(1) {
                self.block_on(self.ledger.close_phase(before, Timestamp::now()))?;
            }
            self.block_on(self.ledger.start_phase(number, Timestamp::now()))?;
            if !self.run_phase(number, phase, &entrants, (secret, competition_id), listener)? {
                return Ok(RunOutcome::Stopped);
            }
            published = true;
        }
        if let Some(last) = phases.last() {
            self.block_on(self.ledger.close_phase(last.phase, Timestamp::now()))?;
        }
        self.block_on(self.ledger.reveal_seed(Timestamp::now()))?;
        listener.event(&RunEvent::Finished { seed: secret.expose().to_owned() });
        Ok(RunOutcome::Finished)
    }

    fn block_on<T>(&self, future: impl Future<Output = agon_store::Result<T>>) -> Result<T, RunError> {
        Ok(self.runtime.block_on(future)?)
    }

    fn game_info(&self) -> &'static GameInfo {
        self.game.info()
    }

    /// Records in the ledger which bots play a phase. In a phase that has started, the bots must not have changed.
    fn record_bot_versions(
        &self,
        phase: u32,
        state: PhaseState,
        entrants: &[LoadedEntrant],
    ) -> Result<(), RunError> {
        let known = self.block_on(self.ledger.bot_versions())?;
        for (number, loaded) in entrants.iter().enumerate() {
            let entrant = Entrant(number as u32);
            let hash = bot_hash(self.game_info(), &loaded.player);
            let latest = known.iter().rfind(|one| one.entrant == entrant && one.from_phase <= phase);
            if latest.is_some_and(|latest| latest.hash == hash) {
                continue;
            }
            if let (PhaseState::Running, Some(latest)) = (state, latest) {
                let (name, phase) =
                    (loaded.name.clone(), self.competition.phases[phase as usize].name.clone());
                return Err(RunError::BotChanged {
                    name,
                    phase,
                    old_hash: latest.hash.clone(),
                    new_hash: hash,
                });
            }
            let spec = loaded.player.spec();
            let commit = loaded.commit.clone();
            let bot = NewBotVersion {
                entrant,
                hash,
                spec,
                commit,
                archive: None,
                from_phase: phase,
                at: Timestamp::now(),
            };
            self.block_on(self.ledger.add_bot_version(&bot))?;
        }
        Ok(())
    }

    /// Plays a phase to its end and publishes its table. Returns `false` if it was stopped before.
    fn run_phase(
        &self,
        number: u32,
        phase: &PhaseConfig,
        entrants: &[LoadedEntrant],
        (secret, competition_id): (&SecretSeed, &str),
        listener: &mut dyn RunListener,
    ) -> Result<bool, RunError> {
        let schedule = self.runtime.block_on(phase_results::schedule(
            self.ledger,
            self.competition,
            self.game_info(),
            number,
            secret,
        ))?;
        let context = PhaseContext::new(self.game, self.assets, number, phase, entrants, secret)?
            .with_competition_id(competition_id);
        let logs_dirs = LogsDirs::new(self.game, self.assets, entrants)?;
        // Pack the submitted data folders before the ledger's data replaces them.
        let folders = entrants.iter().filter_map(LoadedEntrant::data_dir);
        let submitted =
            folders.map(|folder| Ok((folder, data_dir::pack(folder)?))).collect::<io::Result<Vec<_>>>()?;
        loop {
            match self.run_stages(number, phase, &*schedule, &context, &logs_dirs, listener)? {
                StageOutcome::Finished => return Ok(true),
                StageOutcome::Stopped => return Ok(false),
                StageOutcome::Revoked => {
                    logs_dirs.remove_written()?;
                    // The folders may hold data of revoked matches. Restore the submitted data, also for bots without later matches.
                    for (folder, packed) in &submitted {
                        data_dir::unpack(packed, folder)?;
                    }
                }
            }
        }
    }

    /// Plays the missing matches of a phase's stages and publishes its table.
    fn run_stages(
        &self,
        number: u32,
        phase: &PhaseConfig,
        schedule: &dyn PhaseSchedule,
        context: &PhaseContext<'_>,
        logs_dirs: &LogsDirs<'_>,
        listener: &mut dyn RunListener,
    ) -> Result<StageOutcome, RunError> {
        let results =
            self.runtime.block_on(phase_results::all_results(self.ledger, self.game_info(), number))?;
        let done = results.match_count();
        let (min_matches, max_matches) = schedule.expected_matches();
        tracing::info!(
            phase = number + 1,
            name = phase.name,
            min_matches,
            max_matches,
            done,
            "phase started"
        );
        listener.event(&RunEvent::PhaseStarted {
            phase: number,
            name: &phase.name,
            expected: schedule.expected_matches(),
            done,
        });
        let mut phase_run = PhaseRun {
            context,
            results,
            verdicts: Vec::new(),
            logs_dirs,
            depends_on_results: schedule.depends_on_results() || phase.stop != StopRule::Played,
            revoked: false,
        };
        // Counting millions of fixtures would delay the first match.
        let report_balance = schedule.expected_matches().1 <= MAX_MATCHES_FOR_BALANCE;
        if report_balance && !schedule.depends_on_results() {
            listener.event(&RunEvent::Balance {
                phase: number,
                report: &schedule.balance(&PhaseHistory::default()),
            });
        }
        self.restore_bot_data(&phase_run)?;
        for stage_number in 0.. {
            let stage = {
                let (open, order) = self.open_places(number, phase, stage_number, &phase_run)?;
                let past = PhaseHistory { stages: &phase_run.verdicts, open: &open, order: &order };
                schedule.stage(stage_number, &past)
            };
            let Some(stage) = stage else { break };
            let end = self.run_stage(stage_number, &*stage, &mut phase_run, listener)?;
            if end != StageOutcome::Finished {
                return Ok(end);
            }
            if schedule.depends_on_results() {
                phase_run.verdicts.push(self.stage_verdicts(number, phase, stage_number)?);
            }
        }
        if report_balance && schedule.depends_on_results() {
            let past = PhaseHistory { stages: &phase_run.verdicts, ..PhaseHistory::default() };
            listener.event(&RunEvent::Balance { phase: number, report: &schedule.balance(&past) });
        }
        self.publish(number, phase, &phase_run.results, listener)?;
        Ok(StageOutcome::Finished)
    }

    /// Verdicts of a finished stage. They decide who advances.
    fn stage_verdicts(
        &self,
        number: u32,
        phase: &PhaseConfig,
        stage: u32,
    ) -> Result<Vec<MatchVerdict>, RunError> {
        let forfeits =
            if phase.format.is_bracket() { self.block_on(self.ledger.forfeits(number))? } else { Vec::new() };
        self.runtime.block_on(phase_results::verdicts(
            self.ledger,
            self.game_info(),
            number,
            stage,
            &forfeits,
        ))
    }

    /// Entrants whose place is open at the start of a stage, and the ranking at that time. A stopped and resumed run gets the same answer.
    fn open_places(
        &self,
        number: u32,
        phase: &PhaseConfig,
        stage: u32,
        phase_run: &PhaseRun<'_>,
    ) -> Result<(Vec<Entrant>, Vec<Entrant>), RunError> {
        if phase.stop == StopRule::Played || stage == 0 {
            return Ok((Vec::new(), Vec::new()));
        }
        let request = phase_results::standings_request(self.competition, self.game_info(), phase, &[]);
        let open_and_order = |tally: &Tally| {
            (standings::open_entrants(tally, &request), standings::official_order(tally, &request))
        };
        if phase_run.results.stages.iter().skip(stage as usize).all(Ranges::is_empty) {
            return Ok(open_and_order(&phase_run.results.tally));
        }
        let tally = phase_results::tally_before_stage(self.ledger, self.game_info(), number, stage);
        Ok(open_and_order(&self.runtime.block_on(tally)?))
    }

    fn publish(
        &self,
        number: u32,
        phase: &PhaseConfig,
        results: &PhaseResults,
        listener: &mut dyn RunListener,
    ) -> Result<(), RunError> {
        loop {
            let rulings = self.runtime.block_on(Rulings::load(self.ledger))?;
            let standings = self.runtime.block_on(self.standings(number, results, &rulings))?;
            let table = Digest(Sha256::digest(standings.json().to_string().as_bytes()).into());
            let ruling_ids = rulings.in_force();
            match self.runtime.block_on(self.ledger.publish_phase(
                number,
                table,
                &ruling_ids,
                Timestamp::now(),
            )) {
                // A ruling was made in the meantime. Try again.
                Err(StoreError::RulingsChanged { .. }) => {}
                done => {
                    done?;
                    let matches = standings.matches;
                    tracing::info!(
                        phase = number + 1,
                        name = phase.name,
                        matches,
                        "phase finished, table published"
                    );
                    listener.event(&RunEvent::Published { phase: number, name: &phase.name, matches });
                    return Ok(());
                }
            }
        }
    }

    /// Standings of the played matches under the rulings in force.
    async fn standings(
        &self,
        number: u32,
        results: &PhaseResults,
        rulings: &Rulings,
    ) -> Result<Standings, RunError> {
        let (ledger, game, ruling_ids) = (self.ledger, self.game_info(), rulings.in_force());
        let counted = if rulings.voided_matches(number, &ruling_ids).is_empty() {
            None
        } else {
            Some(phase_results::results_under_rulings(ledger, game, number, rulings, &ruling_ids).await?)
        };
        let counted = counted.as_ref().unwrap_or(results);
        let standings =
            phase_results::standings_from(ledger, self.competition, game, number, counted, rulings);
        Ok(standings.await?.without_times())
    }

    /// Plays the missing matches of a stage.
    fn run_stage(
        &self,
        number: u32,
        stage: &dyn Stage,
        phase_run: &mut PhaseRun<'_>,
        listener: &mut dyn RunListener,
    ) -> Result<StageOutcome, RunError> {
        let phase = phase_run.context.phase;
        phase_run
            .results
            .stages
            .resize(phase_run.results.stages.len().max(number as usize + 1), Ranges::new());
        let done = &phase_run.results.stages[number as usize];
        let todo: Vec<_> = done.gaps(stage.len()).collect();
        let (name, matches, done) = (stage.name(), stage.len(), done.len());
        tracing::debug!(phase = phase + 1, stage = number + 1, name, matches, done, "stage started");
        listener.event(&RunEvent::StageStarted { phase, stage: number, name, matches, done });
        if done > 0 && !phase_run.logs_dirs.is_empty() {
            // An earlier run played these matches. Their players read the logs then and must find them again.
            phase_run.logs_dirs.add_own_games(&self.finished_games(phase, number..number + 1)?)?;
        }
        let context = phase_run.context;
        // Where matches are played in order, stored matches cannot be checked again: the bot data of that time is gone.
        let checks_pending = || !context.in_order() && self.executor.has_pending_checks(phase, number);
        if !todo.is_empty() || checks_pending() {
            let queue = MatchQueue::new(stage, todo, context.in_order(), self.stop);
            self.executor.play(context, number, &queue, &self.active_matches, &mut |events| {
                self.store_results(&events, phase_run, listener)
            })?;
            if phase_run.revoked {
                return Ok(StageOutcome::Revoked);
            }
            let played_count = phase_run.results.stages[number as usize].len();
            if played_count < stage.len() || checks_pending() {
                return Ok(StageOutcome::Stopped);
            }
        }
        if !phase_run.logs_dirs.is_empty() {
            let games = self.finished_games(phase, number..number + 1)?;
            phase_run.logs_dirs.add_stage_games(&games, false)?;
        }
        Ok(StageOutcome::Finished)
    }

    /// Stores played matches, as many in one transaction as have arrived.
    fn store_results(
        &self,
        events: &Receiver<ExecutorEvent>,
        phase_run: &mut PhaseRun<'_>,
        listener: &mut dyn RunListener,
    ) -> Result<(), RunError> {
        let mut last_tick = Instant::now();
        loop {
            if last_tick.elapsed() >= TICK_INTERVAL {
                let playing = self.active_matches.playing();
                listener.event(&RunEvent::Tick { playing: &playing, tally: &phase_run.results.tally });
                last_tick = Instant::now();
            }
            let first = match events.recv_timeout(TICK_INTERVAL) {
                Ok(event) => event,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            };
            let (mut batch, mut callbacks, mut other) = (Vec::new(), Vec::new(), None);
            for event in std::iter::once(first).chain(std::iter::from_fn(|| events.try_recv().ok())) {
                match event {
                    ExecutorEvent::Played { matches, on_stored } => {
                        batch.extend(matches);
                        callbacks.extend(on_stored);
                    }
                    event => other = Some(event),
                }
                if batch.len() >= MAX_MATCHES_PER_TRANSACTION || other.is_some() {
                    break;
                }
            }
            self.append(&batch, phase_run)?;
            if !self.executor.is_local() && !phase_run.logs_dirs.is_empty() {
                phase_run.logs_dirs.add_own_games(&games_of_batch(&batch))?;
            }
            for on_stored in callbacks {
                on_stored();
            }
            for one in &batch {
                listener.event(&RunEvent::MatchStored { result: &one.result, faults: &one.faults });
            }
            match other {
                None | Some(ExecutorEvent::Played { .. }) => {}
                Some(ExecutorEvent::Failed(error)) => return Err(error),
                Some(event) => {
                    phase_run.revoked = self.handle_cross_check(event, phase_run, listener)?;
                    if phase_run.revoked {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Applies a cross-check result of the executor. Returns whether matches of this phase were revoked and must be played again.
    fn handle_cross_check(
        &self,
        event: ExecutorEvent,
        phase_run: &PhaseRun<'_>,
        listener: &mut dyn RunListener,
    ) -> Result<bool, RunError> {
        let (phase, competition_id) = (phase_run.context.phase, &phase_run.context.competition_id);
        let dependents = revoke::Dependents {
            stages: phase_run.depends_on_results || phase_run.context.in_order(),
            bots: phase_run.context.in_order(),
        };
        let (revoked, on_stored) = match event {
            ExecutorEvent::Banned { worker, reason, on_stored } => {
                let future =
                    revoke::ban_worker(self.ledger, competition_id, phase, &worker, &reason, dependents);
                let revoked = self.runtime.block_on(future)?;
                tracing::warn!(target: NOTICE_TARGET, worker, reason, revoked, "worker banned");
                listener.event(&RunEvent::Banned { worker: &worker, reason: &reason, revoked });
                (revoked, on_stored)
            }
            ExecutorEvent::Outvoted { key, worker, reason, on_stored } => {
                let future =
                    revoke::revoke_match(self.ledger, competition_id, key, &worker, &reason, dependents);
                let revoked = self.runtime.block_on(future)?;
                if revoked > 0 {
                    let full_key = key.in_competition(competition_id);
                    tracing::warn!(target: NOTICE_TARGET, worker, "match" = %full_key, reason, revoked, "result outvoted");
                    listener.event(&RunEvent::Outvoted { key, worker: &worker, revoked });
                }
                (revoked, on_stored)
            }
            ExecutorEvent::Disputed { key, workers } => {
                let full_key = key.in_competition(competition_id);
                tracing::warn!(target: NOTICE_TARGET, ?workers, "match" = %full_key, "results differ, no majority");
                listener.event(&RunEvent::Disputed { key, workers: &workers });
                return Ok(false);
            }
            ExecutorEvent::RecordsRequested { key, reply } => {
                reply(self.match_records(key)?);
                return Ok(false);
            }
            ExecutorEvent::Played { .. } | ExecutorEvent::Failed(_) => return Ok(false),
        };
        if let Some(on_stored) = on_stored {
            on_stored();
        }
        Ok(revoked > 0)
    }

    /// Records of a match's games.
    fn match_records(&self, key: MatchKey) -> Result<Vec<Vec<u8>>, RunError> {
        let games = self.block_on(self.ledger.find(key))?.map_or(0, |one| one.result.games.len() as u32);
        let mut records = Vec::new();
        for game in 0..games {
            records.extend(self.block_on(self.ledger.record(key, game))?);
        }
        Ok(records)
    }

    fn append(&self, batch: &[FinishedMatch], phase_run: &mut PhaseRun<'_>) -> Result<(), RunError> {
        for one in batch {
            let MatchKey { stage, number, .. } = one.result.key;
            phase_run.results.tally.add(&one.result);
            phase_run.results.stages[stage as usize].insert(number);
        }
        phase_run.results.since_snapshot += batch.len() as u64;
        let snapshot = (phase_run.results.since_snapshot >= MATCHES_PER_SNAPSHOT)
            .then(|| Snapshot { phase: phase_run.context.phase, bytes: phase_run.results.tally.to_bytes() });
        if snapshot.is_some() {
            phase_run.results.since_snapshot = 0;
        }
        let appended = self.block_on(self.ledger.append(batch, snapshot.as_ref()))?;
        log_stored(batch, appended, &phase_run.context.competition_id);
        Ok(())
    }

    /// Restores the bots' `data/` folders and the logs of earlier phases. Logs of this phase are added stage by stage.
    fn restore_bot_data(&self, phase_run: &PhaseRun<'_>) -> Result<(), RunError> {
        let phase = phase_run.context.phase;
        let versions = self.block_on(self.ledger.bot_versions())?;
        for (number, loaded) in phase_run.context.entrants.iter().enumerate() {
            let (entrant, Some(folder)) = (Entrant(number as u32), loaded.data_dir()) else { continue };
            let stored = self.block_on(self.ledger.data_folder_before(entrant, phase, u32::MAX))?;
            let Some((key, data)) = stored else { continue };
            // A new version starts with its submitted data.
            let is_newer = |from: u32| from > key.phase && from <= phase;
            if !versions
                .iter()
                .any(|one| one.entrant == entrant && one.version > 1 && is_newer(one.from_phase))
            {
                data_dir::unpack(&data.bytes, folder)?;
            }
        }
        if phase_run.logs_dirs.is_empty() {
            return Ok(());
        }
        for earlier in 0..phase {
            for stage in 0..self.stage_count(earlier)? as u32 {
                phase_run
                    .logs_dirs
                    .add_stage_games(&self.finished_games(earlier, stage..stage + 1)?, true)?;
            }
        }
        Ok(())
    }

    fn stage_count(&self, phase: u32) -> Result<usize, RunError> {
        Ok(self.block_on(self.ledger.progress(phase))?.played.len())
    }

    /// Games of some stages, in the order of the schedule.
    fn finished_games(
        &self,
        phase: u32,
        stages: std::ops::Range<u32>,
    ) -> Result<Vec<FinishedGame>, RunError> {
        let filter = MatchFilter { stages, ..MatchFilter::default() };
        self.runtime.block_on(async {
            let mut games = Vec::new();
            let mut records = self.ledger.records(phase, filter.clone());
            let mut seats: Option<(MatchKey, Vec<Entrant>)> = None;
            while let Some(one) = records.next().await {
                let one = one?;
                if seats.as_ref().is_none_or(|(key, _)| *key != one.key) {
                    let found = self.ledger.find(one.key).await?;
                    seats = Some((one.key, found.map_or_else(Vec::new, |found| found.result.entrants())));
                }
                let seats = seats.as_ref().map_or_else(Vec::new, |(_, seats)| seats.clone());
                games.push(FinishedGame { seats, record: one.bytes });
            }
            Ok(games)
        })
    }
}

/// Logs the matches of a transaction.
fn log_stored(batch: &[FinishedMatch], appended: AppendResult, competition_id: &str) {
    let what = match appended {
        AppendResult { already_stored: 0, .. } => "match stored",
        AppendResult { new: 0, .. } => "match is already in the ledger",
        AppendResult { .. } => "match stored or already in the ledger",
    };
    for one in batch {
        tracing::info!(
            "match" = %one.result.key.in_competition(competition_id),
            games = one.result.games.len(),
            faults = one.faults.len(),
            worker = one.worker.as_deref(),
            "{what}"
        );
    }
}

/// Games of the matches of a batch.
fn games_of_batch(batch: &[FinishedMatch]) -> Vec<FinishedGame> {
    let mut games = Vec::new();
    for one in batch {
        let seats = one.result.entrants();
        let records = one.games.iter().filter_map(|game| game.record.clone());
        games.extend(records.map(|record| FinishedGame { seats: seats.clone(), record }));
    }
    games
}
