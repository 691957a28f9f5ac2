//! Persons who do not play at the terminal: all persons of a turn are asked at once, beside the bots.
//!
//! Bots answer first, so that a bot is charged for its own time only, and stopped as soon as it has answered, while persons go on
//! thinking.

use std::io;
use std::time::{Duration, Instant};

use agon_core::game::View;
use agon_core::{
    AnswerTimes, ClockVerdict, Fault, FaultReport, IllegalAnswer, Reply, RequestInfo, Response, Seat, SeatSet,
};

use super::{GameHooks, Referee, SeatedPlayer, sit_out, token};
use crate::empty_answers::EmptyAnswers;

/// How long persons may think.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PersonClock {
    /// As long as the rules allow bots to think, by wall time. A late answer is a timeout.
    Rules,
    /// Without a clock. A person who gives no answer for this long has left.
    LeftAfter(Duration),
}

/// A request to a person.
#[derive(Clone, PartialEq, Debug)]
pub struct PersonRequest {
    /// Seat of the person.
    pub seat: Seat,
    /// The turn, counted from 1.
    pub turn: u32,
    /// What is asked.
    pub request: RequestInfo,
    /// All legal answers in record form.
    pub legal: Vec<String>,
    /// Time left for the answer, if the game is played with the rules' clock.
    pub limit: Option<Duration>,
}

/// What a person does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PersonAction {
    /// Answers.
    Answer {
        /// Seat of the person.
        seat: Seat,
        /// The answer, as the person wrote it.
        text: String,
        /// When the answer arrived.
        at: Instant,
    },
    /// Leaves: the seat gives no more answers.
    Leave {
        /// Seat of the person.
        seat: Seat,
    },
}

/// The persons of a game, wherever they are.
pub trait Persons {
    /// How long they may think.
    fn clock(&self) -> PersonClock;

    /// Passes on the requests of a turn. Does not wait for answers.
    fn ask(&mut self, requests: Vec<PersonRequest>) -> io::Result<()>;

    /// Waits for the next action of any person, at most until this time. `None` when the time is up.
    fn next(&mut self, until: Instant) -> io::Result<Option<PersonAction>>;

    /// Says what became of the last answer of this seat. The person is asked again after an error, unless the time is up.
    fn judged(&mut self, seat: Seat, result: Result<(), &IllegalAnswer>);
}

/// A person who has not answered yet.
struct WaitingPerson {
    seat: Seat,
    asked: Instant,
    until: Instant,
    clock: PersonClock,
    limit: Duration,
}

impl WaitingPerson {
    /// The response of a person whose time is up at this moment.
    fn late<A>(&self, now: Instant) -> Response<A> {
        let report = match self.clock {
            PersonClock::Rules => FaultReport::new(Fault::Timeout, "no answer within the limit"),
            PersonClock::LeftAfter(_) => left(),
        };
        // More than the limit, so that the clock finds the answer late.
        let wall = now.saturating_duration_since(self.asked).max(self.limit + Duration::from_micros(1));
        response(Err(Box::new(report)), wall)
    }
}

fn left() -> FaultReport {
    FaultReport::new(Fault::Crash, "the player left")
}

fn response<A>(reply: Result<A, Box<FaultReport>>, wall: Duration) -> Response<A> {
    Response { reply, times: AnswerTimes { wall, cpu: Duration::ZERO, wait: Duration::ZERO } }
}

impl<G: View> Referee<'_, G> {
    /// Collects the replies of a turn from bots and persons, in seat order.
    pub(super) fn collect_with_persons(
        &mut self,
        players: &mut [SeatedPlayer<G>],
        mut empty_answers: Option<&mut EmptyAnswers<G>>,
        hooks: &mut GameHooks<'_>,
        to_move: SeatSet,
    ) -> io::Result<()> {
        // Persons first: house bots think while they are asked.
        let mut waiting = self.ask_persons(players, hooks, to_move)?;
        self.ask_bots(players, empty_answers.as_deref_mut(), to_move);
        if let Some(recorder) = &mut hooks.recorder {
            recorder.begin_turn();
        }
        let mut responses: Vec<(Seat, Response<G::Answer>)> = Vec::with_capacity(to_move.len());
        for seat in to_move {
            if let Some(SeatedPlayer::Bot(player)) = players.get_mut(seat.index())
                && !self.clock.sits_out(seat)
            {
                responses.push((seat, player.answer()));
            }
        }
        if let Some(empty_answers) = empty_answers {
            empty_answers.collect();
        }
        while !waiting.is_empty() {
            self.wait_for_persons(&mut waiting, &mut responses, hooks)?;
        }
        for seat in to_move {
            let answered = responses.iter().position(|(answered, _)| *answered == seat);
            let response = answered.map(|index| responses.swap_remove(index).1);
            let reply = self.judge_one(seat, players.get_mut(seat.index()), response, hooks)?;
            self.replies.push(reply);
        }
        Ok(())
    }

    fn judge_one(
        &mut self,
        seat: Seat,
        player: Option<&mut SeatedPlayer<G>>,
        response: Option<Response<G::Answer>>,
        hooks: &mut GameHooks<'_>,
    ) -> io::Result<Reply<G::Answer>> {
        let Some(response) = response else {
            if self.clock.sits_out(seat) {
                return Ok(sit_out(hooks));
            }
            return Ok(self.judge(seat, response_of_left(), ClockVerdict::InTime, hooks));
        };
        let times = response.times;
        match player {
            Some(SeatedPlayer::Bot(player)) => {
                let verdict = self.clock.charge(seat, times.charged());
                let reply = self.judge(seat, response, verdict, hooks);
                if let Some(log) = &mut hooks.log {
                    self.log_answer(seat, reply, times, &player.take_output(), *log)?;
                }
                Ok(reply)
            }
            _ => {
                let by_rules = hooks.persons.as_ref().is_some_and(|all| all.clock() == PersonClock::Rules);
                let verdict =
                    if by_rules { self.clock.charge(seat, times.charged()) } else { ClockVerdict::InTime };
                Ok(self.judge(seat, response, verdict, hooks))
            }
        }
    }

    /// Asks all persons of a turn, except those who have left or are no longer asked.
    fn ask_persons(
        &self,
        players: &[SeatedPlayer<G>],
        hooks: &mut GameHooks<'_>,
        to_move: SeatSet,
    ) -> io::Result<Vec<WaitingPerson>> {
        let Some(persons) = &mut hooks.persons else { return Ok(Vec::new()) };
        let is_asked = |seat: &Seat| {
            matches!(players.get(seat.index()), Some(SeatedPlayer::Person))
                && !self.left.contains(*seat)
                && !self.clock.sits_out(*seat)
        };
        let clock = persons.clock();
        let seats: Vec<Seat> = to_move.filter(is_asked).collect();
        let requests: Vec<PersonRequest> =
            seats.iter().filter_map(|&seat| self.person_request(seat, clock)).collect();
        if requests.is_empty() {
            return Ok(Vec::new());
        }
        let limits: Vec<Option<Duration>> = requests.iter().map(|request| request.limit).collect();
        persons.ask(requests)?;
        let asked = Instant::now();
        let waiting = |(seat, limit): (Seat, Option<Duration>)| {
            let limit = match clock {
                PersonClock::Rules => limit.unwrap_or_default(),
                PersonClock::LeftAfter(limit) => limit,
            };
            WaitingPerson { seat, asked, until: asked + limit, clock, limit }
        };
        Ok(seats.into_iter().zip(limits).map(waiting).collect())
    }

    fn person_request(&self, seat: Seat, clock: PersonClock) -> Option<PersonRequest> {
        let requests = G::info().requests;
        let request = requests.get(self.game.request(&self.state, seat)).or(requests.first())?;
        let legal = self.game.legal_answers(&self.state, seat);
        Some(PersonRequest {
            seat,
            turn: self.turn,
            request: *request,
            legal: legal.into_iter().map(token::<G>).collect(),
            limit: (clock == PersonClock::Rules).then(|| self.clock.limit(seat)),
        })
    }

    /// Waits until a person answers or leaves, or until the time of one is up.
    fn wait_for_persons(
        &mut self,
        waiting: &mut Vec<WaitingPerson>,
        responses: &mut Vec<(Seat, Response<G::Answer>)>,
        hooks: &mut GameHooks<'_>,
    ) -> io::Result<()> {
        let (Some(persons), Some(until)) = (&mut hooks.persons, waiting.iter().map(|one| one.until).min())
        else {
            waiting.clear();
            return Ok(());
        };
        match persons.next(until)? {
            None => {
                let now = Instant::now();
                while let Some(index) = waiting.iter().position(|one| one.until <= now) {
                    let person = waiting.swap_remove(index);
                    if person.clock != PersonClock::Rules {
                        self.left.insert(person.seat);
                    }
                    responses.push((person.seat, person.late(now)));
                }
            }
            Some(PersonAction::Leave { seat }) => {
                self.left.insert(seat);
                if let Some(index) = waiting.iter().position(|one| one.seat == seat) {
                    let person = waiting.swap_remove(index);
                    responses.push((seat, response(Err(Box::new(left())), person.asked.elapsed())));
                }
            }
            Some(PersonAction::Answer { seat, text, at }) => {
                let Some(index) = waiting.iter().position(|one| one.seat == seat) else {
                    persons.judged(seat, Err(&IllegalAnswer::because("this seat is not asked now")));
                    return Ok(());
                };
                if let Some(person) = waiting.get(index).filter(|person| at > person.until) {
                    persons.judged(seat, Err(&IllegalAnswer::because("the time for this answer is up")));
                    if person.clock != PersonClock::Rules {
                        self.left.insert(seat);
                    }
                    responses.push((seat, person.late(at)));
                    waiting.swap_remove(index);
                    return Ok(());
                }
                let answer = G::read_answer(text.trim()).map_err(IllegalAnswer::because);
                let legal =
                    answer.and_then(|answer| self.game.check(&self.state, seat, answer).map(|()| answer));
                persons.judged(seat, legal.as_ref().map(|_| ()));
                if let Ok(answer) = legal {
                    let person = waiting.swap_remove(index);
                    let wall = at.saturating_duration_since(person.asked);
                    responses.push((seat, response(Ok(answer), wall)));
                }
            }
        }
        Ok(())
    }
}

/// The response of a person who has left in an earlier turn.
fn response_of_left<A>() -> Response<A> {
    response(Err(Box::new(left())), Duration::ZERO)
}
