//! Simulated workers. Each has its own connection and sends everything that a worker sends, but has no bots. It reports real results of the
//! cheapest game, played in microseconds, and sleeps for the simulated length of the game.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use agon_core::record::Recorder;
use agon_core::{Assets, Settings};
use agon_engine::{AnyGame, PlayerSpec};
use agon_grid::blobs::Blobs;
use agon_grid::messages::{self, MAX_CHUNK_BYTES, PROTOCOL};
use agon_grid::subjects::{self, ANNOUNCEMENTS, WORK_STREAM};
use agon_grid::{NatsConnection, NatsOptions};
use agon_league::{Entrant, MatchKey};
use agon_runner::match_progress::ResolvedPart;
use agon_runner::{LoadedEntrant, MatchRunner};
use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::{AckKind, Message};
use futures_util::StreamExt as _;
use tokio::task::JoinSet;

/// Statistics of the workers of a process.
#[derive(Default)]
pub struct WorkerStats {
    pub games: AtomicU64,
    pub jobs: AtomicU64,
    /// Seconds from a pull to its job, and from a report to its ack.
    pub waits: Mutex<Vec<f32>>,
    pub acks: Mutex<Vec<f32>>,
}

/// A loaded phase.
pub struct PhaseSetup {
    game: Box<dyn AnyGame>,
    parts: Vec<ResolvedPart>,
    entrants: Vec<LoadedEntrant>,
}

struct Worker {
    name: String,
    link: NatsConnection,
    mean_game: Duration,
    stats: Arc<WorkerStats>,
    phase_setup: Arc<OnceLock<PhaseSetup>>,
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Runs workers with this mean game length for some time. Statistics of the warm-up are dropped.
pub async fn run_workers(
    url: &str,
    count: usize,
    mean_game: Duration,
    warmup: Duration,
    time: Duration,
) -> Arc<WorkerStats> {
    let (stats, phase_setup) = (Arc::new(WorkerStats::default()), Arc::new(OnceLock::new()));
    let mut all = JoinSet::new();
    for number in 0..count {
        let (url, stats, phase_setup) = (url.to_owned(), Arc::clone(&stats), Arc::clone(&phase_setup));
        all.spawn(async move {
            let name = format!("sim-{number}");
            let options = NatsOptions { url, name: name.clone(), ..NatsOptions::default() };
            // Staggered, because a server accepts only some new connections at a time.
            tokio::time::sleep(Duration::from_millis(number as u64)).await;
            let link = NatsConnection::connect(&options).await?;
            Worker { name, link, mean_game, stats, phase_setup }.run().await
        });
    }
    let ended = async {
        while let Some(ended) = all.join_next().await {
            // Workers do not end by themselves.
            eprintln!("a simulated worker failed: {ended:?}");
        }
    };
    let warm_stats = Arc::clone(&stats);
    tokio::spawn(async move {
        tokio::time::sleep(warmup).await;
        warm_stats.waits.lock().unwrap().clear();
        warm_stats.acks.lock().unwrap().clear();
        warm_stats.jobs.store(0, Ordering::Relaxed);
    });
    let _ = tokio::time::timeout(time, ended).await;
    stats
}

impl Worker {
    async fn run(self) -> Result<(), BoxError> {
        let mut announcements = self.link.client().subscribe(ANNOUNCEMENTS).await?;
        let announcement = announcements.next().await.ok_or("no announcement")?;
        let announcement: messages::Announcement = messages::decode(&announcement.payload)?;
        let rules =
            agon_games::infos().into_iter().map(|info| (info.id.to_owned(), info.rules_version)).collect();
        let request = messages::JoinRequest {
            protocol: PROTOCOL,
            worker: self.name.clone(),
            session: self.name.clone(),
            engine: env!("CARGO_PKG_VERSION").to_owned(),
            rules,
            layers: Vec::new(),
            cores: 1,
            speed: 1.0,
            missing: Vec::new(),
        };
        let response = self.ask(subjects::join(&self.name, &announcement.competition_id), &request).await?;
        let messages::JoinResponse::Accepted { consumer, lease_ms, .. } = messages::decode(&response)? else {
            return Err("refused".into());
        };
        let heartbeats =
            tokio::spawn(heartbeat_loop(self.link.clone(), self.name.clone(), Arc::clone(&self.stats)));
        let stream = self.link.jetstream().get_stream_no_info(WORK_STREAM).await?;
        let consumer: PullConsumer = stream.get_consumer(&consumer).await?;
        let lease = Duration::from_millis(lease_ms);
        loop {
            let pulled = Instant::now();
            let mut jobs =
                consumer.batch().max_messages(1).expires(Duration::from_secs(20)).messages().await?;
            while let Some(message) = jobs.next().await {
                self.stats.waits.lock().unwrap().push(pulled.elapsed().as_secs_f32());
                self.run_job(&message?, &announcement.competition_id, lease).await?;
            }
            if heartbeats.is_finished() {
                return Err("the heartbeats ended".into());
            }
        }
    }

    async fn run_job(
        &self,
        message: &Message,
        competition_id: &str,
        lease: Duration,
    ) -> Result<(), BoxError> {
        let job: messages::Job = messages::decode(&message.payload)?;
        if job.excluded_workers.contains(&self.name) {
            return message.ack_with(AckKind::Nak(None)).await;
        }
        let phase_setup = self.phase_setup(&job.phase_spec).await?;
        let started = Instant::now();
        let matches = play(phase_setup, &job)?;
        let mut remaining =
            job.matches.iter().map(|one| game_duration(self.mean_game, one.seed)).sum::<Duration>();
        while remaining > lease / 3 {
            tokio::time::sleep(lease / 3).await;
            remaining -= lease / 3;
            message.ack_with(AckKind::Progress).await?;
        }
        tokio::time::sleep(remaining.saturating_sub(started.elapsed())).await;
        let games = matches.len() as u64;
        let report = messages::JobReport {
            protocol: PROTOCOL,
            job: job.id.clone(),
            phase_spec: job.phase_spec,
            worker: self.name.clone(),
            session: self.name.clone(),
            duration_us: started.elapsed().as_micros() as u64,
            matches,
        };
        let sent = Instant::now();
        self.send_report(&job.id, &report, competition_id).await?;
        self.stats.acks.lock().unwrap().push(sent.elapsed().as_secs_f32());
        message.double_ack().await?;
        self.stats.games.fetch_add(games, Ordering::Relaxed);
        self.stats.jobs.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    async fn send_report(
        &self,
        id: &str,
        report: &messages::JobReport,
        competition_id: &str,
    ) -> Result<(), BoxError> {
        let bytes = messages::encode(report)?;
        let chunks: Vec<&[u8]> = bytes.chunks(MAX_CHUNK_BYTES).collect();
        'resend: loop {
            for (index, bytes) in chunks.iter().enumerate() {
                let chunk = messages::ReportChunk {
                    protocol: PROTOCOL,
                    report: format!("{}-{id}", self.name),
                    chunk: index as u32,
                    chunks: chunks.len() as u32,
                    bytes: bytes.to_vec(),
                };
                match self
                    .ask(subjects::report(&self.name, competition_id), &chunk)
                    .await
                    .map(|it| messages::decode(&it))
                {
                    Ok(Ok(messages::ReportAck::Stored)) => return Ok(()),
                    Ok(Ok(messages::ReportAck::NextChunk)) => {}
                    Ok(Ok(messages::ReportAck::Refused { why })) => return Err(why.into()),
                    _ => continue 'resend,
                }
            }
        }
    }

    async fn ask(&self, subject: String, message: &impl serde::Serialize) -> Result<bytes::Bytes, BoxError> {
        Ok(self.link.client().request(subject, messages::encode(message)?.into()).await?.payload)
    }

    /// Phase of a job, loaded once for all workers of this process.
    async fn phase_setup(&self, phase_spec: &str) -> Result<&PhaseSetup, BoxError> {
        if self.phase_setup.get().is_none() {
            let found =
                Blobs::open(&self.link).await?.get(phase_spec).await?.ok_or("the phase spec is missing")?;
            let phase_spec: messages::PhaseSpec = messages::decode(&found)?;
            let _ = self.phase_setup.set(load_phase(&phase_spec)?);
        }
        self.phase_setup.get().ok_or_else(|| "the phase is not loaded".into())
    }
}

/// A phase of the first game with house bots.
pub fn house_phase(bots: usize) -> PhaseSetup {
    let game = agon_engine::any_game(agon_games::infos()[0].id).unwrap();
    let bot = game.house_bots()[0].name;
    let settings = Settings::defaults(game.info().settings);
    let entrant = |number: usize| LoadedEntrant {
        name: format!("bot {number}"),
        player: PlayerSpec::House(bot.to_owned()),
        commit: None,
        extra_file: None,
        says: agon_core::SelfDescription::default(),
    };
    let parts = vec![ResolvedPart { games: 1, first_to: 1, settings }];
    PhaseSetup { game, parts, entrants: (0..bots).map(entrant).collect() }
}

fn load_phase(phase_spec: &messages::PhaseSpec) -> Result<PhaseSetup, BoxError> {
    let game = agon_engine::any_game(&phase_spec.game)?;
    let part = |part: &messages::PhasePart| {
        let pairs = part.settings.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        let settings = Settings::parse(game.info().settings, pairs)?;
        Ok::<_, BoxError>(ResolvedPart { games: part.games, first_to: part.first_to, settings })
    };
    let parts = phase_spec.variants[0].iter().map(part).collect::<Result<_, _>>()?;
    let entrant = |one: &messages::PhaseEntrant| {
        let messages::PhaseBot::House(name) = &one.bot else {
            return Err("simulated workers cannot run programs");
        };
        let player = PlayerSpec::House(name.clone());
        Ok(LoadedEntrant {
            name: one.name.clone(),
            player,
            commit: None,
            extra_file: None,
            says: agon_core::SelfDescription::default(),
        })
    };
    let entrants = phase_spec.entrants.iter().map(entrant).collect::<Result<_, _>>()?;
    Ok(PhaseSetup { game, parts, entrants })
}

pub fn play(
    phase_setup: &PhaseSetup,
    job: &messages::Job,
) -> Result<Vec<messages::match_report::MatchReport>, BoxError> {
    let assets = Assets::none();
    let runner = MatchRunner {
        game: phase_setup.game.as_ref(),
        assets: &assets,
        parts: &phase_setup.parts,
        parts_give_points: false,
    };
    let mut recorder = Recorder::new();
    let mut all = Vec::with_capacity(job.matches.len());
    for one in &job.matches {
        let key = MatchKey { phase: 0, stage: one.stage, number: one.number };
        let seats: Vec<(Entrant, &LoadedEntrant)> =
            one.seats.iter().map(|&seat| (Entrant(seat), &phase_setup.entrants[seat as usize])).collect();
        all.push(runner.play(key, &seats, one.seed, &mut recorder, None)?.into());
    }
    Ok(all)
}

/// Simulated length of a game: half of the mean, plus an exponentially distributed rest drawn from its seed.
fn game_duration(mean_game: Duration, seed: u64) -> Duration {
    let mixed = (seed ^ (seed >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11;
    let share = (mixed as f64 + 1.0) / (1_u64 << 53) as f64;
    mean_game.mul_f64(0.5 - 0.5 * share.min(1.0).ln())
}

/// Publishes heartbeats.
async fn heartbeat_loop(link: NatsConnection, name: String, stats: Arc<WorkerStats>) -> Result<(), BoxError> {
    loop {
        let heartbeat = messages::Heartbeat {
            engine: env!("CARGO_PKG_VERSION").to_owned(),
            busy: 1,
            games: stats.games.load(Ordering::Relaxed),
            games_per_second: 1.0,
            utilization: 1.0,
            ..messages::Heartbeat::new(&name, &name)
        };
        link.client().publish(subjects::heartbeat(&name), messages::encode(&heartbeat)?.into()).await?;
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
}
