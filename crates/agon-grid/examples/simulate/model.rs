//! What the same league should come to on paper: a closed network of queues, solved exactly by mean value analysis.
//!
//! Each worker goes round: it plays a job (nobody waits for that), then the job passes the stations where others may stand before it. What a job
//! costs at each of them was measured beforehand, one thing at a time, never at the load that is to be foretold.

/// Where jobs wait for each other.
#[derive(Clone, Copy, Debug)]
pub struct Station {
    pub name: &'static str,
    /// Seconds that a game takes there, and a job beside its games.
    pub a_game: f64,
    pub a_job: f64,
    /// So many are served at once.
    pub servers: f64,
}

/// What comes of it.
#[derive(Clone, Debug)]
pub struct Foretold {
    pub games: f64,
    /// Seconds that a job spends beside being played.
    pub waits: f64,
    pub bottleneck: &'static str,
    /// The bottleneck's share of time at work.
    pub busy: f64,
}

/// Games in a job: about a second of work.
fn games_in_a_job(mean: f64) -> f64 {
    (1.0 / mean).round().clamp(1.0, 512.0)
}

/// So many workers whose games take `mean` seconds, `hop` seconds on the way whatever the load.
pub fn foretell(stations: &[Station], workers: usize, mean: f64, hop: f64) -> Foretold {
    let games = games_in_a_job(mean);
    let (think, demand) =
        (games * mean + hop, stations.iter().map(|one| games * one.a_game + one.a_job).collect::<Vec<f64>>());
    let mut queued = vec![0.0; stations.len()];
    let (mut rate, mut waits) = (0.0, 0.0);
    for present in 1..=workers {
        // A station with several servers: one that is as quick as all of them, and the rest of the time without waiting (Seidmann).
        let stay = |(place, station): (usize, &Station)| {
            let quick = demand[place] / station.servers;
            quick * (1.0 + queued[place]) + demand[place] - quick
        };
        let stays: Vec<f64> = stations.iter().enumerate().map(stay).collect();
        waits = stays.iter().sum::<f64>();
        rate = present as f64 / (think + waits);
        for (place, station) in stations.iter().enumerate() {
            let quick = demand[place] / station.servers;
            queued[place] = rate * quick * (1.0 + queued[place]);
        }
    }
    let load = |place: usize| rate * demand[place] / stations[place].servers;
    let worst = (0..stations.len()).max_by(|&a, &b| load(a).total_cmp(&load(b))).unwrap_or(0);
    Foretold { games: rate * games, waits: waits + hop, bottleneck: stations[worst].name, busy: load(worst) }
}
