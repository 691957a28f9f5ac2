//! Runs a competition phase by phase and stage by stage. Resumes after a stop.

mod bot_data;
mod publish;
mod store_results;

use std::io;

use agon_core::{Assets, GameInfo};
use agon_engine::AnyGame;
use agon_engine::any_game::bot_hash;
use agon_league::Entrant;
use agon_league::config::{CompetitionConfig, PhaseConfig, StopRule};
use agon_league::format::{MatchVerdict, PhaseHistory, PhaseSchedule, Stage};
use agon_league::standings;
use agon_league::tally::Tally;
use agon_store::{Ledger, NewBotVersion, PhaseState, Ranges, SecretSeed, Timestamp};
use tokio::runtime::Runtime;

use crate::event::{RunEvent, RunListener};
use crate::executor::Executor;
use crate::local::ActiveMatches;
use crate::logs_dirs::LogsDirs;
use crate::phase_context::{LoadedEntrant, PhaseContext};
use crate::phase_results::PhaseResults;
use crate::queue::MatchQueue;
use crate::shown_entrants::shown_entrants;
use crate::stop_flag::StopFlag;
use crate::{RunError, data_dir, phase_results};

/// Maximum number of matches of a phase for which the balance is computed.
const MAX_MATCHES_FOR_BALANCE: u64 = 100_000;

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
    /// Whether to play all phases without a break, also those before which bots can be resubmitted.
    pub run_through: bool,
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
            if phase.resubmit && published && !self.run_through {
                listener.event(&RunEvent::Waiting { phase: number, name: &phase.name });
                return Ok(RunOutcome::Waiting(number));
            }
            if self.stop.is_requested() {
                return Ok(RunOutcome::Stopped);
            }
            let mut entrants = load_bots(number)?;
            self.record_bot_versions(number, status.state, &entrants)?;
            self.show_own_names(number, &mut entrants)?;
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
                says: loaded.says.clone(),
            };
            self.block_on(self.ledger.add_bot_version(&bot))?;
        }
        Ok(())
    }

    /// Gives the bots of a phase the names that tables show. They come from the ledger, so that they never change within a phase.
    fn show_own_names(&self, phase: u32, entrants: &mut [LoadedEntrant]) -> Result<(), RunError> {
        let shown = shown_entrants(self.ledger, self.competition, phase);
        for (loaded, shown) in entrants.iter_mut().zip(self.runtime.block_on(shown)?) {
            loaded.rename(shown.name);
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
            let queue = MatchQueue::new(stage, todo, context.in_order(), self.stop)
                .with_free_entrants(context.entrants_without_data());
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
}
