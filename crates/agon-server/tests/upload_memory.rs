//! Memory of the server while two hundred clients upload hostile forms at the same time, over real connections.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stderr, reason = "a test that reports a figure")]

use std::io::{Cursor, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use agon_server::config::RateLimits;
use agon_server::{AppState, Config, Server};
use agon_site_db::{
    CompetitionState, NewAccount, NewCompetition, NewEntrant, NewToken, Origin, Role, SecretString,
    SignUpGrant, UploadLimits, token_hash,
};
use agon_store::Timestamp;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const UPLOADS: usize = 200;
/// Bound of the memory of the whole process, clients of this test included.
const MAX_RESIDENT_BYTES: u64 = 400 << 20;
/// The longest body that the server reads.
const LONGEST_BODY: usize = 13 << 20;
const FORM: &str = "--b\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nBot\r\n--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"bot.zip\"\r\n\r\n";

fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() << 10
}

/// What a client sends: bytes, then the same byte until the body has its length.
#[derive(Clone)]
struct Body {
    bytes: Arc<Vec<u8>>,
    padding: usize,
    /// Whether the client stops in the middle and waits.
    stalls: bool,
    status: &'static [u16],
}

fn form(file: &[u8]) -> Arc<Vec<u8>> {
    Arc::new([FORM.as_bytes(), file, b"\r\n--b--\r\n"].concat())
}

/// A zip with one file of zeros.
fn bomb(bytes: usize) -> Arc<Vec<u8>> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer.start_file("bot.py", SimpleFileOptions::default()).unwrap();
    let piece = vec![0; 1 << 20];
    for _ in 0..bytes >> 20 {
        writer.write_all(&piece).unwrap();
    }
    form(&writer.finish().unwrap().into_inner())
}

/// A zip whose directory has as many entries as fit, and nothing else.
fn directory() -> Arc<Vec<u8>> {
    let mut bytes = Vec::new();
    for number in 0..u32::from(u16::MAX) {
        let name = format!("{number:05}.py");
        bytes.extend_from_slice(b"PK\x01\x02\x14\0\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
        bytes.extend_from_slice(&(name.len() as u16).to_le_bytes());
        bytes.extend_from_slice(&[0; 16]);
        bytes.extend_from_slice(name.as_bytes());
    }
    let size = bytes.len() as u32;
    bytes.extend_from_slice(b"PK\x05\x06\0\0\0\0\xff\xff\xff\xff");
    bytes.extend_from_slice(&size.to_le_bytes());
    bytes.extend_from_slice(&[0; 6]);
    form(&bytes)
}

/// A form with many files and long names.
fn many_files() -> Arc<Vec<u8>> {
    let mut bytes = b"--b\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nBot\r\n".to_vec();
    for number in 0..999 {
        let name = format!("{number}/{}", "n".repeat(4_000));
        let head =
            format!("--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n");
        bytes.extend_from_slice(head.as_bytes());
        bytes.extend_from_slice(&[b'#'; 8_000]);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"--b--\r\n");
    Arc::new(bytes)
}

fn bodies() -> [Body; 6] {
    let whole = |bytes: Arc<Vec<u8>>, status| Body { bytes, padding: 0, stalls: false, status };
    let endless = Arc::new(b"--b\r\nContent-Disposition: ".to_vec());
    [
        // The head of a part that never ends.
        Body { bytes: Arc::clone(&endless), padding: LONGEST_BODY, stalls: false, status: &[400] },
        // Unpacked, and then rejected because of its name. So no bot is run: this program has no sandbox launcher.
        whole(bomb(31 << 20), &[409]),
        whole(bomb(64 << 20), &[422]),
        whole(directory(), &[422]),
        whole(many_files(), &[422]),
        Body { bytes: endless, padding: LONGEST_BODY, stalls: true, status: &[408] },
    ]
}

/// Uploads a body. Returns the status of the response, and the response.
async fn upload(address: SocketAddr, token: String, body: Body) -> (u16, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let length = body.bytes.len().max(body.padding);
    let head = format!(
        "POST /api/v1/competitions/cup/bots HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
         Content-Type: multipart/form-data; boundary=b\r\nContent-Length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&body.bytes).await.unwrap();
    let mut left = length - body.bytes.len();
    while left > 0 {
        if body.stalls && left < length / 2 {
            break;
        }
        let count = left.min(16 * 1024);
        // The server may have answered already.
        if stream.write_all(&[b'a'; 16 * 1024][..count]).await.is_err() {
            break;
        }
        left -= count;
    }
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
    (status, answer)
}

/// Creates an author with a token.
async fn author(app: &AppState, number: usize) -> String {
    let new = NewAccount {
        name: format!("Author {number}"),
        password_hash: SecretString::new("none"),
        grant: SignUpGrant::Open(Role::Author),
        at: Timestamp::now(),
    };
    let account = app.site_db.create_account(&new).await.unwrap();
    let text = format!("agon_token-of-author-{number}");
    let token = NewToken {
        account: account.id,
        label: "tests".to_owned(),
        token: token_hash(&text),
        expires: None,
        at: Timestamp::now(),
    };
    app.site_db.create_token(&token).await.unwrap();
    text
}

async fn open_competition(app: &AppState) {
    let new = NewCompetition {
        id: "cup".to_owned(),
        name: "The cup".to_owned(),
        game: "connect-five".to_owned(),
        file: "cup.toml".to_owned(),
        origin: Origin::Hosted,
        state: CompetitionState::Open,
        public: true,
        limits: UploadLimits { max_bytes: Some(8 << 20), ..UploadLimits::default() },
        preset: String::new(),
        by: None,
        at: Timestamp::now(),
    };
    app.site_db.create_competition(&new).await.unwrap();
    let taken = NewEntrant {
        competition: "cup".to_owned(),
        account: None,
        name: "Bot".to_owned(),
        role: None,
        bot: Some("house:random".to_owned()),
        at: Timestamp::now(),
    };
    app.site_db.add_entrant(&taken, CompetitionState::ALL).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn server_stays_small_beside_two_hundred_hostile_uploads() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = Config::new(folder.path());
    config.listen = "127.0.0.1:0".parse().unwrap();
    config.limits = RateLimits::generous();
    config.grace = Duration::from_millis(100);
    config.uploads.min_free_disk = 0;
    let server = Server::bind(config).await.unwrap();
    let (address, app) = (server.address(), server.app().clone());
    let (stop, asked) = oneshot::channel::<()>();
    let mut tokens = Vec::new();
    for number in 0..UPLOADS {
        tokens.push(author(&app, number).await);
    }
    open_competition(&app).await;
    let bodies = bodies();
    let running = tokio::spawn(server.run(async { asked.await.unwrap_or(()) }));
    let before = resident_bytes();
    let (peak, done) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let sampler = thread::spawn({
        let (peak, done) = (Arc::clone(&peak), Arc::clone(&done));
        move || {
            while !done.load(Ordering::Acquire) {
                peak.fetch_max(resident_bytes(), Ordering::AcqRel);
                thread::sleep(Duration::from_millis(5));
            }
        }
    });
    let clients: Vec<_> = tokens
        .into_iter()
        .enumerate()
        .map(|(number, token)| {
            let body = bodies[number % bodies.len()].clone();
            (body.clone(), tokio::spawn(upload(address, token, body)))
        })
        .collect();
    let mut wrong = Vec::new();
    for (body, client) in clients {
        let (status, answer) = client.await.unwrap();
        if !body.status.contains(&status) {
            wrong.push((answer, body.status));
        }
    }
    done.store(true, Ordering::Release);
    sampler.join().unwrap();
    let peak = peak.load(Ordering::Acquire);
    eprintln!(
        "resident: {} MB before, at most {} MB beside {UPLOADS} uploads",
        before / 1_000_000,
        peak / 1_000_000
    );
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!(peak < MAX_RESIDENT_BYTES, "{} MB", peak / 1_000_000);
    stop.send(()).unwrap();
    let _ = running.await.unwrap();
}
