//! Doubt in figures: quantiles, intervals, and whether the order of two neighbours is settled.

#[cfg(test)]
mod coverage;
mod ranked_means;
mod interval;
mod quantile;

pub use ranked_means::{RankingMean, RankedMeans, NeighbourOrder};
pub use interval::{Interval, MeanEstimate, LEVEL};
pub use quantile::{normal, normal_quantile, student_quantile};
