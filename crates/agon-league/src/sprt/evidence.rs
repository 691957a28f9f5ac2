//! Overwhelming evidence: a second stopping rule for pairs with bounded shares, for bots that are far apart.
//!
//! The ratio test asks whether NEW is nearer to `elo1` or to `elo0`. Both are close to each other, so even a pair that NEW loses 0 to 2
//! moves the ratio little: with 0 and 10 Elo, 110 lost pairs in a row are a *no*, and ten are none. Yet ten lost pairs are hardly possible
//! for a bot that is better.
//!
//! # The rule
//!
//! Bet against a hypothesis. If NEW's expected share of a pair is at least `s1`, then a bettor who stakes the fraction `l` of its money on
//! "less than `s1`" multiplies it by `1 + l (s1 - x)` after a pair with share `x`, and cannot expect a gain, whatever the distribution of the
//! shares is. Its money is a nonnegative supermartingale that starts at 1, so the probability that it *ever* reaches `1 / c` is at most `c`
//! (Ville's inequality). Four bettors with different stakes share the money, because the best stake is unknown. *Yes* bets against `s0` in
//! the same way. No approximation is involved: this holds for any number of pairs and any distribution.
//!
//! `c` is a tenth of the allowed error rate ([`EVIDENCE_BUDGET`]). The bounds of the ratio test use four fifths, so the sum stays below the
//! allowed rate. With an error rate of 5 %, nine lost pairs in a row are a *no*.

use super::{TestParams, TestVerdict, score_of_elo};

/// Share of the allowed error rates that this rule uses.
const EVIDENCE_BUDGET: f64 = 0.1;
/// Stakes as fractions of the largest possible one, with the share of the money that is bet in this way.
const STAKES: [(f64, f64); 4] = [(1.0, 0.4), (0.5, 0.3), (0.25, 0.2), (0.1, 0.1)];

/// Verdict of the bettors on shares of the points of a pair, each with the number of pairs.
pub fn verdict(seen: &[(f64, f64)], params: &TestParams) -> TestVerdict {
    let (s0, s1) = (score_of_elo(params.elo0), score_of_elo(params.elo1));
    // Both bets are written as bets on a low share. For *yes*, shares are counted from the other end.
    let no = money(&seen.iter().copied(), s1);
    let yes = money(&seen.iter().map(|(share, n)| (1.0 - share, *n)), 1.0 - s0);
    let reached = |log_money: f64, error_rate: f64| log_money >= -(EVIDENCE_BUDGET * error_rate).ln();
    match (reached(yes, params.alpha), reached(no, params.beta)) {
        (true, false) => TestVerdict::Yes,
        (false, true) => TestVerdict::No,
        _ => TestVerdict::NotYet,
    }
}

/// Logarithm of the money of all bettors against an expected share of at least `s`.
fn money(seen: &(impl Iterator<Item = (f64, f64)> + Clone), s: f64) -> f64 {
    let log_of = |stake: f64| -> f64 {
        let largest = 1.0 / (1.0 - s);
        seen.clone().map(|(share, n)| n * (stake * largest * (s - share)).max(-1.0).ln_1p()).sum()
    };
    let logs = STAKES.map(|(stake, part)| log_of(stake) + f64::ln(part));
    let most = logs.into_iter().fold(f64::NEG_INFINITY, f64::max);
    if most.is_finite() { most + logs.iter().map(|log| (log - most).exp()).sum::<f64>().ln() } else { most }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMS: TestParams = TestParams { elo0: 0.0, elo1: 10.0, alpha: 0.05, beta: 0.05 };

    #[test]
    fn nine_lost_pairs_are_a_no_and_nine_won_pairs_a_yes() {
        assert_eq!(verdict(&[(0.0, 8.0)], &PARAMS), TestVerdict::NotYet);
        assert_eq!(verdict(&[(0.0, 9.0)], &PARAMS), TestVerdict::No);
        assert_eq!(verdict(&[(1.0, 9.0)], &PARAMS), TestVerdict::Yes);
        assert_eq!(verdict(&[(0.0, 20.0), (1.0, 1.0)], &PARAMS), TestVerdict::No);
    }

    #[test]
    fn balanced_results_are_no_evidence() {
        assert_eq!(verdict(&[], &PARAMS), TestVerdict::NotYet);
        assert_eq!(verdict(&[(0.5, 100.0)], &PARAMS), TestVerdict::NotYet);
        assert_eq!(verdict(&[(0.0, 50.0), (1.0, 50.0)], &PARAMS), TestVerdict::NotYet);
    }

    /// The money after one pair, averaged over any distribution with the mean of the hypothesis, is 1.
    #[test]
    fn bets_are_fair_at_the_hypothesis() {
        let s = score_of_elo(10.0);
        let mean = (1.0 - s) * money(&[(0.0, 1.0)].into_iter(), s).exp()
            + s * money(&[(1.0, 1.0)].into_iter(), s).exp();
        assert!((mean - 1.0).abs() < 1e-9, "{mean}");
    }
}
