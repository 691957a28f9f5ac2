//! The course of a match: which game comes next, when it is decided, and what it gives in the table.

use agon_core::Settings;
use agon_engine::Programme;
use agon_engine::referee::Played;
use agon_league::FixedPoint;

/// A part of a match, ready to be played.
#[derive(Clone, Debug)]
pub struct ResolvedPart {
    /// At most so many games.
    pub games: u32,
    /// Over when somebody has won so many.
    pub first_to: u32,
    /// Its settings.
    pub settings: Settings,
}

/// A match as it goes.
pub struct MatchProgress<'c> {
    parts: &'c [ResolvedPart],
    names: Vec<String>,
    /// The part that is being played.
    part: usize,
    /// Games played in all parts.
    index: u32,
    /// What each seat has won in each part, and how many games were played in it.
    wins: Vec<(Vec<u32>, u32)>,
    lost_by: Option<usize>,
    /// All games, with the part each belongs to.
    pub played: Vec<(u8, Played)>,
}

impl<'c> MatchProgress<'c> {
    /// At the start. There is at least one part.
    pub fn new(parts: &'c [ResolvedPart], names: Vec<String>) -> Self {
        let wins = vec![(vec![0; names.len()], 0); parts.len()];
        Self { parts, names, part: 0, index: 0, wins, lost_by: None, played: Vec::new() }
    }

    /// What the match gives each seat: +1 and -1 for each part won and lost, where a match has parts; a lost match loses all of
    /// them. Without parts nothing beside the scores of its games.
    pub fn points(&self, in_parts: bool) -> Vec<FixedPoint> {
        let seats = self.names.len();
        if !in_parts {
            return Vec::new();
        }
        let parts = self.parts.len() as i64;
        if let Some(loser) = self.lost_by {
            let sign = |seat| if seat == loser { -parts } else { parts };
            return (0..seats).map(|seat| FixedPoint::whole(sign(seat))).collect();
        }
        let of_part = |(wins, _): &(Vec<u32>, u32), seat: usize| {
            let others = wins.iter().enumerate().filter(|(other, _)| *other != seat).map(|(_, n)| *n);
            i64::from(others.max().unwrap_or(0)).cmp(&i64::from(wins[seat])).reverse() as i64
        };
        (0..seats).map(|seat| FixedPoint::whole(self.wins.iter().map(|part| of_part(part, seat)).sum())).collect()
    }

    /// Whether nothing that can still happen in this part changes who takes it.
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

impl Programme for MatchProgress<'_> {
    fn names(&self) -> Option<Vec<String>> {
        Some(self.names.clone())
    }

    fn next(&mut self) -> Option<(u32, &Settings)> {
        while self.is_decided(self.part) {
            self.part += 1;
            if self.part >= self.parts.len() {
                return None;
            }
        }
        Some((self.index, &self.parts.get(self.part)?.settings))
    }

    fn done(&mut self, played: Played) {
        self.index += 1;
        if let Some((wins, games)) = self.wins.get_mut(self.part) {
            *games += 1;
            let first: Vec<usize> = (0..wins.len())
                .filter(|seat| played.outcome.seats.get(*seat).is_some_and(|s| s.place == 1))
                .collect();
            if let [winner] = first[..] {
                wins[winner] += 1;
            }
        }
        self.lost_by = played.outcome.match_lost_by.map(agon_core::Seat::index);
        self.played.push((self.part as u8, played));
    }
}

#[cfg(test)]
mod tests {
    use agon_core::{Outcome, Seat};

    use super::*;

    fn part(games: u32, first_to: u32) -> ResolvedPart {
        let info = agon_engine::table("connect-five").unwrap().info();
        let settings = Settings::parse(info.settings, std::iter::empty()).unwrap();
        ResolvedPart { games, first_to, settings }
    }

    fn game(scores: [f64; 2]) -> Played {
        let outcome = Outcome::ranked(&scores, "played out");
        Played { index: 0, seed: 0, outcome, turns: 1, faults: Vec::new(), seats: Vec::new(), record: None }
    }

    /// Plays a match whose games have these winners (`1`, `2`, `=`), and says how many were played in each part.
    fn play(parts: &[ResolvedPart], winners: &str) -> (Vec<usize>, Vec<FixedPoint>) {
        let mut course = MatchProgress::new(parts, vec!["a".into(), "b".into()]);
        let mut winners = winners.chars().cycle();
        let mut expected = 0;
        while let Some((index, _)) = course.next() {
            assert_eq!(index, expected, "games count on through all parts");
            expected += 1;
            course.done(match winners.next() {
                Some('1') => game([1.0, 0.0]),
                Some('2') => game([0.0, 1.0]),
                _ => game([0.5, 0.5]),
            });
        }
        let count = |part: usize| course.played.iter().filter(|(p, _)| *p as usize == part).count();
        ((0..parts.len()).map(count).collect(), course.points(true))
    }

    fn whole(points: [i64; 2]) -> Vec<FixedPoint> {
        points.map(FixedPoint::whole).to_vec()
    }

    #[test]
    fn a_part_is_over_when_somebody_has_won_enough() {
        assert_eq!(play(&[part(99, 50), part(9, 5)], "1"), (vec![50, 5], whole([2, -2])));
        // Alternating: the first to win gets to 50 in game 99, then the other begins.
        assert_eq!(play(&[part(99, 50), part(9, 5)], "12"), (vec![99, 9], whole([0, 0])));
    }

    #[test]
    fn a_lead_that_cannot_be_made_up_for_decides() {
        // One win and then draws: after 98 games nobody can catch up.
        let mut winners = "1".to_owned();
        winners.push_str(&"=".repeat(200));
        assert_eq!(play(&[part(99, 50)], &winners), (vec![99], whole([1, -1])));
        winners.insert_str(0, "11");
        assert_eq!(play(&[part(9, 5)], &winners).0, vec![7]);
    }

    #[test]
    fn equal_wins_give_nothing_to_both() {
        assert_eq!(play(&[part(9, 5)], "="), (vec![9], whole([0, 0])));
        assert_eq!(play(&[part(8, 5)], "12"), (vec![8], whole([0, 0])));
    }

    #[test]
    fn a_crash_loses_both_parts() {
        let parts = [part(99, 50), part(9, 5)];
        let mut course = MatchProgress::new(&parts, vec!["a".into(), "b".into()]);
        let mut lost = game([0.0, 1.0]);
        lost.outcome.match_lost_by = Some(Seat(0));
        course.done(game([1.0, 0.0]));
        course.done(lost);
        assert_eq!(course.points(true), whole([-2, 2]));
    }

    #[test]
    fn without_parts_the_scores_count() {
        let parts = [part(1, 1)];
        let mut course = MatchProgress::new(&parts, vec!["a".into(), "b".into()]);
        assert!(course.next().is_some());
        course.done(game([3.0, 0.0]));
        assert!(course.next().is_none());
        assert!(course.points(false).is_empty());
    }
}
