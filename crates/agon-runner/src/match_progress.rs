//! Progress of a match: which game comes next, when the match is decided, and how many points it gives.

use agon_core::{Seat, Settings};
use agon_engine::GameSequence;
use agon_engine::referee::PlayedGame;
use agon_league::FixedPoint;

/// A part of a match, ready to be played.
#[derive(Clone, Debug)]
pub struct ResolvedPart {
    /// Maximum number of games.
    pub games: u32,
    /// Number of wins that ends the part.
    pub first_to: u32,
    /// Settings of its games.
    pub settings: Settings,
}

/// State of a match while it is played.
pub struct MatchProgress<'c> {
    parts: &'c [ResolvedPart],
    names: Vec<String>,
    /// The part that is being played.
    current_part: usize,
    /// Index of the next game, counted through all parts.
    next_index: u32,
    /// For each part: wins of each seat, and number of games played.
    wins: Vec<(Vec<u32>, u32)>,
    /// Seats that have lost the whole match by a fault.
    match_losers: Vec<usize>,
    /// All games played, each with its part.
    pub played: Vec<(u8, PlayedGame)>,
}

impl<'c> MatchProgress<'c> {
    /// Starts a match. `parts` must not be empty.
    pub fn new(parts: &'c [ResolvedPart], names: Vec<String>) -> Self {
        let wins = vec![(vec![0; names.len()], 0); parts.len()];
        Self {
            parts,
            names,
            current_part: 0,
            next_index: 0,
            wins,
            match_losers: Vec::new(),
            played: Vec::new(),
        }
    }

    /// Points of the match for each seat. Each part gives +1 to the winner and -1 to the loser. A seat that loses the whole match loses all
    /// parts. Empty if parts give no points: then only the scores of the games count.
    pub fn points(&self, parts_give_points: bool) -> Vec<FixedPoint> {
        let seats = self.names.len();
        if !parts_give_points {
            return Vec::new();
        }
        let parts = self.parts.len() as i64;
        if !self.match_losers.is_empty() {
            let sign = |seat| if self.match_losers.contains(&seat) { -parts } else { parts };
            return (0..seats).map(|seat| FixedPoint::from_int(sign(seat))).collect();
        }
        let part_points = |(wins, _): &(Vec<u32>, u32), seat: usize| {
            let others = wins.iter().enumerate().filter(|(other, _)| *other != seat).map(|(_, n)| *n);
            i64::from(others.max().unwrap_or(0)).cmp(&i64::from(wins[seat])).reverse() as i64
        };
        (0..seats)
            .map(|seat| FixedPoint::from_int(self.wins.iter().map(|part| part_points(part, seat)).sum()))
            .collect()
    }

    /// Whether the remaining games of this part can no longer change its winner.
    fn is_decided(&self, part: usize) -> bool {
        let (Some(rule), Some((wins, played))) = (self.parts.get(part), self.wins.get(part)) else {
            return true;
        };
        let mut sorted = wins.clone();
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        let (best, second) = (sorted.first().copied().unwrap_or(0), sorted.get(1).copied().unwrap_or(0));
        let left = rule.games.saturating_sub(*played);
        left == 0 || best >= rule.first_to || (rule.games > 1 && best - second > left)
    }
}

impl GameSequence for MatchProgress<'_> {
    fn names(&self) -> Option<Vec<String>> {
        Some(self.names.clone())
    }

    fn next(&mut self) -> Option<(u32, &Settings)> {
        while self.is_decided(self.current_part) {
            self.current_part += 1;
            if self.current_part >= self.parts.len() {
                return None;
            }
        }
        Some((self.next_index, &self.parts.get(self.current_part)?.settings))
    }

    fn done(&mut self, played: PlayedGame) {
        self.next_index += 1;
        if let Some((wins, games)) = self.wins.get_mut(self.current_part) {
            *games += 1;
            let winners: Vec<usize> = (0..wins.len())
                .filter(|seat| played.outcome.seats.get(*seat).is_some_and(|s| s.place == 1))
                .collect();
            if let [winner] = winners[..] {
                wins[winner] += 1;
            }
        }
        let seats = Seat::all(self.names.len());
        self.match_losers = seats.filter(|seat| played.loses_match(*seat)).map(Seat::index).collect();
        self.played.push((self.current_part as u8, played));
    }
}

#[cfg(test)]
mod tests {
    use agon_core::record::FaultRecord;
    use agon_core::{Fault, FaultReport, Outcome};

    use super::*;

    fn part(games: u32, first_to: u32) -> ResolvedPart {
        let info = agon_engine::any_game("connect-five").unwrap().info();
        let settings = Settings::parse(info.settings, std::iter::empty()).unwrap();
        ResolvedPart { games, first_to, settings }
    }

    fn game(scores: [f64; 2]) -> PlayedGame {
        let outcome = Outcome::ranked(&scores, "played out");
        PlayedGame {
            index: 0,
            seed: 0,
            outcome,
            turns: 1,
            faults: Vec::new(),
            seats: Vec::new(),
            record: None,
        }
    }

    /// Plays a match whose games have these winners (`1`, `2`, `=`). Returns the number of games of each part, and the points.
    fn play(parts: &[ResolvedPart], winners: &str) -> (Vec<usize>, Vec<FixedPoint>) {
        let mut progress = MatchProgress::new(parts, vec!["a".into(), "b".into()]);
        let mut winners = winners.chars().cycle();
        let mut expected = 0;
        while let Some((index, _)) = progress.next() {
            assert_eq!(index, expected, "the game index continues across parts");
            expected += 1;
            progress.done(match winners.next() {
                Some('1') => game([1.0, 0.0]),
                Some('2') => game([0.0, 1.0]),
                _ => game([0.5, 0.5]),
            });
        }
        let count = |part: usize| progress.played.iter().filter(|(p, _)| *p as usize == part).count();
        ((0..parts.len()).map(count).collect(), progress.points(true))
    }

    fn whole(points: [i64; 2]) -> Vec<FixedPoint> {
        points.map(FixedPoint::from_int).to_vec()
    }

    #[test]
    fn part_ends_when_a_seat_has_enough_wins() {
        assert_eq!(play(&[part(99, 50), part(9, 5)], "1"), (vec![50, 5], whole([2, -2])));
        // Alternating wins: the seat that wins first reaches 50 wins in game 99. The other seat wins the next game.
        assert_eq!(play(&[part(99, 50), part(9, 5)], "12"), (vec![99, 9], whole([0, 0])));
    }

    #[test]
    fn part_ends_when_the_lead_exceeds_the_remaining_games() {
        // One win, then draws: the lead of one is safe only after the last game.
        let mut winners = "1".to_owned();
        winners.push_str(&"=".repeat(200));
        assert_eq!(play(&[part(99, 50)], &winners), (vec![99], whole([1, -1])));
        winners.insert_str(0, "11");
        assert_eq!(play(&[part(9, 5)], &winners).0, vec![7]);
    }

    #[test]
    fn part_with_equal_wins_gives_no_points() {
        assert_eq!(play(&[part(9, 5)], "="), (vec![9], whole([0, 0])));
        assert_eq!(play(&[part(8, 5)], "12"), (vec![8], whole([0, 0])));
    }

    #[test]
    fn match_lost_by_a_crash_loses_all_parts() {
        let parts = [part(99, 50), part(9, 5)];
        let mut progress = MatchProgress::new(&parts, vec!["a".into(), "b".into()]);
        let mut lost = game([0.0, 1.0]);
        lost.outcome.match_lost_by = Some(Seat(0));
        progress.done(game([1.0, 0.0]));
        progress.done(lost);
        assert_eq!(progress.points(true), whole([-2, 2]));
    }

    #[test]
    fn match_in_which_both_fail_after_a_game_is_lost_by_both() {
        let parts = [part(99, 50), part(9, 5)];
        let mut progress = MatchProgress::new(&parts, vec!["a".into(), "b".into()]);
        let mut lost = game([1.0, 0.0]);
        let fault = |seat| FaultRecord {
            turn: lost.turns + 1,
            seat: Seat(seat),
            report: FaultReport::new(Fault::Crash, "adjust(): ZeroDivisionError"),
        };
        lost.faults = vec![fault(0), fault(1)];
        lost.outcome.match_lost_by = Some(Seat(0));
        progress.done(lost);
        assert_eq!(progress.points(true), whole([-2, -2]));
    }

    #[test]
    fn match_without_parts_gives_no_points() {
        let parts = [part(1, 1)];
        let mut progress = MatchProgress::new(&parts, vec!["a".into(), "b".into()]);
        assert!(progress.next().is_some());
        progress.done(game([3.0, 0.0]));
        assert!(progress.next().is_none());
        assert!(progress.points(false).is_empty());
    }
}
