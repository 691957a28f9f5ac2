//! Behaviour on real connections: slow clients, long headers, graceful shutdown, the first start.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests fail by panicking")]

use agon_server::config::RateLimits;
use agon_server::{Config, Server};
use agon_site_db::{Role, SecretString};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

struct Running {
    address: std::net::SocketAddr,
    invitation: Option<String>,
    stop: oneshot::Sender<()>,
    ended: JoinHandle<()>,
}

async fn start(config: Config) -> Running {
    let server = Server::bind(config).await.unwrap();
    let (address, invitation) = (server.address(), server.invitation().map(str::to_owned));
    let (stop, asked) = oneshot::channel::<()>();
    let ended = tokio::spawn(async move {
        server.run(async { asked.await.unwrap_or(()) }).await.unwrap();
    });
    Running { address, invitation, stop, ended }
}

impl Running {
    async fn stop(self) {
        self.stop.send(()).unwrap();
        tokio::time::timeout(agon_test_servers::WAIT_TIMEOUT, self.ended).await.expect("it stops").unwrap();
    }

    async fn say(&self, text: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(text).await.unwrap();
        let mut heard = Vec::new();
        let all = stream.read_to_end(&mut heard);
        let _ = tokio::time::timeout(agon_test_servers::WAIT_TIMEOUT, all)
            .await
            .expect("the server responds and closes");
        String::from_utf8_lossy(&heard).into_owned()
    }
}

fn config(folder: &tempfile::TempDir) -> Config {
    let mut config = Config::new(folder.path());
    config.listen = "127.0.0.1:0".parse().unwrap();
    config.limits = RateLimits::generous();
    // Longer than any wait of these tests: a server that stops in time has not waited for it.
    config.grace = 2 * agon_test_servers::WAIT_TIMEOUT;
    config
}

#[tokio::test]
async fn first_start_prints_a_link_for_the_first_organiser() {
    let folder = tempfile::tempdir().unwrap();
    let first = start(config(&folder)).await;
    let link = first.invitation.clone().unwrap();
    assert!(link.starts_with(&format!("http://{}/signup?invite=", first.address)), "{link}");
    first.stop().await;
    let second = start(config(&folder)).await;
    let newer = second.invitation.clone().unwrap();
    let code = |link: &str| link.split_once('=').unwrap().1.to_owned();
    assert_ne!(code(&link), code(&newer));
    let up = |name: &str, link: &str| {
        let body =
            format!(r#"{{"name":"{name}","password":"a good long password","invitation":"{}"}}"#, code(link));
        format!(
            "POST /api/v1/accounts HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )
    };
    let old = second.say(up("Eve", &link).as_bytes()).await;
    assert!(old.starts_with("HTTP/1.1 409"), "the old link still works: {old}");
    let made = second.say(up("Boss", &newer).as_bytes()).await;
    assert!(made.starts_with("HTTP/1.1 201") && made.contains(r#""role":"organiser""#), "{made}");
    second.stop().await;
    let third = start(config(&folder)).await;
    assert_eq!(third.invitation, None);
    third.stop().await;
}

#[tokio::test]
async fn organiser_can_be_set_up_unattended() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = config(&folder);
    config.organiser_password = Some(SecretString::new("too short"));
    let refused = Server::bind(config.clone()).await.err().unwrap().to_string();
    assert!(refused.contains("10 to 200 characters"), "{refused}");
    config.organiser_password = Some(SecretString::new("a good long password"));
    let server = Server::bind(config.clone()).await.unwrap();
    assert_eq!(server.invitation(), None);
    let account = server.app().site_db.account_by_name("organiser").await.unwrap().unwrap();
    assert_eq!(account.role, Role::Organiser);
    let second = Server::bind(config).await.err().unwrap().to_string();
    assert!(second.contains("a server already uses it"), "{second}");
}

#[tokio::test]
async fn occupied_port_is_reported() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let first = Server::bind(config(&one)).await.unwrap();
    let mut second = config(&other);
    second.listen = first.address();
    let said = Server::bind(second).await.err().unwrap().to_string();
    assert!(
        said.contains("cannot listen on") && said.contains("hint: choose another address with --listen"),
        "{said}"
    );
}

#[tokio::test]
async fn oversized_headers_and_invalid_http_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let running = start(config(&folder)).await;
    let ok = running.say(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
    assert!(ok.starts_with("HTTP/1.1 200") && ok.ends_with("ok\n"), "{ok}");
    let long = format!("GET / HTTP/1.1\r\nHost: x\r\nCookie: {}\r\n\r\n", "x".repeat(100_000));
    assert!(running.say(long.as_bytes()).await.starts_with("HTTP/1.1 431"));
    let many = format!("GET / HTTP/1.1\r\nHost: x\r\n{}\r\n", "a: b\r\n".repeat(500));
    assert!(running.say(many.as_bytes()).await.starts_with("HTTP/1.1 431"));
    assert!(running.say(b"nonsense\r\n\r\n").await.starts_with("HTTP/1.1 400"));
    let huge = "POST /api/v1/session HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10000000000\r\n\r\n{";
    assert!(running.say(huge.as_bytes()).await.starts_with("HTTP/1.1 413"));
    running.stop().await;
}

#[tokio::test]
async fn shutdown_does_not_wait_for_silent_clients() {
    let folder = tempfile::tempdir().unwrap();
    let running = start(config(&folder)).await;
    // A silent client, one in the middle of its headers, one with an idle keep-alive connection.
    let silent = TcpStream::connect(running.address).await.unwrap();
    let mut slow = TcpStream::connect(running.address).await.unwrap();
    slow.write_all(b"GET /healthz HTT").await.unwrap();
    let mut idle = TcpStream::connect(running.address).await.unwrap();
    idle.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    let mut heard = [0; 15];
    idle.read_exact(&mut heard).await.unwrap();
    assert_eq!(&heard, b"HTTP/1.1 200 OK");
    let address = running.address;
    // Long before the grace period ends.
    running.stop().await;
    assert!(TcpStream::connect(address).await.is_err(), "the server still accepts connections");
    drop((silent, slow));
}
