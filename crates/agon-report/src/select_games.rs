//! Selects the games that get a page. Games are read one after the other and only the best candidates are kept, so memory use does not
//! depend on the number of games.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use agon_bots::error::Diagnostic;
use agon_competition::LoadedCompetition;
use agon_core::standings_rules::TieBreak;
use agon_core::{GameInfo, ScoreDirection, Seat};
use agon_league::{Entrant, GameResult, MatchKey, SeatResult};
use agon_store::{Ledger, MatchFilter, StoredMatch};
use futures_util::StreamExt as _;

use crate::data::{GameLine, GameList, SeatLine};

/// Number of games per phase with a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GameSelection {
    /// At most this number.
    Some(usize),
    /// All games.
    All,
}

/// Maximum number of games listed besides those with a page.
const MAX_GAMES_LISTED: usize = 300;
/// Maximum number of entrants for which one game of each pair is shown.
const MAX_ENTRANTS_FOR_PAIRS: usize = 8;

/// The games of a phase: a list, some of them with a page.
pub async fn games(
    loaded: &LoadedCompetition,
    ledger: &dyn Ledger,
    phase: u32,
    stages: &[String],
    wanted: GameSelection,
) -> Result<GameList, Diagnostic> {
    let info = loaded.table.info();
    let mut picker = GamePicker::new(info, wanted, loaded.competition.entrants.len());
    let mut matches = ledger.matches(phase, MatchFilter::default());
    while let Some(one) = matches.next().await {
        let one = one?;
        let stage = stages.get(one.result.key.stage as usize).map_or("", String::as_str);
        for (number, game) in one.result.games.iter().enumerate() {
            picker.look(line(info, &one, number as u32, game, stage), game);
        }
    }
    let mut list = picker.list();
    // A ledger may be configured to keep no records.
    for game in list.shown.iter_mut().filter(|game| game.has_page) {
        game.has_page = ledger.record(game.key, game.game).await?.is_some();
    }
    Ok(list)
}

fn line(info: &GameInfo, one: &StoredMatch, number: u32, game: &GameResult, stage: &str) -> GameLine {
    let beside = info.stat_beside_score().map(|(index, _)| index);
    let seat = |seat: &SeatResult| SeatLine {
        entrant: seat.entrant,
        score: seat.score.to_f64(),
        place: seat.place,
        beside: beside.map(|index| seat.stats[index].to_f64()),
    };
    GameLine {
        key: one.result.key,
        game: number,
        games_in_match: one.result.games.len() as u32,
        stage: stage.to_owned(),
        turns: game.turns,
        ended: game.ended.clone(),
        seats: game.seats.iter().map(seat).collect(),
        wins_before: one.result.wins_before(number as usize),
        faults: game.seats.iter().flat_map(|seat| seat.faults).sum(),
        has_page: false,
        reasons: Vec::new(),
    }
}

/// The best N by some measure, best first. Equal ones keep their order.
struct TopN {
    most: usize,
    kept: Vec<([f64; 3], GameLine)>,
}

impl TopN {
    fn offer(&mut self, measure: [f64; 3], line: &GameLine) {
        let before = |kept: &[f64; 3]| {
            kept.iter().zip(&measure).map(|(a, b)| b.total_cmp(a)).find(|it| it.is_ne())
                != Some(Ordering::Greater)
        };
        let at = self.kept.iter().position(|(kept, _)| !before(kept)).unwrap_or(self.kept.len());
        if at < self.most {
            self.kept.insert(at, (measure, line.clone()));
            self.kept.truncate(self.most);
        }
    }
}

struct GamePicker {
    info: &'static GameInfo,
    wanted: GameSelection,
    small: bool,
    listed: Vec<GameLine>,
    /// Games of the last stages first.
    finals: TopN,
    /// One game for each entrant and kind of fault.
    faults: BTreeMap<(Entrant, usize), GameLine>,
    /// Best games of each role.
    best: Vec<TopN>,
    closest: TopN,
    pairs: BTreeMap<[Entrant; 2], GameLine>,
}

impl GamePicker {
    fn new(info: &'static GameInfo, wanted: GameSelection, entrants: usize) -> Self {
        let most = match wanted {
            GameSelection::Some(most) => most,
            GameSelection::All => 0,
        };
        let few = || TopN { most, kept: Vec::new() };
        Self {
            info,
            wanted,
            small: entrants <= MAX_ENTRANTS_FOR_PAIRS && info.seats.max == 2,
            listed: Vec::new(),
            finals: few(),
            faults: BTreeMap::new(),
            best: info.roles.iter().map(|_| few()).collect(),
            closest: few(),
            pairs: BTreeMap::new(),
        }
    }

    fn look(&mut self, line: GameLine, game: &GameResult) {
        if self.wanted == GameSelection::All {
            self.listed.push(GameLine { has_page: true, ..line });
            return;
        }
        if line.stage.contains("final") {
            self.finals.offer([f64::from(line.key.stage), 0.0, 0.0], &line);
        }
        for seat in &game.seats {
            for kind in (0..seat.faults.len()).filter(|&kind| seat.faults[kind] > 0) {
                if self.faults.len() < MAX_GAMES_LISTED {
                    self.faults.entry((seat.entrant, kind)).or_insert_with(|| line.clone());
                }
            }
        }
        for (role, few) in self.best.iter_mut().enumerate() {
            few.offer(best(self.info, role, game), &line);
        }
        // Scores of different roles cannot be compared.
        if self.info.roles.len() <= 1 {
            self.closest.offer(closest(self.info, game), &line);
        }
        if let (true, [a, b]) = (self.small, &game.seats[..]) {
            let pair = [a.entrant.min(b.entrant), a.entrant.max(b.entrant)];
            self.pairs.entry(pair).or_insert_with(|| line.clone());
        }
        if self.listed.len() < MAX_GAMES_LISTED {
            self.listed.push(line);
        }
    }

    /// Finals first, then interesting games, one of each kind before a second.
    fn list(self) -> GameList {
        let GameSelection::Some(most) = self.wanted else {
            return GameList { total: self.listed.len() as u64, shown: self.listed, hidden: false };
        };
        let mut chosen = Chosen { most, games: BTreeMap::new() };
        let finals = self.finals.kept.iter().take((most * 2).div_ceil(3));
        finals.for_each(|(_, line)| chosen.take(line, &line.stage));
        let words = |kind: usize| format!("a {} fault", agon_core::Fault::ALL[kind].name());
        for ((_, kind), line) in self.faults.iter().take(most.div_ceil(4)) {
            chosen.take(line, &words(*kind));
        }
        for round in 0..most {
            for (role, few) in self.best.iter().enumerate() {
                if let Some((_, line)) = few.kept.get(round) {
                    let of_role = if self.best.len() > 1 {
                        format!("best for a {}", self.info.roles[role].name)
                    } else {
                        "best score".to_owned()
                    };
                    chosen.take(line, &of_role);
                }
            }
            if let Some((_, line)) = self.closest.kept.get(round) {
                chosen.take(line, "closest");
            }
            if round == 0 {
                self.pairs.values().for_each(|line| chosen.take(line, "one of each pair"));
                let more = self.faults.iter().skip(most.div_ceil(4)).take(most.div_ceil(4));
                more.for_each(|((_, kind), line)| chosen.take(line, &words(*kind)));
            }
        }
        let mut all: BTreeMap<(MatchKey, u32), GameLine> =
            self.listed.into_iter().map(|line| ((line.key, line.game), line)).collect();
        all.extend(chosen.games);
        GameList { total: all.len() as u64, shown: all.into_values().collect(), hidden: false }
    }
}

struct Chosen {
    most: usize,
    games: BTreeMap<(MatchKey, u32), GameLine>,
}

impl Chosen {
    fn take(&mut self, line: &GameLine, why: &str) {
        let key = (line.key, line.game);
        if self.games.len() >= self.most && !self.games.contains_key(&key) {
            return;
        }
        let kept = self.games.entry(key).or_insert_with(|| GameLine { has_page: true, ..line.clone() });
        if !why.is_empty() && !kept.reasons.iter().any(|known| known == why) {
            kept.reasons.push(why.to_owned());
        }
    }
}

/// Sort key for the best seat of a role: score, then the game's secondary figure, then the shorter game.
fn best(info: &GameInfo, role: usize, game: &GameResult) -> [f64; 3] {
    let several = info.roles.len() > 1;
    let seats = game.seats.iter().enumerate().filter(|(seat, _)| !several || *seat == role);
    let sign = if info.role(Seat(role as u8)).better == ScoreDirection::Lower { -1.0 } else { 1.0 };
    let of = |seat: &SeatResult| [sign * seat.score.to_f64(), second(info, seat)];
    let top = seats
        .map(|(_, seat)| of(seat))
        .fold([f64::NEG_INFINITY; 2], |top, one| if one > top { one } else { top });
    [top[0], top[1], -f64::from(game.turns)]
}

/// The secondary figure that breaks ties, if the game has one.
fn second(info: &GameInfo, seat: &SeatResult) -> f64 {
    match info.standings.tie_break {
        TieBreak::Stat(index) => seat.stats.get(index).map_or(0.0, |stat| stat.to_f64()),
        TieBreak::Score | TieBreak::GamesWonMinusLost => 0.0,
    }
}

/// Sort key for the closeness of the first two: score, then the secondary figure, then the longer game.
fn closest(info: &GameInfo, game: &GameResult) -> [f64; 3] {
    let mut seats: Vec<_> = game.seats.iter().collect();
    seats.sort_by_key(|seat| seat.place);
    let apart = |of: &dyn Fn(&SeatResult) -> f64| match seats[..] {
        [first, second, ..] => -(of(first) - of(second)).abs(),
        _ => f64::NEG_INFINITY,
    };
    [apart(&|seat| seat.score.to_f64()), apart(&|seat| second(info, seat)), f64::from(game.turns)]
}

#[cfg(test)]
mod tests {
    use agon_league::simulated;

    use super::*;

    fn picked(wanted: GameSelection, league: &simulated::League, stage: &str) -> GameList {
        let mut picker = GamePicker::new(league.game, wanted, league.entrants.len());
        for (number, result) in league.results.iter().enumerate() {
            let mut result = result.clone();
            result.key = MatchKey { phase: 0, stage: 0, number: number as u64 };
            let kept = StoredMatch {
                game_digests: Vec::new(),
                faults: 0,
                finished: agon_store::Timestamp(0),
                result,
            };
            for (at, game) in kept.result.games.iter().enumerate() {
                picker.look(line(league.game, &kept, at as u32, game, stage), game);
            }
        }
        picker.list()
    }

    #[test]
    fn faults_pairs_best_and_closest_games_are_selected() {
        let mut league = simulated::round_robin("word-racer", &[0.0, 0.5, 1.0, -0.5], 6, 2);
        let last = league.results.len() - 1;
        league.results[last].games[0].seats[0].faults = [0, 1, 0, 0];
        let list = picked(GameSelection::Some(12), &league, "");
        let chosen: Vec<&GameLine> = list.shown.iter().filter(|game| game.has_page).collect();
        assert_eq!(chosen.len(), 12);
        let of =
            |why: &str| chosen.iter().filter(|game| game.reasons.iter().any(|known| known == why)).count();
        assert!(of("a crash fault") == 1 && of("best score") > 0 && of("closest") > 0, "{chosen:?}");
        assert_eq!(of("one of each pair"), 6);
        assert!(list.shown.is_sorted_by_key(|game| (game.key, game.game)));
    }

    #[test]
    fn selection_is_limited_to_the_requested_number_or_complete() {
        let league = simulated::round_robin("word-racer", &[0.0, 0.5, 1.0], 6, 2);
        let pages = |list: &GameList| list.shown.iter().filter(|game| game.has_page).count();
        for most in [0, 1, 5] {
            assert_eq!(pages(&picked(GameSelection::Some(most), &league, "final")), most);
        }
        let all = picked(GameSelection::All, &league, "");
        assert_eq!((pages(&all), all.shown.len() as u64), (all.shown.len(), all.total));
    }

    #[test]
    fn games_of_the_final_are_selected_first() {
        let league = simulated::round_robin("word-racer", &[0.0, 0.5, 1.0], 6, 2);
        let list = picked(GameSelection::Some(6), &league, "semi-finals");
        assert!(
            list.shown.iter().filter(|game| game.reasons.iter().any(|why| why == "semi-finals")).count() >= 4
        );
    }
}
