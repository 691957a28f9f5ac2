//! Metrics of `agon run` over HTTP, in the Prometheus text format of `agon serve`: `--metrics ADDRESS`.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use agon_bots::error::Diagnostic;
use agon_competition::{LedgerLocation, LoadedCompetition};
use agon_grid::metrics::{write_metric, write_workers};
use agon_grid::{GridRunStats, NatsConnection, WorkerDirectory, metrics};
use agon_runner::{RunEvent, RunListener};
use agon_store::{Ledger as _, PostgresLedger};

use crate::output;

/// Maximum time to read a request or write a response.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum time of the database's answer.
const DATABASE_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum size of a request.
const MAX_REQUEST_BYTES: usize = 8 << 10;

/// Figures of a run. Clones share them.
#[derive(Clone, Default)]
pub struct RunMetrics(Arc<Figures>);

#[derive(Default)]
struct Figures {
    phase: AtomicU64,
    expected: AtomicU64,
    matches: AtomicU64,
    games: AtomicU64,
    faults: AtomicU64,
    playing: AtomicU64,
    grid: Mutex<Option<GridSource>>,
}

/// Where the figures of workers come from.
struct GridSource {
    link: NatsConnection,
    directory: WorkerDirectory,
    stats: Box<dyn Fn() -> GridRunStats + Send + Sync>,
}

impl RunMetrics {
    /// Adds the figures of workers.
    pub fn set_grid(
        &self,
        link: NatsConnection,
        directory: WorkerDirectory,
        stats: impl Fn() -> GridRunStats + Send + Sync + 'static,
    ) {
        let source = GridSource { link, directory, stats: Box::new(stats) };
        *self.0.grid.lock().unwrap_or_else(PoisonError::into_inner) = Some(source);
    }

    /// Serves the metrics at this address until the program ends.
    pub fn serve(
        &self,
        address: SocketAddr,
        loaded: &LoadedCompetition,
        place: &LedgerLocation,
    ) -> Result<(), Diagnostic> {
        let failed = |error: io::Error| {
            let hint = "use a free address of this machine, such as 127.0.0.1:9464";
            Diagnostic::wrong_use(format!("--metrics: cannot listen at {address}: {error}"), hint)
        };
        let listener = TcpListener::bind(address).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        output::note(&format!("metrics at http://{address}/metrics"));
        let (figures, mut database) = (self.clone(), DatabaseProbe::new(loaded, place));
        let started = Instant::now();
        thread::Builder::new().name("metrics".to_owned()).spawn(move || {
            for client in listener.incoming().flatten() {
                // One client at a time: scrapes are rare and short.
                let _ = answer(client, || figures.text(started, database.as_mut()));
            }
        })?;
        Ok(())
    }

    fn text(&self, started: Instant, database: Option<&mut DatabaseProbe>) -> String {
        let (mut text, figures) = (String::new(), &self.0);
        let value = |value: &AtomicU64| value.load(Relaxed);
        for (name, kind, about, value) in [
            ("agon_run_phase", "gauge", "Phase being played, from 1.", value(&figures.phase)),
            (
                "agon_run_matches_expected",
                "gauge",
                "Maximum number of matches of the phase.",
                value(&figures.expected),
            ),
            ("agon_run_matches_total", "counter", "Matches stored by this run.", value(&figures.matches)),
            ("agon_run_games_total", "counter", "Games stored by this run.", value(&figures.games)),
            (
                "agon_run_faults_total",
                "counter",
                "Faults of bots in the matches of this run.",
                value(&figures.faults),
            ),
            ("agon_games_running", "gauge", "Games being played.", value(&figures.playing)),
            ("agon_uptime_seconds", "gauge", "Time since the run started.", started.elapsed().as_secs()),
        ] {
            write_metric(&mut text, name, kind, about, value);
        }
        if let Some(database) = database {
            let up = u8::from(database.answers());
            write_metric(
                &mut text,
                "agon_database_up",
                "gauge",
                "Whether the database of the ledger answers.",
                up,
            );
        }
        if let Some(grid) = &*self.0.grid.lock().unwrap_or_else(PoisonError::into_inner) {
            let workers = grid.directory.workers();
            metrics::write_connectivity(&mut text, grid.link.connectivity().stats());
            metrics::write_failed_jobs(&mut text, &workers);
            write_workers(&mut text, &workers);
            metrics::write_run(&mut text, &(grid.stats)());
        }
        text
    }
}

/// Asks the database of a ledger whether it answers, through a connection of its own.
struct DatabaseProbe {
    runtime: tokio::runtime::Runtime,
    url: String,
    slug: String,
    ledger: Option<PostgresLedger>,
}

impl DatabaseProbe {
    /// `None` for a ledger in a file.
    fn new(loaded: &LoadedCompetition, place: &LedgerLocation) -> Option<Self> {
        let LedgerLocation::Database(url) = place else { return None };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
        Some(Self { runtime, url: url.clone(), slug: loaded.slug(), ledger: None })
    }

    fn answers(&mut self) -> bool {
        let Self { runtime, url, slug, ledger } = self;
        let asking = async {
            let open = match ledger.take() {
                Some(open) => open,
                None => PostgresLedger::open_to_read(url, slug).await.ok()?,
            };
            open.competition().await.ok()?;
            *ledger = Some(open);
            Some(())
        };
        runtime
            .block_on(async { tokio::time::timeout(DATABASE_TIMEOUT, asking).await })
            .is_ok_and(|up| up.is_some())
    }
}

/// Reads a request and writes the response.
fn answer(mut client: TcpStream, text: impl FnOnce() -> String) -> io::Result<()> {
    client.set_read_timeout(Some(CLIENT_TIMEOUT))?;
    client.set_write_timeout(Some(CLIENT_TIMEOUT))?;
    let (mut request, begun) = (Vec::new(), Instant::now());
    let mut some = [0; 1024];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        match client.read(&mut some)? {
            0 => return Ok(()),
            count => request.extend_from_slice(&some[..count]),
        }
        if request.len() > MAX_REQUEST_BYTES || begun.elapsed() > CLIENT_TIMEOUT {
            return Ok(());
        }
    }
    let (status, body) = if request.starts_with(b"GET /metrics ") {
        ("200 OK", text())
    } else {
        ("404 Not Found", "only /metrics is here\n".to_owned())
    };
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n"
    );
    client.write_all(head.as_bytes())?;
    client.write_all(body.as_bytes())
}

/// Counts the events of a run, and passes them on.
pub struct MeteredListener<'l> {
    /// The listener that receives the events.
    pub inner: Box<dyn RunListener + 'l>,
    /// Figures to update.
    pub metrics: RunMetrics,
}

impl RunListener for MeteredListener<'_> {
    fn event(&mut self, event: &RunEvent<'_>) {
        let figures = &self.metrics.0;
        match event {
            RunEvent::PhaseStarted { phase, expected: (_, most), .. } => {
                figures.phase.store(u64::from(*phase) + 1, Relaxed);
                figures.expected.store(*most, Relaxed);
            }
            RunEvent::Tick { playing, .. } => figures.playing.store(playing.len() as u64, Relaxed),
            RunEvent::MatchStored { result, faults } => {
                figures.matches.fetch_add(1, Relaxed);
                figures.games.fetch_add(result.games.len() as u64, Relaxed);
                figures.faults.fetch_add(faults.len() as u64, Relaxed);
            }
            _ => {}
        }
        self.inner.event(event);
    }
}
