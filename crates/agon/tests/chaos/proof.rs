//! Invariants at the end of a competition: its result equals the result of a run on one machine.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use agon_competition::LedgerLocation;
use agon_competition::LoadedCompetition;
use agon_core::record::Digest;
use agon_league::{Entrant, MatchKey};
use agon_store::{BannedWorker, Ledger, MatchFilter};
use futures_util::StreamExt as _;

use crate::cluster::{Cluster, Recovered, program};
use crate::common;
use crate::competitions::{self, COMPETITIONS, TestCompetition};

/// Result of a competition.
pub struct CompetitionResult {
    /// All tables without times.
    tables: String,
    /// All matches, with the digests of their games.
    matches: Vec<(MatchKey, Vec<Digest>)>,
    /// Hash of each bot's data at the end.
    kept: Vec<Option<String>>,
}

/// Plays all competitions on this machine in parallel. Their bots think by sleeping.
pub fn alone(folder: &Path) -> Vec<(TestCompetition, CompetitionResult)> {
    let home = folder.join("alone");
    competitions::write(&home);
    let start = |competition: TestCompetition| {
        let (file, log) = (
            format!("{}.toml", competition.name()),
            folder.join(format!("alone-{}.log", competition.name())),
        );
        program(&home, &log, &["run", &file, "--jobs", "3", "--json"]).start()
    };
    let runs: Vec<_> = COMPETITIONS.iter().map(|competition| (*competition, start(*competition))).collect();
    let came = |(competition, mut run): (TestCompetition, agon_test_servers::Program)| {
        let status = run.wait(Duration::from_mins(10)).unwrap();
        assert!(status.success(), "{}", run.log_text());
        (competition, read(&home, competition, None).0)
    };
    runs.into_iter().map(came).collect()
}

impl Cluster {
    /// Checks all invariants at the end of the competition.
    pub fn verify(&mut self) -> String {
        self.stop_coordinator();
        let database = self.database.take().unwrap();
        let (home, competition) = self.competition();
        let (came, barred) = read(home, competition, Some(&database.url));
        let (name, (_, right)) =
            (competition.name(), self.expected.iter().find(|(one, _)| *one == competition).unwrap());
        let once: BTreeSet<_> = came.matches.iter().map(|(key, _)| *key).collect();
        assert_eq!(once.len(), came.matches.len(), "{name}: duplicate match");
        assert_eq!(came.matches, right.matches, "{name}: the matches differ from the local run");
        assert_eq!(came.kept, right.kept, "{name}: the bots' data differs from the local run");
        assert_eq!(came.tables, right.tables, "{name}: the table differs from the local run");
        let honest = barred.iter().all(|one| one.worker.starts_with("liar"));
        assert!(honest, "{name}: an honest worker was banned: {barred:?}");

        let matches = came.matches.len() as u64;
        let told = self.told();
        let all = &mut self.recovered;
        all.matches += matches;
        all.liars_banned += barred.len() as u32;
        all.revoked += told
            .iter()
            .filter(|one| one["event"] == "barred")
            .filter_map(|one| one["again"].as_u64())
            .sum::<u64>();
        all.resumed += told.iter().filter(|one| one["resumed"] == true).count() as u32;
        if !barred.is_empty() {
            self.stop_banned_liar();
        }
        format!(
            "{name} is finished: {matches} matches, each once, the table of the local run; banned: {}",
            barred.len()
        )
    }
}

impl Recovered {
    /// Summary as text.
    pub fn summary(&self) -> String {
        format!(
            "{} competitions, {} matches, each in its ledger exactly once; tables as played on one machine\nlying workers banned: {}; matches revoked and played again: {}\nruns that resumed an earlier one: {}\nexited and were restarted: coordinator {}, workers {}",
            self.rounds,
            self.matches,
            self.liars_banned,
            self.revoked,
            self.resumed,
            self.restarted.0,
            self.restarted.1
        )
    }
}

/// Reads the result of a competition from its file or a database, and the banned workers.
fn read(
    home: &Path,
    competition: TestCompetition,
    database: Option<&str>,
) -> (CompetitionResult, Vec<BannedWorker>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let loaded = LoadedCompetition::read(&home.join(format!("{}.toml", competition.name()))).unwrap();
    let place = database.map_or(LedgerLocation::File, |url| LedgerLocation::Database(url.to_owned()));
    let phases = loaded.competition.phases.len() as u32;
    let tables = (1..=phases).map(|phase| table(home, competition, phase, database)).collect();
    runtime.block_on(async {
        let ledger = loaded.ledger_to_read_at(&place).await.unwrap();
        assert_eq!(ledger.check().await.unwrap(), Vec::<String>::new());
        let (mut matches, mut kept) = (Vec::new(), Vec::new());
        for phase in 0..phases {
            matches.extend(played(ledger.as_ref(), phase).await);
        }
        for entrant in 0..loaded.competition.entrants.len() as u32 {
            let data = ledger.data_folder_before(Entrant(entrant), phases - 1, u32::MAX).await.unwrap();
            kept.push(data.map(|(_, data)| data.hash.to_string()));
        }
        (CompetitionResult { tables, matches, kept }, ledger.banned_workers().await.unwrap())
    })
}

async fn played(ledger: &dyn Ledger, phase: u32) -> Vec<(MatchKey, Vec<Digest>)> {
    let mut all = Vec::new();
    let mut rows = ledger.matches(phase, MatchFilter::default());
    while let Some(one) = rows.next().await {
        let one = one.unwrap();
        all.push((one.result.key, one.game_digests));
    }
    all.sort_by_key(|(key, _)| *key);
    all
}

/// A table without times.
fn table(home: &Path, competition: TestCompetition, phase: u32, database: Option<&str>) -> String {
    let (file, phase) = (format!("{}.toml", competition.name()), phase.to_string());
    let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
    command.args(["table", &file, "--format", "json", "--no-times", "--phase", &phase]);
    if let Some(url) = database {
        command.args(["--database", url]);
    }
    common::good(&command.current_dir(home).output().unwrap())
}
