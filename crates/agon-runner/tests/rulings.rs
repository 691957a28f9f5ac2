//! Rulings while a competition runs: their effect on tables and fields. A stopped and resumed run must give the same result as an
//! uninterrupted one.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use agon_core::{Assets, ErrorKind};
use agon_engine::{AnyGame, PlayerSpec, any_game};
use agon_league::config::CompetitionConfig;
use agon_league::standings::{Standings, TableCell};
use agon_league::{Entrant, MatchKey};
use agon_runner::{
    ActiveMatches, CompetitionRun, LoadedEntrant, LocalExecutor, RunError, RunEvent, RunListener, RunOutcome,
    StopFlag, phase_results, rulings,
};
use agon_store::{
    ConfigVersion, Ledger as _, MatchFilter, NewLedger, NewRuling, PhaseState, RulingKind, RulingLift,
    SecretSeed, SqliteLedger, Timestamp,
};
use futures_util::TryStreamExt as _;
use tempfile::TempDir;
use tokio::runtime::Runtime;

const BOTS: [&str; 4] = ["tactician", "line-counter", "stacker", "random"];

const LEAGUE: &str = "[[phase]]\nname = \"League\"\nformat = \"round-robin\"\nlegs = 2\n";
const KNOCKOUT_WITH_RESUBMIT: &str = "[[phase]]\nname = \"Cup\"\nformat = \"knockout\"\nresubmit = true\n";
const KNOCKOUT: &str = "[[phase]]\nname = \"Cup\"\nformat = \"knockout\"\nseeding = \"file\"\n";

/// A competition with its ledger in a temporary folder.
struct TestCompetition {
    config: CompetitionConfig,
    game: Box<dyn AnyGame>,
    ledger: SqliteLedger,
    runtime: Runtime,
    _folder: TempDir,
}

impl TestCompetition {
    fn new(phases: &str) -> Self {
        let mut text = "name = \"Cup\"\ngame = \"connect-five\"\nseed = \"for tests\"\n".to_owned();
        for phase in phases.split_inclusive("\n\n") {
            text +=
                &format!("\n{}parts = [{{ games = 1, first_to = 1, seconds = 1 }}]\n", phase.trim_start());
        }
        for bot in BOTS {
            text += &format!("\n[[entrant]]\nbot = \"house:{bot}\"\n");
        }
        let config = CompetitionConfig::read(&text).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let folder = TempDir::new().unwrap();
        let new_ledger = NewLedger {
            name: config.name.clone(),
            game: config.game.to_owned(),
            rules: 1,
            engine: "0".to_owned(),
            config: ConfigVersion {
                text: text.clone(),
                normalised: config.normalised().to_string(),
                at: Timestamp(0),
            },
            phases: config.phases.len() as u32,
            secret: SecretSeed::new("for tests"),
        };
        let ledger =
            runtime.block_on(SqliteLedger::create(folder.path().join("cup.ledger"), &new_ledger)).unwrap();
        let game = any_game(config.game).unwrap();
        Self { config, game, ledger, runtime, _folder: folder }
    }

    fn run(&self, stop: &StopFlag, listener: &mut dyn RunListener) -> RunOutcome {
        let assets = Assets::none();
        let run = CompetitionRun {
            run_through: false,
            competition: &self.config,
            game: self.game.as_ref(),
            assets: &assets,
            ledger: &self.ledger,
            runtime: &self.runtime,
            executor: &LocalExecutor { jobs: 1, pin: false },
            stop,
            active_matches: ActiveMatches::default(),
        };
        let member = |bot: &&str| LoadedEntrant {
            name: (*bot).to_owned(),
            player: PlayerSpec::House((*bot).to_owned()),
            commit: None,
            extra_file: None,
            says: agon_core::SelfDescription::default(),
        };
        let mut lineup = |_| Ok::<_, RunError>(BOTS.iter().map(member).collect());
        run.run(&mut lineup, listener).unwrap()
    }

    fn rule(&self, kind: RulingKind, reason: &str) -> Result<u64, RunError> {
        let ruling = NewRuling { kind, reason: reason.to_owned(), by: "Ada".to_owned(), at: Timestamp(7) };
        self.runtime.block_on(rulings::make_ruling(&self.ledger, &self.config, &ruling))
    }

    fn disqualify(&self, entrant: Entrant) {
        self.rule(RulingKind::Disqualify(entrant), "it reads the files of other bots").unwrap();
    }

    fn lift(&self, ruling: u64) {
        let lifted =
            RulingLift { reason: "the ruling was wrong".to_owned(), by: "Ada".to_owned(), at: Timestamp(8) };
        self.runtime.block_on(self.ledger.lift_ruling(ruling, &lifted)).unwrap();
    }

    fn standings(&self, phase: u32) -> Standings {
        let standings = phase_results::phase_standings(&self.ledger, &self.config, self.game.info(), phase);
        self.runtime.block_on(standings).unwrap()
    }

    /// All tables without times, and their published hashes.
    fn outcome(&self) -> Vec<String> {
        let hashes = self.runtime.block_on(self.ledger.phases()).unwrap();
        let tables =
            (0..hashes.len() as u32).map(|phase| self.standings(phase).without_times().json().to_string());
        tables.chain(hashes.iter().map(|phase| format!("{:?}", phase.table_hash))).collect()
    }

    fn field(&self, phase: u32) -> Vec<Entrant> {
        let field = phase_results::field(&self.ledger, &self.config, self.game.info(), phase);
        self.runtime.block_on(field).unwrap().entrants
    }
}

/// Runs an action when a stage starts.
struct AtStage<'a> {
    phase: u32,
    stage: u32,
    act: Option<Box<dyn FnOnce() + 'a>>,
}

impl RunListener for AtStage<'_> {
    fn event(&mut self, event: &RunEvent<'_>) {
        if let RunEvent::StageStarted { phase, stage, .. } = event
            && (*phase, *stage) == (self.phase, self.stage)
            && let Some(act) = self.act.take()
        {
            act();
        }
    }
}

/// Runs a competition to its end. `act` is called when a stage starts. If `stopped`, the run is stopped there and then resumed.
fn run_with(competition: &TestCompetition, (phase, stage): (u32, u32), stopped: bool, act: impl FnOnce()) {
    let stop = StopFlag::new();
    let then = || {
        act();
        if stopped {
            stop.request();
        }
    };
    let mut listener = AtStage { phase, stage, act: Some(Box::new(then)) };
    let mut ended = competition.run(&stop, &mut listener);
    assert!(!stopped || ended == RunOutcome::Stopped);
    while ended != RunOutcome::Finished {
        ended = competition.run(&StopFlag::new(), &mut listener);
    }
    assert!(listener.act.is_none());
}

fn official(standings: &Standings) -> Vec<(TableCell, Entrant)> {
    let table = &standings.tables[0];
    table.rows.iter().map(|row| (row.cells[0].clone(), row.entrant.unwrap())).collect()
}

#[test]
fn void_match_does_not_count_whether_ruled_during_or_after_the_run() {
    let void = |number| RulingKind::Void(MatchKey { phase: 0, stage: 0, number });
    // After the end: the published hash stays. The current table has a note about the difference.
    let competition = TestCompetition::new(LEAGUE);
    run_with(&competition, (0, 0), false, || {});
    let before = competition.outcome();
    let all = competition.standings(0);
    assert_eq!(competition.rule(void(0), "the power was cut").unwrap(), 1);
    let now = competition.standings(0);
    assert_eq!((now.matches, now.games), (all.matches - 1, all.games - 1));
    assert!(now.table("rulings").unwrap().notes[0].contains("after this phase's table was published"));
    let after = competition.outcome();
    assert_eq!(after[1], before[1], "the published hash");
    // The counted results equal a tally without that match.
    let info = competition.game.info();
    let mut tally = agon_league::Tally::new(info);
    let kept: Vec<_> = competition
        .runtime
        .block_on(competition.ledger.matches(0, MatchFilter::default()).try_collect())
        .unwrap();
    for one in &kept[1..] {
        tally.add(&one.result);
    }
    let played =
        competition.runtime.block_on(phase_results::counted_results(&competition.ledger, info, 0)).unwrap();
    assert!(played.tally.to_bytes() == tally.to_bytes() && played.match_count() == kept.len() as u64);
    // After the ruling is lifted, only the list of rulings differs.
    competition.lift(1);
    let again = competition.standings(0);
    assert_eq!(again.tables[0], all.tables[0]);
    assert!(again.table("rulings").unwrap().notes.is_empty());

    // During the run: stopped or not, the table and its hash are the same. In this round robin each round is a stage.
    let ruled = |stopped| {
        let competition = TestCompetition::new(LEAGUE);
        run_with(&competition, (0, 2), stopped, || {
            competition.rule(void(0), "the power was cut").unwrap();
        });
        assert!(competition.standings(0).rulings.iter().all(|one| !one.after_publication));
        assert_eq!(competition.standings(0).tables[0], now.tables[0]);
        competition.outcome()
    };
    assert_eq!(ruled(false), ruled(true));
}

#[test]
fn match_cannot_be_voided_where_later_matches_depend_on_it() {
    let swiss = "[[phase]]\nname = \"Swiss\"\nformat = \"swiss\"\nrounds = 1\n";
    let double = "[[phase]]\nname = \"Double\"\nformat = \"double-elimination\"\nseeding = \"file\"\n";
    for phases in [swiss, KNOCKOUT, double] {
        let competition = TestCompetition::new(phases);
        run_with(&competition, (0, 0), false, || {});
        let before = competition.outcome();
        let refused = competition
            .rule(RulingKind::Void(MatchKey { phase: 0, stage: 0, number: 0 }), "the power was cut")
            .unwrap_err();
        let text = refused.to_string();
        assert!(refused.kind() == ErrorKind::Usage && text.contains("match 1.1.1 cannot be void"), "{text}");
        assert!(text.contains("\nhint: disqualify"), "{text}");
        assert_eq!(competition.outcome(), before);
    }
    let settled = "name = \"S\"\ngame = \"solitude-scramble\"\n[[phase]]\nformat = \"groups\"\nstop = \"settled\"\nmost = 4\n";
    let bots = "[[entrant]]\nbot = \"house:left\"\n[[entrant]]\nbot = \"house:random\"\n\
                [[entrant]]\nbot = \"house:greedy\"\n[[entrant]]\nname = \"x\"\nbot = \"house:left\"\n";
    assert!(CompetitionConfig::read(&format!("{settled}{bots}")).unwrap().phases[0].depends_on_results());
    assert!(!TestCompetition::new(LEAGUE).config.phases[0].depends_on_results());
}

#[test]
fn entrant_disqualified_between_phases_does_not_play_the_next_phase() {
    let competition = TestCompetition::new(&format!("{LEAGUE}\n{KNOCKOUT_WITH_RESUBMIT}"));
    assert_eq!(competition.run(&StopFlag::new(), &mut ()), RunOutcome::Waiting(1));
    let before = official(&competition.standings(0));
    let (best, worst) = (before[0].1, before[3].1);
    assert_eq!(competition.field(1)[0], best);
    competition.disqualify(best);
    let league = official(&competition.standings(0));
    assert_eq!((&league[0], &league[3]), (&(TableCell::Int(1), before[1].1), &(TableCell::Empty, best)));
    assert_eq!(competition.field(1), [before[1].1, before[2].1, worst]);
    // Once the phase has started, later rulings and lifts do not change its field.
    run_with(&competition, (1, 1), true, || {
        competition.lift(1);
        competition.disqualify(worst);
    });
    assert_eq!(competition.field(1), [before[1].1, before[2].1, worst]);
    let matches: Vec<_> = competition
        .runtime
        .block_on(competition.ledger.matches(1, MatchFilter::default()).try_collect())
        .unwrap();
    assert!(!matches.is_empty() && matches.iter().all(|one| !one.result.entrants().contains(&best)));
    let knockout = official(&competition.standings(1));
    assert_eq!(knockout.last(), Some(&(TableCell::Empty, worst)), "disqualified during the phase");
    let phases = competition.runtime.block_on(competition.ledger.phases()).unwrap();
    assert_eq!((phases[1].state, &phases[1].rulings_at_start[..]), (PhaseState::Closed, &[1][..]));
    assert_eq!(phases[1].rulings_at_publication, [2]);
}

#[test]
fn entrant_disqualified_in_a_bracket_forfeits_matches_that_end_later() {
    let fair = TestCompetition::new(KNOCKOUT);
    run_with(&fair, (0, 0), false, || {});
    let best = official(&fair.standings(0))[0].1;
    let mut outcomes = Vec::new();
    for (stage, stopped) in [(1, false), (1, true), (0, false), (0, true)] {
        let competition = TestCompetition::new(KNOCKOUT);
        run_with(&competition, (0, stage), stopped, || competition.disqualify(best));
        let forfeits = competition.runtime.block_on(competition.ledger.forfeits(0)).unwrap();
        // A tie has two matches. The loser of the first round plays no second round.
        assert_eq!(forfeits.len(), 2);
        assert!(forfeits.iter().all(|(key, entrant)| (key.stage, *entrant) == (stage, best)));
        let table = official(&competition.standings(0));
        assert_eq!((&table[0].0, table[3].clone()), (&TableCell::Int(1), (TableCell::Empty, best)));
        outcomes.push(competition.outcome());
        // After the ruling is lifted, the forfeited matches stay lost, but the entrant has a place again.
        competition.lift(1);
        let (place, last) =
            official(&competition.standings(0)).into_iter().find(|(_, one)| *one == best).unwrap();
        assert_eq!((place, last), (TableCell::Int(if stage == 1 { 2 } else { 3 }), best));
    }
    assert_eq!(outcomes[0], outcomes[1]);
    assert_eq!(outcomes[2], outcomes[3]);
}

#[test]
fn entrant_disqualified_in_a_league_continues_to_play() {
    let fair = TestCompetition::new(LEAGUE);
    run_with(&fair, (0, 0), false, || {});
    let best = official(&fair.standings(0))[0].1;
    let competition = TestCompetition::new(LEAGUE);
    run_with(&competition, (0, 1), true, || competition.disqualify(best));
    let (ruled, all) = (competition.standings(0), fair.standings(0));
    assert_eq!((ruled.matches, &ruled.head_to_head.len()), (all.matches, &all.head_to_head.len()));
    assert_eq!(official(&ruled)[3], (TableCell::Empty, best));
    competition.lift(1);
    assert_eq!(competition.standings(0).tables[0], all.tables[0], "the same games were played");
}
