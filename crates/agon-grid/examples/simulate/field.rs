//! Simulated workers: each has a connection of its own and says everything that a worker says, but has no bots. What it hands in are real
//! results of the cheapest game there is, played in microseconds; then it sleeps for as long as the game is said to have taken.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use agon_core::record::Recorder;
use agon_core::{Assets, Settings};
use agon_engine::{Seating, Table};
use agon_grid::blobs::Blobs;
use agon_grid::subjects::{self, CALL, WORK_STREAM};
use agon_grid::messages::{self, PIECE, PROTOCOL};
use agon_grid::{NatsConnection, NatsOptions};
use agon_league::{Entrant, MatchKey};
use agon_runner::match_progress::ResolvedPart;
use agon_runner::{MatchRunner, LoadedEntrant};
use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::{AckKind, Message};
use futures_util::StreamExt as _;
use tokio::task::JoinSet;

/// What the workers of a process have come to.
#[derive(Default)]
pub struct Seen {
    pub games: AtomicU64,
    pub jobs: AtomicU64,
    /// Seconds from asking for a job to having it, and from handing in to the receipt.
    pub waits: Mutex<Vec<f32>>,
    pub receipts: Mutex<Vec<f32>>,
}

/// A phase, ready to be played.
pub struct Room {
    table: Box<dyn Table>,
    parts: Vec<ResolvedPart>,
    members: Vec<LoadedEntrant>,
}

struct Worker {
    name: String,
    link: NatsConnection,
    mean: Duration,
    seen: Arc<Seen>,
    room: Arc<OnceLock<Room>>,
}

type Broken = Box<dyn std::error::Error + Send + Sync>;

/// So many workers whose games take so long on average, for so long; what they see while they get warm does not count.
pub async fn work(url: &str, count: usize, mean: Duration, warm: Duration, time: Duration) -> Arc<Seen> {
    let (seen, room) = (Arc::new(Seen::default()), Arc::new(OnceLock::new()));
    let mut all = JoinSet::new();
    for number in 0..count {
        let (url, seen, room) = (url.to_owned(), Arc::clone(&seen), Arc::clone(&room));
        all.spawn(async move {
            let name = format!("sim-{number}");
            let options = NatsOptions { url, name: name.clone(), ..NatsOptions::default() };
            // Not all at the same moment: a server takes only so many that knock at once.
            tokio::time::sleep(Duration::from_millis(number as u64)).await;
            let link = NatsConnection::connect(&options).await?;
            Worker { name, link, mean, seen, room }.run().await
        });
    }
    let ended = async {
        while let Some(ended) = all.join_next().await {
            // A worker never ends by itself.
            eprintln!("a simulated worker gave up: {ended:?}");
        }
    };
    let cold = Arc::clone(&seen);
    tokio::spawn(async move {
        tokio::time::sleep(warm).await;
        cold.waits.lock().unwrap().clear();
        cold.receipts.lock().unwrap().clear();
        cold.jobs.store(0, Ordering::Relaxed);
    });
    let _ = tokio::time::timeout(time, ended).await;
    seen
}

impl Worker {
    async fn run(self) -> Result<(), Broken> {
        let mut calls = self.link.client().subscribe(CALL).await?;
        let call = calls.next().await.ok_or("no more calls")?;
        let call: messages::Announcement = messages::decode(&call.payload)?;
        let rules =
            agon_games::infos().into_iter().map(|info| (info.id.to_owned(), info.rules_version)).collect();
        let hello = messages::JoinRequest {
            protocol: PROTOCOL,
            worker: self.name.clone(),
            session: self.name.clone(),
            engine: env!("CARGO_PKG_VERSION").to_owned(),
            rules,
            layers: Vec::new(),
            cores: 1,
            speed: 1.0,
        };
        let answer = self.ask(subjects::hello(&self.name, &call.competition_id), &hello).await?;
        let messages::JoinResponse::Accepted { consumer, lease_ms, .. } = messages::decode(&answer)? else {
            return Err("refused".into());
        };
        let beats = tokio::spawn(beat(self.link.clone(), self.name.clone(), Arc::clone(&self.seen)));
        let stream = self.link.jetstream().get_stream_no_info(WORK_STREAM).await?;
        let consumer: PullConsumer = stream.get_consumer(&consumer).await?;
        let lease = Duration::from_millis(lease_ms);
        loop {
            let asked = Instant::now();
            let mut got =
                consumer.batch().max_messages(1).expires(Duration::from_secs(20)).messages().await?;
            while let Some(message) = got.next().await {
                self.seen.waits.lock().unwrap().push(asked.elapsed().as_secs_f32());
                self.job(&message?, &call.competition_id, lease).await?;
            }
            if beats.is_finished() {
                return Err("no more beats".into());
            }
        }
    }

    async fn job(&self, message: &Message, cup: &str, lease: Duration) -> Result<(), Broken> {
        let job: messages::Job = messages::decode(&message.payload)?;
        if job.excluded_workers.contains(&self.name) {
            return message.ack_with(AckKind::Nak(None)).await;
        }
        let room = self.room(&job.brief).await?;
        let begun = Instant::now();
        let matches = play(room, &job)?;
        let mut takes = job.matches.iter().map(|one| length(self.mean, one.seed)).sum::<Duration>();
        while takes > lease / 3 {
            tokio::time::sleep(lease / 3).await;
            takes -= lease / 3;
            message.ack_with(AckKind::Progress).await?;
        }
        tokio::time::sleep(takes.saturating_sub(begun.elapsed())).await;
        let games = matches.len() as u64;
        let report = messages::JobReport {
            protocol: PROTOCOL,
            job: job.id.clone(),
            brief: job.brief,
            worker: self.name.clone(),
            session: self.name.clone(),
            took_us: begun.elapsed().as_micros() as u64,
            matches,
        };
        let handed = Instant::now();
        self.hand_in(&job.id, &report, cup).await?;
        self.seen.receipts.lock().unwrap().push(handed.elapsed().as_secs_f32());
        message.double_ack().await?;
        self.seen.games.fetch_add(games, Ordering::Relaxed);
        self.seen.jobs.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    async fn hand_in(&self, id: &str, report: &messages::JobReport, cup: &str) -> Result<(), Broken> {
        let bytes = messages::encode(report)?;
        let pieces: Vec<&[u8]> = bytes.chunks(PIECE).collect();
        'again: loop {
            for (piece, bytes) in pieces.iter().enumerate() {
                let part = messages::ReportChunk {
                    protocol: PROTOCOL,
                    report: format!("{}-{id}", self.name),
                    piece: piece as u32,
                    pieces: pieces.len() as u32,
                    bytes: bytes.to_vec(),
                };
                match self.ask(subjects::report(&self.name, cup), &part).await.map(|it| messages::decode(&it)) {
                    Ok(Ok(messages::ReportAck::Kept)) => return Ok(()),
                    Ok(Ok(messages::ReportAck::More)) => {}
                    Ok(Ok(messages::ReportAck::Refused { why })) => return Err(why.into()),
                    _ => continue 'again,
                }
            }
        }
    }

    async fn ask(&self, subject: String, words: &impl serde::Serialize) -> Result<bytes::Bytes, Broken> {
        Ok(self.link.client().request(subject, messages::encode(words)?.into()).await?.payload)
    }

    /// The phase of a job: read once for all workers of this process.
    async fn room(&self, brief: &str) -> Result<&Room, Broken> {
        if self.room.get().is_none() {
            let found = Blobs::open(&self.link).await?.get(brief).await?.ok_or("no brief")?;
            let brief: messages::PhaseSpec = messages::decode(&found)?;
            let _ = self.room.set(prepare(&brief)?);
        }
        self.room.get().ok_or_else(|| "no room".into())
    }
}

/// A phase of Solitude Scramble with so many bots of the house.
pub fn house(bots: usize) -> Room {
    let table = agon_engine::table("solitude-scramble").unwrap();
    let settings = Settings::defaults(table.info().settings);
    let member = |number: usize| LoadedEntrant {
        name: format!("bot {number}"),
        seating: Seating::House("left".to_owned()),
        commit: None,
        extra_file: None,
    };
    let parts = vec![ResolvedPart { games: 1, first_to: 1, settings }];
    Room { table, parts, members: (0..bots).map(member).collect() }
}

fn prepare(brief: &messages::PhaseSpec) -> Result<Room, Broken> {
    let table = agon_engine::table(&brief.game)?;
    let part = |part: &messages::PhasePart| {
        let pairs = part.settings.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        let settings = Settings::parse(table.info().settings, pairs)?;
        Ok::<_, Broken>(ResolvedPart { games: part.games, first_to: part.first_to, settings })
    };
    let parts = brief.variants[0].iter().map(part).collect::<Result<_, _>>()?;
    let member = |one: &messages::PhaseEntrant| {
        let messages::PhaseBot::House(name) = &one.bot else { return Err("simulated workers have no programs") };
        let seating = Seating::House(name.clone());
        Ok(LoadedEntrant { name: one.name.clone(), seating, commit: None, extra_file: None })
    };
    let members = brief.entrants.iter().map(member).collect::<Result<_, _>>()?;
    Ok(Room { table, parts, members })
}

pub fn play(room: &Room, job: &messages::Job) -> Result<Vec<messages::match_report::MatchReport>, Broken> {
    let assets = Assets::none();
    let bout = MatchRunner { table: room.table.as_ref(), assets: &assets, parts: &room.parts, in_parts: false };
    let mut recorder = Recorder::new();
    let mut all = Vec::with_capacity(job.matches.len());
    for one in &job.matches {
        let key = MatchKey { phase: 0, stage: one.stage, number: one.number };
        let seats: Vec<(Entrant, &LoadedEntrant)> =
            one.seats.iter().map(|&seat| (Entrant(seat), &room.members[seat as usize])).collect();
        all.push(bout.play(key, &seats, one.seed, &mut recorder, None)?.into());
    }
    Ok(all)
}

/// How long a game is said to have taken: half of the mean at least, the rest exponentially distributed, drawn from its seed.
fn length(mean: Duration, seed: u64) -> Duration {
    let mixed = (seed ^ (seed >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11;
    let share = (mixed as f64 + 1.0) / (1_u64 << 53) as f64;
    mean.mul_f64(0.5 - 0.5 * share.min(1.0).ln())
}

/// What a worker says of itself every two seconds.
async fn beat(link: NatsConnection, name: String, seen: Arc<Seen>) -> Result<(), Broken> {
    loop {
        let beat = messages::Heartbeat {
            engine: env!("CARGO_PKG_VERSION").to_owned(),
            busy: 1,
            games: seen.games.load(Ordering::Relaxed),
            rate: 1.0,
            used: 1.0,
            ..messages::Heartbeat::new(&name, &name)
        };
        link.client().publish(subjects::beat(&name), messages::encode(&beat)?.into()).await?;
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
}
