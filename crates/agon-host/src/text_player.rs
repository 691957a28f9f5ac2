//! A program as a player, through a game's own text protocol, such as Word Racer's.

use std::time::Duration;

use agon_core::game::TextRequestWriter;
use agon_core::{AnswerTimes, Fault, FaultReport, Game, MeterKind, Player, Response};

use crate::connection::{AnswerError, BotConnection};
use crate::process::{LineProcess, quote_line};
use crate::program::Program;

/// A program at a seat that reads what `write` writes and answers each request with one line.
///
/// Its start is charged: the first request starts the process. It is stopped between requests. Lines that it writes ahead are
/// its next answers.
pub struct TextPlayer<G: Game> {
    program: Program,
    write: TextRequestWriter<G>,
    seed: u64,
    process: Option<LineProcess>,
    /// How the CPU time of the last process was measured.
    meter: Option<MeterKind>,
    gone: Option<Fault>,
    problem: Option<Box<FaultReport>>,
    text: Vec<u8>,
}

impl<G: Game> TextPlayer<G> {
    /// A player that starts a new process for each game.
    pub fn new(program: Program, write: TextRequestWriter<G>) -> Self {
        Self {
            program,
            write,
            seed: 0,
            process: None,
            meter: None,
            gone: None,
            problem: None,
            text: Vec::new(),
        }
    }

    /// The process id, while a process runs.
    pub fn process_id(&self) -> Option<u32> {
        self.process.as_ref().map(BotConnection::id)
    }

    fn start(&mut self) -> Result<LineProcess, Box<FaultReport>> {
        if let Some(why) = self.gone {
            let says = format!("not running any more after a {why} earlier in the game");
            return Err(Box::new(FaultReport::new(Fault::Crash, says)));
        }
        let environment = [("AGON_SEED", self.seed.to_string()), ("AGON_GAME", G::info().id.to_owned())];
        LineProcess::start(&self.program, &environment, true).map_err(|error| {
            self.gone = Some(Fault::Crash);
            Box::new(FaultReport::new(Fault::Crash, format!("could not be started: {error}")))
        })
    }

    fn stop(&mut self, mut process: LineProcess, problem: AnswerError) -> FaultReport {
        let (fault, says) = match problem {
            AnswerError::Late => (Fault::Timeout, "no answer within the limit".to_owned()),
            AnswerError::Ended(how) => (Fault::Crash, how),
            AnswerError::TooLong(line) => (Fault::Garbled, format!("a line longer than 64 KiB: {line}")),
            AnswerError::Unsolicited(line) => (Fault::Garbled, format!("wrote without being asked: {line}")),
        };
        self.gone = Some(fault);
        process.report(fault, &says)
    }
}

impl<G: Game> Player<G> for TextPlayer<G> {
    fn begin(&mut self, seed: u64) {
        self.seed = seed;
        self.process = None;
        self.gone = None;
        self.problem = None;
    }

    fn ask(&mut self, seen: &G::Observation<'_>, limit: Duration) {
        if self.process.is_none() {
            match self.start() {
                Ok(process) => {
                    self.meter = Some(process.meter());
                    self.process = Some(process);
                }
                Err(report) => self.problem = Some(report),
            }
        }
        if let Some(process) = &mut self.process {
            self.text.clear();
            (self.write)(seen, &mut self.text);
            process.ask(&self.text, 1, limit);
        }
    }

    fn answer(&mut self) -> Response<G::Answer> {
        if let Some(report) = self.problem.take() {
            return Response { reply: Err(report), times: AnswerTimes::default() };
        }
        let Some(mut process) = self.process.take() else {
            let report = FaultReport::new(Fault::Crash, "was not asked");
            return Response { reply: Err(Box::new(report)), times: AnswerTimes::default() };
        };
        let (times, came) = process.wait();
        let reply = match came.and_then(|()| process.line()) {
            Err(problem) => Err(self.stop(process, problem).into()),
            Ok(line) => {
                let read = std::str::from_utf8(&line).map_err(|_| "not text".to_owned());
                let answer = read.and_then(|text| G::read_answer(text)).map_err(|what| {
                    process.report(Fault::Garbled, &format!("{what}: {}", quote_line(&line))).into()
                });
                self.process = Some(process);
                answer
            }
        };
        Response { reply, times }
    }

    fn take_output(&mut self) -> String {
        self.process.as_mut().map(BotConnection::printed).unwrap_or_default()
    }

    fn meter(&self) -> Option<MeterKind> {
        self.meter
    }

    fn game_over(&mut self) -> Option<Box<FaultReport>> {
        self.process = None;
        None
    }

    fn match_over(&mut self) -> Option<Box<FaultReport>> {
        self.process = None;
        None
    }
}
