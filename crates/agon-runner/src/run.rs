//! Runs a competition, phase by phase and stage by stage, and goes on where it stopped.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use agon_core::record::Digest;
use agon_core::{Assets, GameInfo};
use agon_engine::Table;
use agon_engine::table::seat_hash;
use agon_league::config::{CompetitionConfig, PhaseConfig, StopRule as PhaseStop};
use agon_league::format::{PhaseHistory, PhaseSchedule, Stage, MatchVerdict};
use agon_league::standings::{self, Standings};
use agon_league::tally::Tally;
use agon_league::{Entrant, MatchKey};
use agon_store::{
    FinishedMatch, Ledger, MatchFilter, PhaseState, Ranges, SecretSeed, Snapshot, StoreError, NewBotVersion, Timestamp,
};
use futures_util::StreamExt as _;
use sha2::{Digest as _, Sha256};
use tokio::runtime::Runtime;

use crate::logs_dirs::{LogsDirs, FinishedGame};
use crate::event::{Event, Listener};
use crate::executor::{Executor, ExecutorEvent};
use crate::match_runner::{PhaseContext, LoadedEntrant};
use crate::local::ActiveMatches;
use crate::queue::Queue;
use crate::rulings::Rulings;
use crate::stop_flag::StopFlag;
use crate::phase_results::PhaseResults;
use crate::{RunError, data_dir, phase_results, revoke};

/// A snapshot is kept every so many matches: reading so many one by one takes no time anybody would notice.
const SNAPSHOT: u64 = 16_384;
/// How often those who look on are told that time passes.
const TICK: Duration = Duration::from_millis(500);
/// The balance of at most so many matches is told.
const BALANCED: u64 = 100_000;
/// At most so many matches in one transaction.
const GATHERED: usize = 1024;

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunOutcome {
    /// All phases were played.
    Over,
    /// This phase, from 0, waits for bots to be handed in anew; running again starts it.
    Waiting(u32),
    /// Somebody asked it to stop.
    Stopped,
}

/// A competition about to be run.
pub struct CompetitionRun<'r> {
    /// What is run.
    pub competition: &'r CompetitionConfig,
    /// Its game.
    pub table: &'r dyn Table,
    /// Files in place of what the game ships.
    pub assets: &'r Assets,
    /// Where everything is kept.
    pub ledger: &'r dyn Ledger,
    /// What the ledger is used with.
    pub runtime: &'r Runtime,
    /// Where matches are played.
    pub executor: &'r dyn Executor,
    /// Who may ask it to stop.
    pub stop: &'r StopFlag,
    /// What is being played.
    pub boards: ActiveMatches,
}

/// A phase while it is played.
struct PhaseRun<'g> {
    hall: &'g PhaseContext<'g>,
    played: PhaseResults,
    /// Of the stages that are over, if the plan looks back.
    verdicts: Vec<Vec<MatchVerdict>>,
    chronicles: &'g LogsDirs<'g>,
    /// Whether what a stage shows depends on the stages before it.
    looks_back: bool,
    /// Whether something that was played does not count any more: the phase goes on from what is left.
    again: bool,
}

/// How a stage, or a phase, ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StageOutcome {
    /// All was played.
    Over,
    /// Somebody asked for it.
    Stopped,
    /// Something that was played does not count any more.
    Again,
}

impl CompetitionRun<'_> {
    /// Runs it. `lineup` gives the bots of a phase, by entrant.
    pub fn run<E: From<RunError>>(
        &self,
        lineup: &mut dyn FnMut(u32) -> Result<Vec<LoadedEntrant>, E>,
        listener: &mut dyn Listener,
    ) -> Result<RunOutcome, E> {
        let _claim = self.wait(self.ledger.claim())?;
        let secret = self.wait(self.ledger.secret())?;
        let phases = self.wait(self.ledger.phases())?;
        listener.event(&Event::Opened {
            competition: self.competition,
            commitment: secret.commitment().to_string(),
            resumed: phases.first().is_some_and(|first| first.state != PhaseState::Waiting),
        });
        let mut published = false;
        for (status, phase) in phases.iter().zip(&self.competition.phases) {
            let number = status.phase;
            if status.state >= PhaseState::Published {
                continue;
            }
            if phase.resubmit && published {
                listener.event(&Event::Waiting { phase: number, name: &phase.name });
                return Ok(RunOutcome::Waiting(number));
            }
            if self.stop.is_requested() {
                return Ok(RunOutcome::Stopped);
            }
            let members = lineup(number)?;
            self.submit(number, status.state, &members)?;
            if let Some(before) = number.checked_sub(1) {
                self.wait(self.ledger.close(before, Timestamp::now()))?;
            }
            self.wait(self.ledger.start(number, Timestamp::now()))?;
            if !self.phase(number, phase, &members, &secret, listener)? {
                return Ok(RunOutcome::Stopped);
            }
            published = true;
        }
        if let Some(last) = phases.last() {
            self.wait(self.ledger.close(last.phase, Timestamp::now()))?;
        }
        self.wait(self.ledger.reveal(Timestamp::now()))?;
        listener.event(&Event::Over { seed: secret.expose().to_owned() });
        Ok(RunOutcome::Over)
    }

    fn wait<T>(&self, doing: impl Future<Output = agon_store::Result<T>>) -> Result<T, RunError> {
        Ok(self.runtime.block_on(doing)?)
    }

    fn game(&self) -> &'static GameInfo {
        self.table.info()
    }

    /// Takes down which bots play. In a phase that has begun they must be those it began with.
    fn submit(&self, phase: u32, state: PhaseState, members: &[LoadedEntrant]) -> Result<(), RunError> {
        let known = self.wait(self.ledger.bots())?;
        for (number, member) in members.iter().enumerate() {
            let entrant = Entrant(number as u32);
            let hash = seat_hash(self.game(), &member.seating);
            let latest = known.iter().rfind(|one| one.entrant == entrant && one.from_phase <= phase);
            if latest.is_some_and(|latest| latest.hash == hash) {
                continue;
            }
            if let (PhaseState::Running, Some(latest)) = (state, latest) {
                let (name, phase) =
                    (member.name.clone(), self.competition.phases[phase as usize].name.clone());
                return Err(RunError::Changed { name, phase, was: latest.hash.clone(), is: hash });
            }
            let spec = member.seating.spec();
            let commit = member.commit.clone();
            let bot =
                NewBotVersion { entrant, hash, spec, commit, archive: None, from_phase: phase, at: Timestamp::now() };
            self.wait(self.ledger.submit(&bot))?;
        }
        Ok(())
    }

    /// Plays a phase to its end and publishes its table; `false` if it was stopped before.
    fn phase(
        &self,
        number: u32,
        phase: &PhaseConfig,
        members: &[LoadedEntrant],
        secret: &SecretSeed,
        listener: &mut dyn Listener,
    ) -> Result<bool, RunError> {
        let plan = self.runtime.block_on(phase_results::plan(
            self.ledger,
            self.competition,
            self.game(),
            number,
            secret,
        ))?;
        let hall = PhaseContext::new(self.table, self.assets, number, phase, members, secret)?;
        let chronicles = LogsDirs::new(self.table, self.assets, members)?;
        // Before anything is brought back: what bots were handed in with.
        let folders = members.iter().filter_map(LoadedEntrant::data);
        let own =
            folders.map(|folder| Ok((folder, data_dir::pack(folder)?))).collect::<io::Result<Vec<_>>>()?;
        loop {
            match self.stages(number, phase, &*plan, &hall, &chronicles, listener)? {
                StageOutcome::Over => return Ok(true),
                StageOutcome::Stopped => return Ok(false),
                StageOutcome::Again => {
                    chronicles.forget()?;
                    // What is there may be of matches that were taken back; a bot that has played none since finds nothing of them.
                    for (folder, packed) in &own {
                        data_dir::unpack(packed, folder)?;
                    }
                }
            }
        }
    }

    /// Plays what is missing of a phase's stages, and publishes its table.
    fn stages(
        &self,
        number: u32,
        phase: &PhaseConfig,
        plan: &dyn PhaseSchedule,
        hall: &PhaseContext<'_>,
        chronicles: &LogsDirs<'_>,
        listener: &mut dyn Listener,
    ) -> Result<StageOutcome, RunError> {
        let played = self.runtime.block_on(phase_results::all_played(self.ledger, self.game(), number))?;
        let done = played.matches();
        listener.event(&Event::Phase { phase: number, name: &phase.name, expected: plan.expected(), done });
        let mut going = PhaseRun {
            hall,
            played,
            verdicts: Vec::new(),
            chronicles,
            looks_back: plan.depends_on_results() || phase.stop != PhaseStop::Played,
            again: false,
        };
        // Counting millions of fixtures would hold up the first of them.
        let told = plan.expected().1 <= BALANCED;
        if told && !plan.depends_on_results() {
            listener.event(&Event::Balance { phase: number, report: &plan.balance(&PhaseHistory::default()) });
        }
        self.bring_back(&going)?;
        for stage_number in 0.. {
            let stage = {
                let (open, order) = self.still_open(number, phase, stage_number, &going)?;
                let past = PhaseHistory { stages: &going.verdicts, open: &open, order: &order };
                plan.stage(stage_number, &past)
            };
            let Some(stage) = stage else { break };
            let end = self.stage(stage_number, &*stage, &mut going, listener)?;
            if end != StageOutcome::Over {
                return Ok(end);
            }
            if plan.depends_on_results() {
                going.verdicts.push(self.verdicts(number, phase, stage_number)?);
            }
        }
        if told && plan.depends_on_results() {
            let past = PhaseHistory { stages: &going.verdicts, ..PhaseHistory::default() };
            listener.event(&Event::Balance { phase: number, report: &plan.balance(&past) });
        }
        self.publish(number, phase, &going.played, listener)?;
        Ok(StageOutcome::Over)
    }

    /// What a stage that is over means for who goes on.
    fn verdicts(&self, number: u32, phase: &PhaseConfig, stage: u32) -> Result<Vec<MatchVerdict>, RunError> {
        let forfeits =
            if phase.format.is_bracket() { self.wait(self.ledger.forfeits(number))? } else { Vec::new() };
        self.runtime.block_on(phase_results::verdicts(self.ledger, self.game(), number, stage, &forfeits))
    }

    /// Whose place is open when a stage begins, and the order then: the same however often the run was stopped since.
    fn still_open(
        &self,
        number: u32,
        phase: &PhaseConfig,
        stage: u32,
        going: &PhaseRun<'_>,
    ) -> Result<(Vec<Entrant>, Vec<Entrant>), RunError> {
        if phase.stop == PhaseStop::Played || stage == 0 {
            return Ok((Vec::new(), Vec::new()));
        }
        let asked = phase_results::standings_request(self.competition, self.game(), phase, &[]);
        let figures = |tally: &Tally| (standings::open(tally, &asked), standings::order(tally, &asked));
        if going.played.stages.iter().skip(stage as usize).all(Ranges::is_empty) {
            return Ok(figures(&going.played.tally));
        }
        let tally = phase_results::tally_before(self.ledger, self.game(), number, stage);
        Ok(figures(&self.runtime.block_on(tally)?))
    }

    fn publish(
        &self,
        number: u32,
        phase: &PhaseConfig,
        played: &PhaseResults,
        listener: &mut dyn Listener,
    ) -> Result<(), RunError> {
        loop {
            let rulings = self.runtime.block_on(Rulings::of(self.ledger))?;
            let standings = self.runtime.block_on(self.standings(number, played, &rulings))?;
            let table = Digest(Sha256::digest(standings.json().to_string().as_bytes()).into());
            let under = rulings.in_force();
            match self.runtime.block_on(self.ledger.publish(number, table, &under, Timestamp::now())) {
                // Somebody has just decided something.
                Err(StoreError::Ruled { .. }) => {}
                done => {
                    done?;
                    let matches = standings.matches;
                    listener.event(&Event::Published { phase: number, name: &phase.name, matches });
                    return Ok(());
                }
            }
        }
    }

    /// The table of what was played, by the rulings in force.
    async fn standings(
        &self,
        number: u32,
        played: &PhaseResults,
        rulings: &Rulings,
    ) -> Result<Standings, RunError> {
        let (ledger, game, under) = (self.ledger, self.game(), rulings.in_force());
        let counted = if rulings.voided(number, &under).is_empty() {
            None
        } else {
            Some(phase_results::played_under(ledger, game, number, rulings, &under).await?)
        };
        let counted = counted.as_ref().unwrap_or(played);
        let standings = phase_results::standings_from(ledger, self.competition, game, number, counted, rulings);
        Ok(standings.await?.without_times())
    }

    /// Plays what is missing of a stage.
    fn stage(
        &self,
        number: u32,
        stage: &dyn Stage,
        going: &mut PhaseRun<'_>,
        listener: &mut dyn Listener,
    ) -> Result<StageOutcome, RunError> {
        let phase = going.hall.phase;
        going.played.stages.resize(going.played.stages.len().max(number as usize + 1), Ranges::new());
        let done = &going.played.stages[number as usize];
        let todo: Vec<_> = done.gaps(stage.len()).collect();
        let (name, matches, done) = (stage.name(), stage.len(), done.len());
        listener.event(&Event::Stage { phase, stage: number, name, matches, done });
        if done > 0 && !going.chronicles.is_empty() {
            // Played in an earlier run: those who played them had their logs of them then.
            going.chronicles.add_own(&self.told(phase, number..number + 1)?)?;
        }
        let hall = going.hall;
        // Where matches are played in order nobody can look again: what bots had with them then is not known any more.
        let owes = || !hall.in_order() && self.executor.has_pending_checks(phase, number);
        if !todo.is_empty() || owes() {
            let queue = Queue::new(stage, todo, hall.in_order(), self.stop);
            self.executor.play(hall, number, &queue, &self.boards, &mut |played| {
                self.keep(&played, going, listener)
            })?;
            if going.again {
                return Ok(StageOutcome::Again);
            }
            let played = going.played.stages[number as usize].len();
            if played < stage.len() || owes() {
                return Ok(StageOutcome::Stopped);
            }
        }
        if !going.chronicles.is_empty() {
            let games = self.told(phase, number..number + 1)?;
            going.chronicles.add(&games, false)?;
        }
        Ok(StageOutcome::Over)
    }

    /// Keeps what was played, as much of it at once as there is.
    fn keep(
        &self,
        played: &Receiver<ExecutorEvent>,
        going: &mut PhaseRun<'_>,
        listener: &mut dyn Listener,
    ) -> Result<(), RunError> {
        let mut ticked = Instant::now();
        loop {
            if ticked.elapsed() >= TICK {
                let playing = self.boards.playing();
                listener.event(&Event::Tick { playing: &playing, tally: &going.played.tally });
                ticked = Instant::now();
            }
            let lot = match played.recv_timeout(TICK) {
                Ok(lot) => lot,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            };
            let (mut batch, mut kept, mut last) = (Vec::new(), Vec::new(), None);
            for lot in std::iter::once(lot).chain(std::iter::from_fn(|| played.try_recv().ok())) {
                match lot {
                    ExecutorEvent::Played { matches, kept: then } => {
                        batch.extend(matches);
                        kept.extend(then);
                    }
                    other => last = Some(other),
                }
                if batch.len() >= GATHERED || last.is_some() {
                    break;
                }
            }
            self.append(&batch, going)?;
            if !self.executor.is_local() && !going.chronicles.is_empty() {
                going.chronicles.add_own(&told_of(&batch))?;
            }
            for then in kept {
                then();
            }
            for one in &batch {
                listener.event(&Event::Match { result: &one.result, faults: &one.faults });
            }
            match last {
                None | Some(ExecutorEvent::Played { .. }) => {}
                Some(ExecutorEvent::Failed(error)) => return Err(error),
                Some(judged) => {
                    going.again = self.judge(judged, going, listener)?;
                    if going.again {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// What the executor thinks of workers and of matches they played; says whether something of this phase is to be played again because of it.
    fn judge(&self, lot: ExecutorEvent, going: &PhaseRun<'_>, listener: &mut dyn Listener) -> Result<bool, RunError> {
        let phase = going.hall.phase;
        let depends = revoke::Dependents {
            stages: going.looks_back || going.hall.in_order(),
            bots: going.hall.in_order(),
        };
        let (again, then) = match lot {
            ExecutorEvent::Barred { worker, why, then } => {
                let doing = revoke::ban_worker(self.ledger, phase, &worker, &why, depends);
                let again = self.runtime.block_on(doing)?;
                listener.event(&Event::Barred { worker: &worker, why: &why, again });
                (again, then)
            }
            ExecutorEvent::Outvoted { key, worker, why, then } => {
                let doing = revoke::revoke_match(self.ledger, key, &worker, &why, depends);
                let again = self.runtime.block_on(doing)?;
                if again > 0 {
                    listener.event(&Event::Outvoted { key, worker: &worker, again });
                }
                (again, then)
            }
            ExecutorEvent::Disputed { key, workers } => {
                listener.event(&Event::Disputed { key, workers: &workers });
                return Ok(false);
            }
            ExecutorEvent::RecordsRequested { key, reply: give } => {
                give(self.records_of(key)?);
                return Ok(false);
            }
            ExecutorEvent::Played { .. } | ExecutorEvent::Failed(_) => return Ok(false),
        };
        if let Some(then) = then {
            then();
        }
        Ok(again > 0)
    }

    /// The records of a match's games.
    fn records_of(&self, key: MatchKey) -> Result<Vec<Vec<u8>>, RunError> {
        let games = self.wait(self.ledger.find(key))?.map_or(0, |one| one.result.games.len() as u32);
        let mut records = Vec::new();
        for game in 0..games {
            records.extend(self.wait(self.ledger.record(key, game))?);
        }
        Ok(records)
    }

    fn append(&self, batch: &[FinishedMatch], going: &mut PhaseRun<'_>) -> Result<(), RunError> {
        for one in batch {
            let MatchKey { stage, number, .. } = one.result.key;
            going.played.tally.add(&one.result);
            going.played.stages[stage as usize].insert(number);
        }
        going.played.since += batch.len() as u64;
        let snapshot = (going.played.since >= SNAPSHOT)
            .then(|| Snapshot { phase: going.hall.phase, bytes: going.played.tally.to_bytes() });
        if snapshot.is_some() {
            going.played.since = 0;
        }
        self.wait(self.ledger.append(batch, snapshot.as_ref()))?;
        Ok(())
    }

    /// Gives bots back what they kept, and what they may read of earlier phases. Of this one they are told stage by stage.
    fn bring_back(&self, going: &PhaseRun<'_>) -> Result<(), RunError> {
        let phase = going.hall.phase;
        let versions = self.wait(self.ledger.bots())?;
        for (number, member) in going.hall.members.iter().enumerate() {
            let (entrant, Some(folder)) = (Entrant(number as u32), member.data()) else { continue };
            let kept = self.wait(self.ledger.data_before(entrant, phase, u32::MAX))?;
            let Some((key, data)) = kept else { continue };
            // A new version starts with what it was handed in with.
            let is_newer = |from: u32| from > key.phase && from <= phase;
            if !versions
                .iter()
                .any(|one| one.entrant == entrant && one.version > 1 && is_newer(one.from_phase))
            {
                data_dir::unpack(&data.bytes, folder)?;
            }
        }
        if going.chronicles.is_empty() {
            return Ok(());
        }
        for earlier in 0..phase {
            for stage in 0..self.stages_of(earlier)? as u32 {
                going.chronicles.add(&self.told(earlier, stage..stage + 1)?, true)?;
            }
        }
        Ok(())
    }

    fn stages_of(&self, phase: u32) -> Result<usize, RunError> {
        Ok(self.wait(self.ledger.progress(phase))?.stages.len())
    }

    /// The games of some stages, in the order of the schedule.
    fn told(&self, phase: u32, stages: std::ops::Range<u32>) -> Result<Vec<FinishedGame>, RunError> {
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

/// The games of matches that were just played, for those who played them.
fn told_of(batch: &[FinishedMatch]) -> Vec<FinishedGame> {
    let mut games = Vec::new();
    for one in batch {
        let seats = one.result.entrants();
        let records = one.games.iter().filter_map(|game| game.record.clone());
        games.extend(records.map(|record| FinishedGame { seats: seats.clone(), record }));
    }
    games
}
