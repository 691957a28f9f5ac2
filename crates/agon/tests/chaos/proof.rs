//! What must hold when a competition is over, whatever happened: what it came to is what it comes to on one machine.

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

use crate::cluster::{Recovered, Theatre, script};
use crate::common;
use crate::cups::{self, CUPS, Cup};

/// What a competition came to.
pub struct Came {
    /// All tables, without times.
    tables: String,
    /// Every match's place, with the digests of its games.
    matches: Vec<(MatchKey, Vec<Digest>)>,
    /// What each bot keeps in the end, by its hash.
    kept: Vec<Option<String>>,
}

/// Plays all competitions on this machine alone, beside each other: their bots think by sleeping.
pub fn alone(folder: &Path) -> Vec<(Cup, Came)> {
    let home = folder.join("alone");
    cups::write(&home);
    let start = |cup: Cup| {
        let (file, log) = (format!("{}.toml", cup.name()), folder.join(format!("alone-{}.log", cup.name())));
        script(&home, &log, &["run", &file, "--jobs", "3", "--json"]).start()
    };
    let runs: Vec<_> = CUPS.iter().map(|cup| (*cup, start(*cup))).collect();
    let came = |(cup, mut run): (Cup, agon_test_servers::Program)| {
        let status = run.wait(Duration::from_mins(10)).unwrap();
        assert!(status.success(), "{}", run.log_text());
        (cup, read(&home, cup, None).0)
    };
    runs.into_iter().map(came).collect()
}

impl Theatre {
    /// Everything that must hold now that the competition is over.
    pub fn verify(&mut self) -> String {
        self.leave_the_desk();
        let database = self.database.take().unwrap();
        let (home, cup) = self.stage();
        let (came, barred) = read(home, cup, Some(&database.url));
        let (name, (_, right)) = (cup.name(), self.expected.iter().find(|(one, _)| *one == cup).unwrap());
        let once: BTreeSet<_> = came.matches.iter().map(|(key, _)| *key).collect();
        assert_eq!(once.len(), came.matches.len(), "{name}: a match is there twice");
        assert_eq!(came.matches, right.matches, "{name}: not the matches of the local run");
        assert_eq!(came.kept, right.kept, "{name}: bots do not keep what they keep in the local run");
        assert_eq!(came.tables, right.tables, "{name}: the table is not that of the local run");
        let honest = barred.iter().all(|one| one.worker.starts_with("liar"));
        assert!(honest, "{name}: an honest worker was barred: {barred:?}");

        let matches = came.matches.len() as u64;
        let told = self.told();
        let all = &mut self.recovered;
        all.matches += matches;
        all.liars_barred += barred.len() as u32;
        all.withdrawn += told
            .iter()
            .filter(|one| one["event"] == "barred")
            .filter_map(|one| one["again"].as_u64())
            .sum::<u64>();
        all.resumed += told.iter().filter(|one| one["resumed"] == true).count() as u32;
        if !barred.is_empty() {
            self.dismiss_the_liar();
        }
        format!(
            "{name} is over: {matches} matches, each once, the table of the local run; barred: {}",
            barred.len()
        )
    }
}

impl Recovered {
    /// In words.
    pub fn summary(&self) -> String {
        format!(
            "{} competitions, {} matches, each in its ledger exactly once; tables as played on one machine\nliars barred: {}; matches taken back and played again: {}\nruns that went on where another had ended: {}\nended by themselves and were started again: coordinator {}, workers {}",
            self.rounds,
            self.matches,
            self.liars_barred,
            self.withdrawn,
            self.resumed,
            self.revived.0,
            self.revived.1
        )
    }
}

/// Reads what a competition came to, from its file or a database, and who was barred.
fn read(home: &Path, cup: Cup, database: Option<&str>) -> (Came, Vec<BannedWorker>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let sitting = LoadedCompetition::read(&home.join(format!("{}.toml", cup.name()))).unwrap();
    let place = database.map_or(LedgerLocation::File, |url| LedgerLocation::Database(url.to_owned()));
    let phases = sitting.competition.phases.len() as u32;
    let tables = (1..=phases).map(|phase| table(home, cup, phase, database)).collect();
    runtime.block_on(async {
        let ledger = sitting.ledger_to_read_at(&place).await.unwrap();
        assert_eq!(ledger.check().await.unwrap(), Vec::<String>::new());
        let (mut matches, mut kept) = (Vec::new(), Vec::new());
        for phase in 0..phases {
            matches.extend(played(ledger.as_ref(), phase).await);
        }
        for entrant in 0..sitting.competition.entrants.len() as u32 {
            let data = ledger.data_folder_before(Entrant(entrant), phases - 1, u32::MAX).await.unwrap();
            kept.push(data.map(|(_, data)| data.hash.to_string()));
        }
        (Came { tables, matches, kept }, ledger.banned_workers().await.unwrap())
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

/// A table, without times.
fn table(home: &Path, cup: Cup, phase: u32, database: Option<&str>) -> String {
    let (file, phase) = (format!("{}.toml", cup.name()), phase.to_string());
    let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
    command.args(["table", &file, "--format", "json", "--no-times", "--phase", &phase]);
    if let Some(url) = database {
        command.args(["--database", url]);
    }
    common::good(&command.current_dir(home).output().unwrap())
}
