//! The users of deploy/nats/users.conf have the permissions of their role, and no others. Against a real nats-server.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use std::path::Path;
use std::time::{Duration, Instant};

use agon_core::ErrorKind;
use agon_grid::blobs::Blobs;
use agon_grid::messages::{self, CommandReply, Heartbeat, WorkerCommand};
use agon_grid::subjects::{self, WORK_STREAM};
use agon_grid::{NatsConnection, NatsOptions, WorkerDirectory};
use agon_test_servers::Nats;
use async_nats::jetstream::{AckKind, consumer, stream};
use futures_util::StreamExt as _;

/// A nats-server with the users of the deployment files.
fn server() -> Nats {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/nats/users.conf");
    let mut users = std::fs::read_to_string(file).unwrap();
    for name in ["COORDINATOR", "SPECTATOR", "W1", "W2"] {
        users = users.replace(&format!("${name}_PASSWORD"), "\"secret\"");
    }
    Nats::with(&users)
}

async fn enter(nats: &Nats, name: &str) -> NatsConnection {
    let url = format!("nats://{name}:secret@127.0.0.1:{}", nats.port());
    let options = NatsOptions { url, name: name.to_owned(), ..NatsOptions::default() };
    NatsConnection::connect(&options).await.unwrap()
}

/// Errors of the server for this user when it publishes or subscribes. Waits for `expected` errors.
async fn objections(link: &NatsConnection, publish: &str, subscribe: &str, expected: usize) -> Vec<String> {
    link.take_server_errors();
    let heard = if subscribe.is_empty() {
        None
    } else {
        Some(link.client().subscribe(subscribe.to_owned()).await.unwrap())
    };
    if !publish.is_empty() {
        link.client().publish(publish.to_owned(), "x".into()).await.unwrap();
    }
    settle(link).await;
    let mut objections = link.take_server_errors();
    // Events arrive in another task, so errors of the server may come later.
    let begun = Instant::now();
    while objections.len() < expected && begun.elapsed() < agon_test_servers::WAIT_TIMEOUT {
        tokio::time::sleep(Duration::from_millis(5)).await;
        objections.extend(link.take_server_errors());
    }
    drop(heard);
    objections
}

/// Waits until the server has processed everything so far. Its errors arrive before the reply to this round trip.
async fn settle(link: &NatsConnection) {
    let inbox = link.client().new_inbox();
    let mut back = link.client().subscribe(inbox.clone()).await.unwrap();
    link.client().publish(inbox, "".into()).await.unwrap();
    tokio::time::timeout(agon_test_servers::WAIT_TIMEOUT, back.next()).await.unwrap().unwrap();
}

fn run(doing: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(doing);
}

async fn queue(coordinator: &NatsConnection) {
    let config = stream::Config {
        name: WORK_STREAM.to_owned(),
        subjects: vec![subjects::ALL_WORK.to_owned()],
        retention: stream::RetentionPolicy::WorkQueue,
        ..stream::Config::default()
    };
    let stream = coordinator.jetstream().create_stream(config).await.unwrap();
    let config = consumer::pull::Config {
        durable_name: Some("cup".to_owned()),
        filter_subject: subjects::work("cup"),
        ..consumer::pull::Config::default()
    };
    stream.create_consumer(config).await.unwrap();
    let sent = coordinator.jetstream().publish(subjects::work("cup"), "job".into()).await.unwrap();
    sent.await.unwrap();
}

#[test]
fn each_user_has_the_permissions_of_its_role() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let nats = server();
    run(async {
        let (coordinator, w1) = (enter(&nats, "coordinator").await, enter(&nats, "w1").await);
        queue(&coordinator).await;
        // Files: the coordinator stores them, the worker reads them.
        let hash = Blobs::create(&coordinator, 64 << 20).await.unwrap().put(b"a bot").await.unwrap();
        assert_eq!(Blobs::open(&w1).await.unwrap().get(&hash).await.unwrap().unwrap(), b"a bot");
        // A job: pulled, reported, acked.
        let stream = w1.jetstream().get_stream_no_info(WORK_STREAM).await.unwrap();
        let consumer: consumer::PullConsumer = stream.get_consumer("cup").await.unwrap();
        let mut jobs =
            consumer.fetch().max_messages(1).expires(Duration::from_secs(5)).messages().await.unwrap();
        let job = jobs.next().await.unwrap().unwrap();
        job.ack_with(AckKind::Progress).await.unwrap();
        let mut reports = coordinator.client().subscribe(subjects::report("*", "cup")).await.unwrap();
        let answering = coordinator.clone();
        tokio::spawn(async move {
            let report = reports.next().await.unwrap();
            answering.client().publish(report.reply.unwrap(), "kept".into()).await.unwrap();
        });
        settle(&coordinator).await;
        let receipt = w1.client().request(subjects::report("w1", "cup"), "report".into()).await.unwrap();
        assert_eq!(&receipt.payload[..], b"kept");
        job.double_ack().await.unwrap();
        assert_eq!((w1.last_server_error(), coordinator.last_server_error()), (None, None));
    });
}

#[test]
fn worker_acknowledges_only_its_own_jobs() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let nats = server();
    run(async {
        let coordinator = enter(&nats, "coordinator").await;
        let (w1, w2) = (enter(&nats, "w1").await, enter(&nats, "w2").await);
        queue(&coordinator).await;
        let pull = async |link: &NatsConnection| {
            let stream = link.jetstream().get_stream_no_info(WORK_STREAM).await.unwrap();
            let consumer: consumer::PullConsumer = stream.get_consumer("cup").await.unwrap();
            let jobs = consumer.fetch().max_messages(1).expires(Duration::from_secs(5)).messages().await;
            jobs.unwrap().next().await.unwrap().unwrap()
        };
        let job = pull(&w2).await;
        let ack = job.reply.clone().unwrap();
        let queued = async || {
            let mut stream = coordinator.jetstream().get_stream(WORK_STREAM).await.unwrap();
            stream.info().await.unwrap().state.messages
        };
        // Every kind of acknowledgement has this subject. One that names the other worker's job is refused.
        let said = objections(&w1, &ack, "", 1).await;
        assert!(said.len() == 1 && said[0].contains("Permissions Violation for Publish"), "{said:?}");
        // A worker may reply to what it receives. It must not be able to send itself a request with such a reply subject.
        let inbox = w1.client().new_inbox();
        let mut own = w1.client().subscribe(inbox.clone()).await.unwrap();
        w1.client().publish_with_reply(inbox, ack.clone(), "x".into()).await.unwrap();
        let _ = tokio::time::timeout(Duration::from_millis(300), own.next()).await;
        w1.client().publish(ack.clone(), "+ACK".into()).await.unwrap();
        settle(&w1).await;
        assert_eq!(queued().await, 1, "the job of w2 is still in the queue");
        // The owner renews its lease as often as it wants, and then acks.
        for _ in 0..20 {
            job.ack_with(AckKind::Progress).await.unwrap();
        }
        job.double_ack().await.unwrap();
        assert_eq!((queued().await, w2.last_server_error()), (0, None));
    });
}

#[test]
fn spectator_can_list_and_drain_workers() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let nats = server();
    run(async {
        let (spectator, w1) = (enter(&nats, "spectator").await, enter(&nats, "w1").await);
        let roster = WorkerDirectory::listen(&spectator).await.unwrap();
        settle(&spectator).await;
        let beat = Heartbeat { cores: 2, ..Heartbeat::new("w1", "1") };
        let mut orders = w1.client().subscribe(subjects::command("w1")).await.unwrap();
        w1.client()
            .publish(subjects::heartbeat("w1"), messages::encode(&beat).unwrap().into())
            .await
            .unwrap();
        while roster.workers().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(roster.workers()[0].heartbeat, beat);
        let answering = w1.clone();
        tokio::spawn(async move {
            let order = orders.next().await.unwrap();
            assert_eq!(messages::decode::<WorkerCommand>(&order.payload).unwrap(), WorkerCommand::Drain);
            answering
                .client()
                .publish(order.reply.unwrap(), messages::encode(&CommandReply::Yes).unwrap().into())
                .await
                .unwrap();
        });
        assert_eq!(roster.send_command("w1", &WorkerCommand::Drain).await.unwrap(), CommandReply::Yes);
        let missing = roster.send_command("w2", &WorkerCommand::Drain).await.unwrap_err().to_string();
        assert!(missing.contains("worker w2 does not answer: it is not connected"), "{missing}");
        assert!(
            roster.send_command("*", &WorkerCommand::Drain).await.unwrap_err().kind() == ErrorKind::Usage
        );
        assert_eq!((w1.last_server_error(), spectator.last_server_error()), (None, None));
    });
}

#[test]
fn worker_has_no_other_permissions() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let nats = server();
    run(async {
        let (coordinator, w1) = (enter(&nats, "coordinator").await, enter(&nats, "w1").await);
        queue(&coordinator).await;
        let forbidden = [
            // Messages in the name of another worker.
            "agon.up.w2.beat",
            "agon.up.w2.report.cup",
            "agon.call",
            "agon.down.w2.order",
            "agon.work.cup",
            "agon.blob.0.0",
            "_INBOX_w2.x",
            "_INBOX_coordinator.x",
            // Streams.
            "$JS.API.STREAM.PURGE.AGON_WORK",
            "$JS.API.STREAM.DELETE.AGON_WORK",
            "$JS.API.STREAM.CREATE.MINE",
            "$JS.API.STREAM.UPDATE.AGON_BLOBS",
            "$JS.API.STREAM.MSG.DELETE.AGON_WORK",
            "$JS.API.CONSUMER.DELETE.AGON_WORK.cup",
            "$JS.API.CONSUMER.CREATE.AGON_WORK",
            "$JS.API.DIRECT.GET.AGON_WORK",
        ];
        for subject in forbidden {
            let said = objections(&w1, subject, "", 1).await;
            assert!(
                said.len() == 1 && said[0].contains("Permissions Violation for Publish"),
                "{subject}: {said:?}"
            );
        }
        for subject in [
            "agon.down.w2.order",
            "agon.down.>",
            "agon.up.>",
            "agon.work.*",
            "_INBOX_w2.>",
            "_INBOX_coordinator.>",
            ">",
        ] {
            let said = objections(&w1, "", subject, 1).await;
            assert!(
                said.len() == 1 && said[0].contains("Permissions Violation for Subscription"),
                "{subject}: {said:?}"
            );
        }
        assert_eq!(objections(&w1, "agon.up.w1.beat", "agon.down.w1.order", 0).await, Vec::<String>::new());
        // The program's own errors contain the reason.
        let error = Blobs::create(&w1, 1 << 20).await.unwrap_err().to_string();
        assert!(
            error.contains("Permissions Violation") && error.contains("hint: this user needs"),
            "{error}"
        );
    });
}

#[test]
fn spectator_has_no_other_permissions() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let nats = server();
    run(async {
        let spectator = enter(&nats, "spectator").await;
        for subject in ["agon.up.w1.beat", "agon.call", "agon.work.cup", "$JS.API.STREAM.LIST", "_INBOX_w1.x"]
        {
            assert_eq!(objections(&spectator, subject, "", 1).await.len(), 1, "{subject}");
        }
        for subject in ["agon.up.w1.report.cup", "agon.down.>", "_INBOX_w1.>"] {
            assert_eq!(objections(&spectator, "", subject, 1).await.len(), 1, "{subject}");
        }
    });
}
