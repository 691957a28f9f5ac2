//! Uncertainty: quantiles, confidence intervals, and whether the order of two neighbours is settled.

#[cfg(test)]
mod coverage;
mod interval;
mod quantile;
mod ranked_means;

pub use interval::{CONFIDENCE_LEVEL, ConfidenceInterval, MeanEstimate};
pub use quantile::{normal_cdf, normal_quantile, student_quantile};
pub use ranked_means::{NeighbourOrder, RankedMeans, RankingMean};
