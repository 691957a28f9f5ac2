//! Predicts the throughput of a league: a closed queueing network, solved exactly by mean value analysis.
//!
//! Each worker plays a job (without queueing), then the job passes the stations, where it may queue behind others. The cost at each station
//! is measured beforehand, one at a time, and never at the load to predict.

/// A place where jobs queue.
#[derive(Clone, Copy, Debug)]
pub struct Station {
    pub name: &'static str,
    /// Seconds per game, and per job besides its games.
    pub per_game: f64,
    pub per_job: f64,
    /// Number of jobs served in parallel.
    pub servers: f64,
}

/// Predicted values.
#[derive(Clone, Debug)]
pub struct Prediction {
    pub games_per_second: f64,
    /// Seconds that a job takes besides playing.
    pub overhead: f64,
    pub bottleneck: &'static str,
    /// Utilization of the bottleneck.
    pub utilization: f64,
}

/// Games per job: about a second of work.
fn games_per_job(mean: f64) -> f64 {
    (1.0 / mean).round().clamp(1.0, 512.0)
}

/// Predicts a league of workers whose games take `mean` seconds. Each job takes `base_delay` seconds more at any load.
pub fn predict(stations: &[Station], workers: usize, mean: f64, base_delay: f64) -> Prediction {
    let games = games_per_job(mean);
    let (play_time, demands) = (
        games * mean + base_delay,
        stations.iter().map(|one| games * one.per_game + one.per_job).collect::<Vec<f64>>(),
    );
    let mut queue_lengths = vec![0.0; stations.len()];
    let (mut rate, mut overhead) = (0.0, 0.0);
    for present in 1..=workers {
        // Seidmann's approximation of several servers: one server with their total speed, and a delay without queueing for the rest.
        let time_at = |(index, station): (usize, &Station)| {
            let service_time = demands[index] / station.servers;
            service_time * (1.0 + queue_lengths[index]) + demands[index] - service_time
        };
        let times: Vec<f64> = stations.iter().enumerate().map(time_at).collect();
        overhead = times.iter().sum::<f64>();
        rate = present as f64 / (play_time + overhead);
        for (index, station) in stations.iter().enumerate() {
            let service_time = demands[index] / station.servers;
            queue_lengths[index] = rate * service_time * (1.0 + queue_lengths[index]);
        }
    }
    let load = |index: usize| rate * demands[index] / stations[index].servers;
    let bottleneck = (0..stations.len()).max_by(|&a, &b| load(a).total_cmp(&load(b))).unwrap_or(0);
    Prediction {
        games_per_second: rate * games,
        overhead: overhead + base_delay,
        bottleneck: stations[bottleneck].name,
        utilization: load(bottleneck),
    }
}
