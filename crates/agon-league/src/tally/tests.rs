//! A tally depends only on which matches were played.

use agon_core::random::FastRng;
use proptest::prelude::*;

use super::*;
use crate::result::MatchKey;
use crate::simulated;

fn any_seat() -> impl Strategy<Value = SeatResult> {
    let score = prop_oneof![(-4_i64..60).prop_map(FixedPoint::from_int), any::<i64>().prop_map(FixedPoint)];
    let statistics = (any::<i64>(), 0_u32..1000, any::<[u8; 4]>(), any::<u64>(), any::<u64>());
    (score, 1_u8..4, statistics).prop_map(
        |(score, place, (statistic, answers, faults, thought_ns, longest_ns))| SeatResult {
            entrant: Entrant(0),
            score,
            place,
            stats: [FixedPoint(statistic), FixedPoint::ZERO, FixedPoint::from_int(1)],
            answers,
            faults: faults.map(Into::into),
            thought_ns,
            longest_ns,
            meter: MeterKind::ALL.get(answers as usize % 4).copied(),
            empty_ns: thought_ns / 3,
        },
    )
}

fn any_match() -> impl Strategy<Value = MatchResult> {
    let who = (Just((0_u32..9).collect::<Vec<_>>()).prop_shuffle(), 1_usize..5);
    let games = prop::collection::vec((any::<u8>(), prop::collection::vec(any_seat(), 5)), 0..3);
    (who, games, any::<bool>()).prop_map(|((who, seats), games, given)| {
        let game = |(seed, mut all): (u8, Vec<SeatResult>)| {
            all.truncate(seats);
            all.iter_mut().zip(&who).for_each(|(seat, &entrant)| seat.entrant = Entrant(entrant));
            GameResult {
                part: 0,
                seed: seed.into(),
                turns: 7,
                ended: String::new(),
                match_lost_by: None,
                seats: all,
            }
        };
        let games: Vec<GameResult> = games.into_iter().map(game).collect();
        let points = if given { (0..seats as i64).map(FixedPoint::from_int).collect() } else { Vec::new() };
        MatchResult { key: MatchKey { phase: 0, stage: 0, number: 0 }, games, points }
    })
}

fn fold<'r>(game: &GameInfo, results: impl IntoIterator<Item = &'r MatchResult>) -> Tally {
    let mut tally = Tally::new(game);
    results.into_iter().for_each(|result| tally.add(result));
    tally
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn tally_does_not_depend_on_order_or_split(
        results in prop::collection::vec(any_match(), 0..60),
        seed in any::<u64>(),
        with_roles in any::<bool>(),
    ) {
        let game = simulated::game(if with_roles { "hide-and-seek" } else { "solitude-scramble" });
        let straight = fold(game, &results);
        let mut rng = FastRng::new(seed);
        let mut shuffled: Vec<&MatchResult> = results.iter().collect();
        rng.shuffle(&mut shuffled);
        let (left, right) = shuffled.split_at(rng.below(results.len() as u32 + 1) as usize);
        let mut merged = fold(game, left.iter().copied());
        merged.merge(&fold(game, right.iter().copied()));
        prop_assert_eq!(&fold(game, shuffled.iter().copied()).to_bytes(), &straight.to_bytes());
        prop_assert_eq!(&merged.to_bytes(), &straight.to_bytes());
        prop_assert!(merged == straight);
        let again = Tally::from_bytes(&straight.to_bytes());
        prop_assert_eq!(again.map(|tally| tally.to_bytes()), Ok(straight.to_bytes()));
    }

    #[test]
    fn histogram_of_many_values_does_not_depend_on_order(values in prop::collection::vec(any::<i32>(), 0..1500), cut in 0_usize..1500) {
        let count = |values: &[i32]| {
            let mut histogram = Histogram::default();
            for &value in values {
                histogram.add(value.into());
            }
            histogram
        };
        let mut sorted = values.clone();
        sorted.sort_unstable();
        prop_assert_eq!(&count(&sorted), &count(&values));
        let (left, right) = values.split_at(cut.min(values.len()));
        let mut merged = count(right);
        merged.merge(&count(left));
        prop_assert_eq!(merged, count(&values));
    }

    #[test]
    fn from_bytes_of_damaged_bytes_never_panics(at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<prop::sample::Index>()) {
        let bytes = simulated::home_and_away("connect-five", &["a", "b", "c"], 1).tally().to_bytes();
        let mut changed = bytes.clone();
        changed[at.index(bytes.len())] ^= byte;
        let _ = Tally::from_bytes(&changed);
        prop_assert!(Tally::from_bytes(&bytes[..cut.index(bytes.len())]).is_err());
    }
}

#[test]
fn from_bytes_of_foreign_bytes_names_the_problem() {
    assert_eq!(Tally::from_bytes(b"SQLite format 3"), Err(TallyDecodeError::NotATally));
    let mut newer = Tally::default().to_bytes();
    newer[4] = 9;
    assert_eq!(Tally::from_bytes(&newer), Err(TallyDecodeError::Version(9)));
    newer[4] = VERSION;
    newer.push(0);
    assert!(matches!(Tally::from_bytes(&newer), Err(TallyDecodeError::Damaged(_))));
}

#[test]
fn add_counts_all_totals() {
    let mut tally = Tally::default();
    let mut result = simulated::match_of(&[(4, 3.0), (2, 5.0), (7, 5.0)], &[]);
    result.games[0].seats[0].faults = [1, 0, 2, 0];
    result.games.push(simulated::game_of(&[(4, 9.0), (2, 0.5), (7, 1.0)]));
    tally.add(&result);
    let sums = tally.of(Entrant(4)).unwrap();
    assert_eq!((sums.games, sums.matches, sums.won, sums.drawn, sums.lost), (2, 1, 1, 0, 1));
    assert_eq!((sums.points, sums.score.min, sums.score.max), (12_000_000, 3_000_000, 9_000_000));
    assert!((sums.score.mean() - 6.0).abs() < 1e-12 && (sums.score.variance() - 18.0).abs() < 1e-9);
    assert_eq!((sums.faults, sums.answers, &sums.seats[..]), ([1, 0, 2, 0], 20, &[2][..]));
    assert_eq!((sums.opponents, sums.beaten, sums.beaten_squares), (4, 4, 16));
    assert_eq!(tally.of(Entrant(2)).unwrap().drawn, 1);
    assert!(tally.of(Entrant(3)).is_none());
    let met = tally.pairs().get(Entrant(7), Entrant(4)).unwrap();
    assert_eq!((met.games, met.won, met.lost, met.matches), (2, 1, 1, 1));
    assert_eq!((met.score_a, met.score_b), (6_000_000, 12_000_000));
    assert_eq!(met.cross, (5 * 3 + 9) * 1_000_000);
    assert_eq!(tally.pairs().len(), 3);
    assert_eq!(tally.pairs().get(Entrant(7), Entrant(3)), None);
}

#[test]
fn given_points_are_kept_per_pair() {
    let mut tally = Tally::default();
    tally.add(&simulated::match_of(&[(1, 1.0), (0, 0.0)], &[2.0, -2.0]));
    tally.add(&simulated::match_of(&[(0, 1.0), (1, 0.0)], &[1.0, -1.0]));
    let (one, other) = tally.pairs().points(Entrant(1), Entrant(0)).unwrap();
    assert_eq!((one, other), (FixedPoint::from_int(1), FixedPoint::from_int(-1)));
    assert_eq!(tally.of(Entrant(1)).unwrap().points, 1_000_000);
    assert_eq!(tally.of(Entrant(1)).unwrap().points_or_scores().count, 2);
}
