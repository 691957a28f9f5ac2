//! Load test of the server: `make bench`, or `cargo bench -p agon-server --bench load`.
//!
//! Starts the real server as a process on one core, and a small client on another. First it sends requests over persistent connections at a
//! fixed rate, then as fast as they are answered. The time of a request counts from when it was due, so that stalls of the server show.
//! Then a thousand clients watch one live game while games are played on the server's core. Nothing fails: a figure beyond its bound is
//! marked.
#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a program whose output is its purpose"
)]

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use agon_competition::LoadedCompetition;
use agon_competition::run::{RunContext, run_competition};
use agon_host::pinning;
use agon_runner::{ActiveMatches, LiveGames, LocalExecutor, RunEvent, RunListener, StopFlag};
use agon_server::{Config, Server};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::runtime::Builder;

const CONNECTIONS: usize = 32;
/// Requests per second at the fixed rate.
const RATE: f64 = 2_000.0;
const VIEWERS: usize = 1_000;
const MEASURE_INTERVAL: Duration = Duration::from_secs(8);

fn main() {
    let words: Vec<String> = std::env::args().collect();
    // `cargo test --benches` runs this with `--test`, which only checks that it builds.
    if words.iter().any(|word| word == "--test") {
        return;
    }
    if let Some(at) = words.iter().position(|word| word == "serve") {
        return serve(Path::new(&words[at + 1]), Path::new(&words[at + 2]), words[at + 3] == "live");
    }
    let cores = pinning::cores();
    let [own, .., other] = cores[..] else {
        println!("at least two cores are needed");
        return;
    };
    pinning::pin(other);
    let home = tempfile::tempdir().unwrap();
    println!("{:<66} {:>12} {:>12}", "what", "bound", "measured");
    measure_requests(home.path(), own);
    measure_viewers(home.path(), own);
}

fn print_row(what: &str, bound: &str, measured: &str, beyond: bool) {
    println!("{what:<66} {bound:>12} {measured:>12}{}", if beyond { "  BEYOND" } else { "" });
}

fn write_competition_file(path: &Path, game: &str, phase: &str, bots: &[&str], times: usize) -> PathBuf {
    let mut text = format!(
        "name = \"Load\"\ngame = \"{game}\"\nseed = \"load\"\n\n[[phase]]\nname = \"All\"\n{phase}\n"
    );
    for number in 0..times {
        for bot in bots {
            let _ = write!(text, "\n[[entrant]]\nname = \"{bot} {number}\"\nbot = \"house:{bot}\"\n");
        }
    }
    fs::write(path, text).unwrap();
    path.to_owned()
}

/// Plays a competition in this process.
fn play(file: &Path, listener: &mut dyn RunListener, boards: ActiveMatches, stop: &StopFlag) {
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    let sitting = LoadedCompetition::read(file).map_err(|failure| failure.to_string()).unwrap();
    let ledger = runtime.block_on(sitting.ledger()).map_err(|failure| failure.to_string()).unwrap();
    let means = RunContext {
        runtime: &runtime,
        executor: &LocalExecutor { jobs: 1, pin: false },
        stop,
        boards,
        run_through: false,
    };
    run_competition(&sitting, &ledger, means, listener, &mut |_| {})
        .map_err(|failure| failure.to_string())
        .unwrap();
}

// The server's process.

struct GameCounter(Arc<AtomicU64>);

impl RunListener for GameCounter {
    fn event(&mut self, event: &RunEvent<'_>) {
        if let RunEvent::MatchStored { result, .. } = event {
            self.0.fetch_add(result.games.len() as u64, Relaxed);
        }
    }
}

/// Prints the address of the server. If games are played, then prints their number for each line on stdin.
fn serve(data: &Path, file: &Path, live: bool) {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let mut config = Config::new(data);
        config.listen = SocketAddr::from(([127, 0, 0, 1], 0));
        config.files = vec![file.to_owned()];
        // All viewers of this benchmark have one address.
        config.streams.per_address = config.streams.total;
        let server = Server::bind(config).await.unwrap();
        if live {
            run(server.app(), file);
        }
        println!("{}", server.address());
        server.run(std::future::pending()).await.unwrap();
    });
}

/// Plays in a thread, as a server does.
fn run(app: &agon_server::AppState, file: &Path) {
    let competition_handle = Arc::clone(&app.competitions.all()[0]);
    let sitting = competition_handle.loaded().unwrap();
    let gallery = LiveGames::new(sitting.assets.clone(), Vec::new());
    competition_handle.show(Some(Arc::clone(&gallery)));
    let games = Arc::new(AtomicU64::new(0));
    let (count, file) = (Arc::clone(&games), file.to_owned());
    thread::spawn(move || {
        play(&file, &mut GameCounter(count), ActiveMatches::with_live_games(gallery), &StopFlag::default());
    });
    thread::spawn(move || {
        for _ in std::io::stdin().lines() {
            println!("{}", games.load(Relaxed));
        }
    });
}

/// A server process, killed on drop.
struct ServerProcess {
    process: Child,
    out: BufReader<ChildStdout>,
    address: SocketAddr,
}

impl ServerProcess {
    fn start(home: &Path, name: &str, file: &Path, core: usize, live: bool) -> Self {
        let back = pinning::core();
        // A child process inherits the CPU affinity.
        pinning::pin(core);
        let mut process = Command::new(std::env::current_exe().unwrap())
            .arg("serve")
            .args([&home.join(name), file])
            .arg(if live { "live" } else { "still" })
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        pinning::pin(back.unwrap_or(core));
        let mut out = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        Self { process, out, address: line.trim().parse().unwrap() }
    }

    /// Games played so far.
    fn games(&mut self) -> u64 {
        self.process.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        let mut line = String::new();
        self.out.read_line(&mut line).unwrap();
        line.trim().parse().unwrap()
    }

    /// Games per second, measured over [`MEASURE_INTERVAL`].
    fn games_per_second(&mut self) -> f64 {
        let (start, before) = (Instant::now(), self.games());
        thread::sleep(MEASURE_INTERVAL);
        (self.games() - before) as f64 / start.elapsed().as_secs_f64()
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

// The client.

fn measure_requests(home: &Path, core: usize) {
    let bots = ["random", "left", "right", "centre", "greedy"];
    let file = write_competition_file(
        &home.join("table.toml"),
        "solitude-scramble",
        "format = \"groups\"\nmatches = 40",
        &bots,
        8,
    );
    play(&file, &mut (), ActiveMatches::default(), &StopFlag::default());
    let server = ServerProcess::start(home, "table", &file, core, false);
    let table = "/api/v1/competitions/table/phases/1/table";
    let (_, headers, _) = request_once(server.address, table, "");
    let tag = headers.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap().to_owned();
    let known = format!("If-None-Match: {tag}\r\n");
    for (what, path, extra) in [
        ("a table of 40 bots, gzipped", table, ""),
        ("the same with a matching ETag", table, known.as_str()),
        ("the list of competitions", "/api/v1/competitions", ""),
        ("the web page", "/c/table", ""),
    ] {
        let (_, _, bytes) = request_once(server.address, path, extra);
        println!("{what}, {bytes} bytes, {CONNECTIONS} connections");
        for rate in [Some(RATE), None] {
            let mut times = load(server.address, path, extra, rate);
            times.sort_unstable();
            let served = times.len() as f64 / MEASURE_INTERVAL.as_secs_f64();
            let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize] as f64 / 1000.0;
            // Tolerates requests that are still pending at the end.
            let bound = if rate.is_some() { RATE * 0.99 } else { 0.0 };
            let how = if rate.is_some() { "at a fixed rate" } else { "as fast as possible" };
            let wanted = rate.map_or_else(String::new, |rate| format!("{rate:.0}"));
            print_row(
                &format!("  requests per second, {how}"),
                &wanted,
                &format!("{served:.0}"),
                served < bound,
            );
            print_row("    p50", "", &format!("{:.2} ms", at(0.5)), false);
            let bound = if rate.is_some() { "50 ms" } else { "" };
            print_row("    p99", bound, &format!("{:.2} ms", at(0.99)), rate.is_some() && at(0.99) > 50.0);
        }
    }
}

fn request_text(path: &str, extra: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: agon\r\nAccept-Encoding: gzip\r\n{extra}\r\n")
}

/// One response: status, headers, number of bytes.
fn request_once(address: SocketAddr, path: &str, extra: &str) -> (u16, String, usize) {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut stream = tokio::io::BufReader::new(TcpStream::connect(address).await.unwrap());
        stream.write_all(request_text(path, extra).as_bytes()).await.unwrap();
        read_response(&mut stream).await
    })
}

async fn read_response(stream: &mut tokio::io::BufReader<TcpStream>) -> (u16, String, usize) {
    let (mut headers, mut length) = (String::new(), 0);
    loop {
        let from = headers.len();
        stream.read_line(&mut headers).await.unwrap();
        let line = headers[from..].trim_end();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.parse().unwrap();
        }
    }
    let mut left = length;
    while left > 0 {
        let some = stream.fill_buf().await.unwrap().len().min(left);
        assert!(some > 0, "cut off");
        stream.consume(some);
        left -= some;
    }
    let status = headers.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap();
    (status, headers, length)
}

/// Time of each request in microseconds, from when it was due. Without a rate, the next request is due when the previous one is answered.
fn load(address: SocketAddr, path: &str, extra: &str, rate: Option<f64>) -> Vec<u64> {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let request: Arc<str> = request_text(path, extra).into();
    runtime.block_on(async {
        let until = Instant::now() + MEASURE_INTERVAL;
        let mut all = Vec::new();
        let every = rate.map(|rate| Duration::from_secs_f64(CONNECTIONS as f64 / rate));
        for number in 0..CONNECTIONS {
            let request = Arc::clone(&request);
            all.push(tokio::spawn(async move {
                let stream = TcpStream::connect(address).await.unwrap();
                stream.set_nodelay(true).unwrap();
                let mut stream = tokio::io::BufReader::with_capacity(64 << 10, stream);
                let mut times = Vec::new();
                let mut due = Instant::now()
                    + every.map_or(Duration::ZERO, |every| every.mul_f64(number as f64 / CONNECTIONS as f64));
                while due < until {
                    match every {
                        Some(_) => tokio::time::sleep_until(due.into()).await,
                        None => due = Instant::now(),
                    }
                    stream.write_all(request.as_bytes()).await.unwrap();
                    let (status, ..) = read_response(&mut stream).await;
                    assert!(matches!(status, 200 | 304), "{status}");
                    times.push(due.elapsed().as_micros() as u64);
                    due = every.map_or_else(Instant::now, |every| due + every);
                }
                times
            }));
        }
        let mut times = Vec::new();
        for one in all {
            times.extend(one.await.unwrap());
        }
        times
    })
}

fn measure_viewers(home: &Path, core: usize) {
    let bots = ["random", "sweeper", "short-sighted", "seeker"];
    let file = write_competition_file(
        &home.join("live.toml"),
        "colour-battle",
        "format = \"arena\"\ngames = 10000000",
        &bots,
        1,
    );
    let mut server = ServerProcess::start(home, "live", &file, core, true);
    thread::sleep(Duration::from_secs(2));
    let before = server.games_per_second();
    let stop = Arc::new(AtomicU64::new(0));
    let bytes = Arc::new(AtomicU64::new(0));
    let clients = {
        let (stop, bytes, address) = (Arc::clone(&stop), Arc::clone(&bytes), server.address);
        thread::spawn(move || watch(address, &stop, &bytes))
    };
    // Waits until all clients are connected and have the film so far.
    thread::sleep(Duration::from_secs(4));
    let first = bytes.load(Relaxed);
    let with = server.games_per_second();
    let sent = (bytes.load(Relaxed) - first) as f64 / MEASURE_INTERVAL.as_secs_f64();
    stop.store(1, Relaxed);
    let came = clients.join().unwrap();
    thread::sleep(Duration::from_secs(1));
    let after = server.games_per_second();
    let alone = f64::midpoint(before, after);
    let slower = (1.0 - with / alone) * 100.0;
    print_row(
        "games per second without viewers (before, after)",
        "",
        &format!("{before:.0}, {after:.0}"),
        false,
    );
    print_row(&format!("games per second with {came} viewers of one game"), "", &format!("{with:.0}"), false);
    print_row("  bytes sent to viewers per second", "", &format!("{:.2} MB", sent / 1e6), false);
    print_row(
        "  slowdown with viewers, games and server on one core",
        "5 %",
        &format!("{slower:.1} %"),
        slower > 5.0,
    );
}

/// Connects the clients and returns how many connected.
fn watch(address: SocketAddr, stop: &Arc<AtomicU64>, bytes: &Arc<AtomicU64>) -> usize {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let request = request_text("/api/v1/competitions/live/boards/0/watch", "");
    runtime.block_on(async {
        let came = Arc::new(AtomicU64::new(0));
        for _ in 0..VIEWERS {
            let (request, bytes, came) = (request.clone(), Arc::clone(bytes), Arc::clone(&came));
            tokio::spawn(async move {
                let mut stream = TcpStream::connect(address).await.unwrap();
                stream.write_all(request.as_bytes()).await.unwrap();
                let mut buffer = vec![0; 16 << 10];
                let some = stream.read(&mut buffer).await.unwrap();
                assert!(
                    buffer[..some].starts_with(b"HTTP/1.1 200"),
                    "{}",
                    String::from_utf8_lossy(&buffer[..some])
                );
                came.fetch_add(1, Relaxed);
                while let Ok(some) = stream.read(&mut buffer).await
                    && some > 0
                {
                    bytes.fetch_add(some as u64, Relaxed);
                }
            });
        }
        while stop.load(Relaxed) == 0 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        came.load(Relaxed) as usize
    })
}
