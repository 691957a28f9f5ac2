//! The connection to a real nats-server, and its file storage.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use agon_grid::blobs::{Blobs, hash};
use agon_grid::{NatsConnection, NatsOptions};
use agon_test_servers::Nats;

fn run<T>(doing: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap()
        .block_on(doing)
}

fn to(url: String) -> NatsOptions {
    NatsOptions { url, name: "test".to_owned(), ..NatsOptions::default() }
}

#[test]
fn blob_is_stored_by_its_hash_and_read_back_completely() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let mut nats = Nats::start();
    run(async {
        let link = NatsConnection::connect(&to(nats.url())).await.unwrap();
        let blobs = Blobs::create(&link, 64 << 20).await.unwrap();
        for size in [0, 1, 700_000, 2_000_000] {
            let bytes: Vec<u8> = (0..size).map(|number: usize| ((number * number) >> 3) as u8).collect();
            assert_eq!(blobs.get(&hash(&bytes)).await.unwrap(), None);
            let name = blobs.put(&bytes).await.unwrap();
            assert_eq!(blobs.put(&bytes).await.unwrap(), name);
            nats.kill();
            nats.restart();
            assert_eq!(Blobs::open(&link).await.unwrap().get(&name).await.unwrap().unwrap(), bytes);
        }
    });
}

#[test]
fn unreachable_server_gives_a_clear_error() {
    let url = format!("nats://user:pass@127.0.0.1:{}", agon_test_servers::free_port());
    let error = run(NatsConnection::connect(&to(url))).unwrap_err().to_string();
    assert!(error.contains("no NATS server answers at nats://127.0.0.1:"), "{error}");
    assert!(!error.contains("pass") && error.contains("hint: "), "{error}");
}
