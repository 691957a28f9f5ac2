//! Rulings while a competition runs: what counts, who goes on, and that a run which was stopped ends as one that was not.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use agon_core::Assets;
use agon_engine::{Seating, Table, table};
use agon_league::config::CompetitionConfig;
use agon_league::standings::{Cell, Standings};
use agon_league::{Entrant, MatchKey};
use agon_runner::{ActiveMatches, RunOutcome, Event, Listener, LocalExecutor, LoadedEntrant, CompetitionRun, RunError, StopFlag, rulings, phase_results};
use agon_store::{
    ConfigVersion, NewLedger, Ledger as _, Lifted, MatchFilter, NewRuling, PhaseState, RulingKind, SecretSeed,
    SqliteLedger, Timestamp,
};
use futures_util::TryStreamExt as _;
use tempfile::TempDir;
use tokio::runtime::Runtime;

const BOTS: [&str; 4] = ["tactician", "line-counter", "stacker", "random"];

const LEAGUE: &str = "[[phase]]\nname = \"League\"\nformat = \"round-robin\"\nlegs = 2\n";
const THEN_KNOCKOUT: &str = "[[phase]]\nname = \"Cup\"\nformat = \"knockout\"\nresubmit = true\n";
const KNOCKOUT: &str = "[[phase]]\nname = \"Cup\"\nformat = \"knockout\"\nseeding = \"file\"\n";

/// A competition with its ledger in a folder of its own.
struct Cup {
    competition: CompetitionConfig,
    table: Box<dyn Table>,
    ledger: SqliteLedger,
    runtime: Runtime,
    _folder: TempDir,
}

impl Cup {
    fn new(phases: &str) -> Self {
        let mut text = "name = \"Cup\"\ngame = \"connect-five\"\nseed = \"for tests\"\n".to_owned();
        for phase in phases.split_inclusive("\n\n") {
            text +=
                &format!("\n{}parts = [{{ games = 1, first_to = 1, seconds = 1 }}]\n", phase.trim_start());
        }
        for bot in BOTS {
            text += &format!("\n[[entrant]]\nbot = \"house:{bot}\"\n");
        }
        let competition = CompetitionConfig::read(&text).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let folder = TempDir::new().unwrap();
        let founding = NewLedger {
            name: competition.name.clone(),
            game: competition.game.to_owned(),
            rules: 1,
            engine: "0".to_owned(),
            edition: ConfigVersion {
                file: text.clone(),
                normal: competition.normalised().to_string(),
                at: Timestamp(0),
            },
            phases: competition.phases.len() as u32,
            secret: SecretSeed::new("for tests"),
        };
        let ledger =
            runtime.block_on(SqliteLedger::create(folder.path().join("cup.ledger"), &founding)).unwrap();
        let table = table(competition.game).unwrap();
        Self { competition, table, ledger, runtime, _folder: folder }
    }

    fn run(&self, stop: &StopFlag, listener: &mut dyn Listener) -> RunOutcome {
        let assets = Assets::none();
        let run = CompetitionRun {
            competition: &self.competition,
            table: self.table.as_ref(),
            assets: &assets,
            ledger: &self.ledger,
            runtime: &self.runtime,
            executor: &LocalExecutor { jobs: 1, pin: false },
            stop,
            boards: ActiveMatches::default(),
        };
        let member = |bot: &&str| LoadedEntrant {
            name: (*bot).to_owned(),
            seating: Seating::House((*bot).to_owned()),
            commit: None,
            extra_file: None,
        };
        let mut lineup = |_| Ok::<_, RunError>(BOTS.iter().map(member).collect());
        run.run(&mut lineup, listener).unwrap()
    }

    fn rule(&self, kind: RulingKind, reason: &str) -> Result<u64, RunError> {
        let ruling = NewRuling { kind, reason: reason.to_owned(), by: "Ada".to_owned(), at: Timestamp(7) };
        self.runtime.block_on(rulings::rule(&self.ledger, &self.competition, &ruling))
    }

    fn disqualify(&self, entrant: Entrant) {
        self.rule(RulingKind::Disqualify(entrant), "it reads the others' files").unwrap();
    }

    fn lift(&self, ruling: u64) {
        let lifted = Lifted { reason: "it was wrong".to_owned(), by: "Ada".to_owned(), at: Timestamp(8) };
        self.runtime.block_on(self.ledger.lift(ruling, &lifted)).unwrap();
    }

    fn table(&self, phase: u32) -> Standings {
        let standings = phase_results::standings_of(&self.ledger, &self.competition, self.table.info(), phase);
        self.runtime.block_on(standings).unwrap()
    }

    /// All tables without times, and their published hashes.
    fn outcome(&self) -> Vec<String> {
        let hashes = self.runtime.block_on(self.ledger.phases()).unwrap();
        let tables =
            (0..hashes.len() as u32).map(|phase| self.table(phase).without_times().json().to_string());
        tables.chain(hashes.iter().map(|phase| format!("{:?}", phase.table))).collect()
    }

    fn field(&self, phase: u32) -> Vec<Entrant> {
        let field = phase_results::field(&self.ledger, &self.competition, self.table.info(), phase);
        self.runtime.block_on(field).unwrap().entrants
    }
}

/// Does something when a stage begins, or a phase's last match was played.
struct At<'a> {
    phase: u32,
    stage: u32,
    act: Option<Box<dyn FnOnce() + 'a>>,
}

impl Listener for At<'_> {
    fn event(&mut self, event: &Event<'_>) {
        if let Event::Stage { phase, stage, .. } = event
            && (*phase, *stage) == (self.phase, self.stage)
            && let Some(act) = self.act.take()
        {
            act();
        }
    }
}

/// Runs to the end; `act` happens when a stage begins. If `stopped`, the run is stopped there, and goes on.
fn run_with(cup: &Cup, (phase, stage): (u32, u32), stopped: bool, act: impl FnOnce()) {
    let stop = StopFlag::new();
    let then = || {
        act();
        if stopped {
            stop.request();
        }
    };
    let mut listener = At { phase, stage, act: Some(Box::new(then)) };
    let mut ended = cup.run(&stop, &mut listener);
    assert!(!stopped || ended == RunOutcome::Stopped);
    while ended != RunOutcome::Over {
        ended = cup.run(&StopFlag::new(), &mut listener);
    }
    assert!(listener.act.is_none());
}

fn official(standings: &Standings) -> Vec<(Cell, Entrant)> {
    let sheet = &standings.sheets[0];
    sheet.rows.iter().map(|row| (row.cells[0].clone(), row.entrant.unwrap())).collect()
}

#[test]
fn a_void_match_counts_for_nothing_whenever_it_was_ruled() {
    let void = |number| RulingKind::Void(MatchKey { phase: 0, stage: 0, number });
    // After the end: the published table stays what it was, the table shown says why it differs.
    let cup = Cup::new(LEAGUE);
    run_with(&cup, (0, 0), false, || {});
    let before = cup.outcome();
    let all = cup.table(0);
    assert_eq!(cup.rule(void(0), "the power was cut").unwrap(), 1);
    let now = cup.table(0);
    assert_eq!((now.matches, now.games), (all.matches - 1, all.games - 1));
    assert!(now.sheet("rulings").unwrap().notes[0].contains("after this phase's table was published"));
    let after = cup.outcome();
    assert_eq!(after[1], before[1], "the published hash");
    // What counts is what a fold without that match gives.
    let info = cup.table.info();
    let mut tally = agon_league::Tally::new(info);
    let kept: Vec<_> =
        cup.runtime.block_on(cup.ledger.matches(0, MatchFilter::default()).try_collect()).unwrap();
    for one in &kept[1..] {
        tally.add(&one.result);
    }
    let played = cup.runtime.block_on(phase_results::played(&cup.ledger, info, 0)).unwrap();
    assert!(played.tally.to_bytes() == tally.to_bytes() && played.matches() == kept.len() as u64);
    // Lifted, all is as it was, but for the list.
    cup.lift(1);
    let again = cup.table(0);
    assert_eq!(again.sheets[0], all.sheets[0]);
    assert!(again.sheet("rulings").unwrap().notes.is_empty());

    // While it runs: stopped or not, the same table with the same hash. A round robin of bots that live for a match has a stage a round.
    let ruled = |stopped| {
        let cup = Cup::new(LEAGUE);
        run_with(&cup, (0, 2), stopped, || {
            cup.rule(void(0), "the power was cut").unwrap();
        });
        assert!(cup.table(0).rulings.iter().all(|one| !one.late));
        assert_eq!(cup.table(0).sheets[0], now.sheets[0]);
        cup.outcome()
    };
    assert_eq!(ruled(false), ruled(true));
}

#[test]
fn where_later_matches_depend_on_it_nothing_is_void() {
    let swiss = "[[phase]]\nname = \"Swiss\"\nformat = \"swiss\"\nrounds = 1\n";
    let double = "[[phase]]\nname = \"Double\"\nformat = \"double-elimination\"\nseeding = \"file\"\n";
    for phases in [swiss, KNOCKOUT, double] {
        let cup = Cup::new(phases);
        run_with(&cup, (0, 0), false, || {});
        let before = cup.outcome();
        let refused = cup
            .rule(RulingKind::Void(MatchKey { phase: 0, stage: 0, number: 0 }), "the power was cut")
            .unwrap_err();
        let text = refused.to_string();
        assert!(refused.is_wrong_use() && text.contains("match 1.1.1 cannot be void"), "{text}");
        assert!(text.contains("\nhint: disqualify"), "{text}");
        assert_eq!(cup.outcome(), before);
    }
    let settled = "name = \"S\"\ngame = \"solitude-scramble\"\n[[phase]]\nformat = \"groups\"\nstop = \"settled\"\nmost = 4\n";
    let bots = "[[entrant]]\nbot = \"house:left\"\n[[entrant]]\nbot = \"house:random\"\n\
                [[entrant]]\nbot = \"house:greedy\"\n[[entrant]]\nname = \"x\"\nbot = \"house:left\"\n";
    assert!(CompetitionConfig::read(&format!("{settled}{bots}")).unwrap().phases[0].looks_back());
    assert!(!Cup::new(LEAGUE).competition.phases[0].looks_back());
}

#[test]
fn who_is_disqualified_between_two_phases_does_not_play_the_next() {
    let cup = Cup::new(&format!("{LEAGUE}\n{THEN_KNOCKOUT}"));
    assert_eq!(cup.run(&StopFlag::new(), &mut ()), RunOutcome::Waiting(1));
    let before = official(&cup.table(0));
    let (best, worst) = (before[0].1, before[3].1);
    assert_eq!(cup.field(1)[0], best);
    cup.disqualify(best);
    let league = official(&cup.table(0));
    assert_eq!((&league[0], &league[3]), (&(Cell::Int(1), before[1].1), &(Cell::Empty, best)));
    assert_eq!(cup.field(1), [before[1].1, before[2].1, worst]);
    // Once it has begun, nothing that is ruled or lifted changes who plays it.
    run_with(&cup, (1, 1), true, || {
        cup.lift(1);
        cup.disqualify(worst);
    });
    assert_eq!(cup.field(1), [before[1].1, before[2].1, worst]);
    let matches: Vec<_> =
        cup.runtime.block_on(cup.ledger.matches(1, MatchFilter::default()).try_collect()).unwrap();
    assert!(!matches.is_empty() && matches.iter().all(|one| !one.result.entrants().contains(&best)));
    let knockout = official(&cup.table(1));
    assert_eq!(knockout.last(), Some(&(Cell::Empty, worst)), "disqualified while it was played");
    let phases = cup.runtime.block_on(cup.ledger.phases()).unwrap();
    assert_eq!((phases[1].state, &phases[1].started_under[..]), (PhaseState::Closed, &[1][..]));
    assert_eq!(phases[1].published_under, [2]);
}

#[test]
fn in_a_bracket_who_is_disqualified_loses_what_ends_after_it() {
    let fair = Cup::new(KNOCKOUT);
    run_with(&fair, (0, 0), false, || {});
    let best = official(&fair.table(0))[0].1;
    let mut outcomes = Vec::new();
    for (stage, stopped) in [(1, false), (1, true), (0, false), (0, true)] {
        let cup = Cup::new(KNOCKOUT);
        run_with(&cup, (0, stage), stopped, || cup.disqualify(best));
        let forfeits = cup.runtime.block_on(cup.ledger.forfeits(0)).unwrap();
        // A tie is two matches; who loses the first round plays no second one.
        assert_eq!(forfeits.len(), 2);
        assert!(forfeits.iter().all(|(key, entrant)| (key.stage, *entrant) == (stage, best)));
        let table = official(&cup.table(0));
        assert_eq!((&table[0].0, table[3].clone()), (&Cell::Int(1), (Cell::Empty, best)));
        outcomes.push(cup.outcome());
        // Lifted after all: what it lost stays lost, but it has a place again.
        cup.lift(1);
        let (place, last) = official(&cup.table(0)).into_iter().find(|(_, one)| *one == best).unwrap();
        assert_eq!((place, last), (Cell::Int(if stage == 1 { 2 } else { 3 }), best));
    }
    assert_eq!(outcomes[0], outcomes[1]);
    assert_eq!(outcomes[2], outcomes[3]);
}

#[test]
fn in_a_league_who_is_disqualified_plays_on() {
    let fair = Cup::new(LEAGUE);
    run_with(&fair, (0, 0), false, || {});
    let best = official(&fair.table(0))[0].1;
    let cup = Cup::new(LEAGUE);
    run_with(&cup, (0, 1), true, || cup.disqualify(best));
    let (ruled, all) = (cup.table(0), fair.table(0));
    assert_eq!((ruled.matches, &ruled.head_to_head.len()), (all.matches, &all.head_to_head.len()));
    assert_eq!(official(&ruled)[3], (Cell::Empty, best));
    cup.lift(1);
    assert_eq!(cup.table(0).sheets[0], all.sheets[0], "the same games were played");
}
