//! Doubt in figures: quantiles, intervals, and whether the order of two neighbours is settled.

#[cfg(test)]
mod coverage;
mod field;
mod interval;
mod quantile;

pub use field::{Counted, Field, Order};
pub use interval::{Interval, Known, LEVEL};
pub use quantile::{normal, normal_quantile, student_quantile};
