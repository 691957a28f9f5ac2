//! The cost of an empty answer: what the transport and the bot's host take for an answer without any thinking.
//!
//! In games whose tables rank by time, a program that answers at once is asked together with the bots every few turns, on the same
//! core and with the same observations. It runs no code of a bot, so no bot can make it slower than the host is. Its time is
//! measured like that of a bot. The clock of a bot is charged with all of its time; only tables take the cost of an empty answer
//! out.

use std::time::Duration;

use agon_core::{Game, Player, Seat, Settings};
use agon_games::PlayableGame;
use agon_host::python;

use crate::player_spec::{PlayerSpec, ProgramSpec, program_player};

/// A measured turn for each of this many turns.
const INTERVAL: u32 = 16;
/// The same in the first turns, so that short games have enough of them.
const FIRST_INTERVAL: u32 = 4;
/// Number of first turns.
const FIRST_TURNS: u32 = 64;
/// Maximum cost that is taken out of an answer. More than that is not the host's.
const MAX_COST: Duration = Duration::from_millis(1);
/// Time limit of an empty answer. A program that does not keep it is not asked again.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// The programs that give empty answers in a game, and what their answers cost.
pub(crate) struct EmptyAnswers<G: Game> {
    meters: Vec<EmptyAnswerMeter<G>>,
    /// For each seat, the meter with the same host.
    meter_of_seat: Vec<Option<usize>>,
}

struct EmptyAnswerMeter<G: Game> {
    player: Box<dyn Player<G>>,
    costs: Vec<Duration>,
    asked: bool,
    failed: bool,
}

impl<G: PlayableGame> EmptyAnswers<G> {
    /// A program for each interpreter of the bots.
    pub(crate) fn new(seats: &[PlayerSpec], game: &G, settings: &Settings, names: &[String]) -> Self {
        let mut programs: Vec<ProgramSpec> = Vec::new();
        let mut meter_of = |seat: &PlayerSpec| {
            let PlayerSpec::Program(bot) = seat else { return None };
            let program = python::empty_bot(G::info(), &bot.program)?;
            let same_host = |known: &ProgramSpec| {
                known.program.words.first() == program.words.first()
                    && known.program.sandboxed == program.sandboxed
            };
            if let Some(known) = programs.iter().position(same_host) {
                return Some(known);
            }
            programs.push(ProgramSpec { program, logs_dir: None, scratch_dir: None, ..bot.clone() });
            Some(programs.len() - 1)
        };
        let meter_of_seat = seats.iter().map(&mut meter_of).collect();
        let meter = |one: &ProgramSpec| EmptyAnswerMeter {
            player: program_player(one, game, settings, Seat(0), names),
            costs: Vec::new(),
            asked: false,
            failed: false,
        };
        Self { meters: programs.iter().map(meter).collect(), meter_of_seat }
    }
}

impl<G: Game> EmptyAnswers<G> {
    /// Starts a game.
    pub(crate) fn begin(&mut self) {
        for meter in &mut self.meters {
            meter.player.begin(0);
        }
    }

    /// Whether an empty answer is measured before the bot that is asked as number `position` of `bots` in this turn. Over the
    /// turns, it takes every place in the order.
    pub(crate) fn is_due(&self, turn: u32, position: usize, bots: usize) -> bool {
        if self.meters.is_empty() {
            return false;
        }
        let interval = if turn <= FIRST_TURNS { FIRST_INTERVAL } else { INTERVAL };
        turn.is_multiple_of(interval) && position == (turn / interval) as usize % bots.max(1)
    }

    /// Sends the observation of a bot.
    pub(crate) fn ask(&mut self, seen: &G::Observation<'_>) {
        for meter in self.meters.iter_mut().filter(|meter| !meter.failed) {
            meter.player.ask(seen, ANSWER_TIMEOUT);
            meter.asked = true;
        }
    }

    /// Collects the answers, if there are any.
    pub(crate) fn collect(&mut self) {
        for meter in self.meters.iter_mut().filter(|meter| meter.asked) {
            meter.asked = false;
            let response = meter.player.answer();
            match response.reply {
                Ok(_) => meter.costs.push(response.times.charged()),
                Err(report) => {
                    tracing::debug!(fault = %report.fault, message = report.message, "no empty answer");
                    meter.failed = true;
                }
            }
        }
    }

    /// What an empty answer cost a seat in this game; `None` if it was not measured.
    pub(crate) fn cost(&self, seat: Seat) -> Option<Duration> {
        let meter = self.meters.get((*self.meter_of_seat.get(seat.index())?)?)?;
        typical(&meter.costs).map(|cost| cost.min(MAX_COST))
    }

    /// The game is over.
    pub(crate) fn game_over(&mut self) {
        for meter in &mut self.meters {
            meter.player.game_over();
        }
    }

    /// The match is over.
    pub(crate) fn match_over(&mut self) {
        for meter in &mut self.meters {
            meter.player.match_over();
        }
    }
}

/// The median.
fn typical(costs: &[Duration]) -> Option<Duration> {
    let mut sorted = costs.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slow_empty_answer_changes_nothing() {
        let us = |list: &[u64]| list.iter().copied().map(Duration::from_micros).collect::<Vec<_>>();
        assert_eq!(typical(&us(&[30, 31, 29, 32, 9000])), Some(Duration::from_micros(31)));
        assert_eq!(typical(&[]), None);
    }
}
