//! A bot that is a fork of a zygote and speaks packets.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_core::{AnswerTimes, MeterKind};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::{Map, json};

use super::log_poller::{self, SharedLog};
use super::server::ZygoteServer;
use super::socket::{self, Packet};
use crate::connection::{AnswerError, BotConnection, LastWords};
use crate::process::{LATE_GRACE, MAX_LINE_BYTES, OVERLOAD_EXTRA, OVERLOAD_FACTOR, quote_line};
use crate::program::{Program, ZygoteOptions, policy};
use crate::sandbox::{self, SandboxedProcess};
use crate::test_switches::{self, is_off};
use crate::timing::{
    CpuMeter, StealTime, TaskFlags, Usage, UsageSample, has_never_slept, has_threads, is_late, leads_others,
    since_asked, usage_of, without_sleep, worked_before,
};

/// Maximum packet size; longer messages are sent in parts of this size.
const MAX_PACKET_BYTES: usize = 64 << 10;
/// First byte of a message in parts (`agon_bot/packet_channel.py`).
const FIRST_BYTE_OF_PARTS: u8 = 2;
/// Sent on the turn pipe: a message waits on the socket (`agon_bot/packet_channel.py`).
const SEE_SOCKET: &[u8] = &[3];
/// Packet that reports that the fork for the last call has ended (`agon_bot/packet_channel.py`).
const CALL_ENDED: &[u8] = b"+";
/// Packet that reports that the fork for a match has ended (`agon_bot/packet_channel.py`).
const MATCH_OVER: &[u8] = b"*";
/// Start of a turn that is not in the game's packed form (`crate::message`).
const TURN_MESSAGE: &[u8] = b"{\"type\":\"turn\"";
/// Time that the process of a call has to end after its answer. Then the bot is killed.
const CALL_EXIT_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum number of packets received beyond those that were asked for. One is enough to see that a bot sends too many.
const MAX_EXCESS_PACKETS: usize = 1;
/// A request that took longer to send was delayed; sending takes microseconds.
const SLOW_SEND_AFTER: Duration = Duration::from_micros(200);
/// The test switch for the bound on packets.
const PACKET_BOUND: &str = "packets";
/// Test switch: this thread loses its processor between reading one socket and the next.
const PROMPT_READING: &str = "prompt-reading";
/// How long.
const SLOW_READING: Duration = Duration::from_millis(20);
/// Time for which an answer is first awaited alone, without polling anything else.
const FIRST_WAIT_TIMEOUT: Duration = Duration::from_millis(2);
/// With a shorter limit everything is polled from the start.
const MIN_LIMIT_FOR_FIRST_WAIT: Duration = Duration::from_millis(20);
/// Tolerance between the system clock and the monotonic clock. A larger difference means that the system clock was set.
const CLOCK_TOLERANCE: Duration = Duration::from_micros(50);
/// Maximum number of answers in a row without reading stderr, whose pipe holds a limited number of lines.
const MAX_WAITS_WITHOUT_STDERR: u32 = 16;
/// Time that a bot has to end after it closed its socket, so that its exit status is known.
const EXIT_TIMEOUT: Duration = Duration::from_millis(200);

thread_local! {
    /// The sockets on which this thread waits for answers, in the order of the requests.
    static AWAITED: RefCell<Vec<Arc<OwnedFd>>> = const { RefCell::new(Vec::new()) };
    static BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; MAX_LINE_BYTES]);
}

/// A running bot that is a fork of a zygote.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools, reason = "independent facts about a running bot")]
pub struct ForkedBot {
    process: SandboxedProcess,
    asking: OwnedFd,
    /// A separate pipe for turns, which costs a third as much, if it has one.
    turns: Option<OwnedFd>,
    /// The last message was a turn, so it waits for the next one on the pipe.
    expects_turns: bool,
    /// Where it answers. If each call has its own process, only their supervisor has the other end.
    answers: Arc<OwnedFd>,
    /// Where the process of the current call answers. Each call has a new socket: nothing that an earlier call did to its own
    /// matters.
    call: Option<Arc<OwnedFd>>,
    /// The one of them that is in [`AWAITED`].
    awaited_socket: Option<Arc<OwnedFd>>,
    log: SharedLog,
    /// It has written to stderr before.
    prints: bool,
    /// Number of waits since its stderr was last polled.
    waits_without_stderr: u32,
    /// The process that answers: the bot itself, or its fork for a game.
    meter: CpuMeter,
    metered: u32,
    /// Its usage at its last answer.
    used: Usage,
    /// Whether a new fork gives each answer.
    forks_calls: bool,
    /// Whether a new fork plays each game.
    forks_games: bool,
    /// The fork that gave the last answer has not ended yet. No new request is sent before it has.
    ending: bool,
    /// A new fork, which plays the game, gives the next answer.
    starts_game: bool,
    /// When it is stopped between requests.
    hold: PausePolicy,
    /// It has worked between an answer and the next request, so it is stopped after each answer from now on.
    works_off_turn: bool,
    stopped: bool,
    asked: UsageSample,
    /// The earliest time at which the request may have been sent.
    asked_first: Instant,
    /// The same by the system clock, which timestamps packets.
    asked_system_time: Duration,
    /// The received packet was sent before the request.
    unsolicited: bool,
    /// What a call sent after its answer.
    excess: Option<String>,
    /// Why the engine killed it.
    killed_for: Option<&'static str>,
    /// Steal time of the machine at the request.
    stolen: StealTime,
    limit: Duration,
    wanted: usize,
    inbox: VecDeque<Packet>,
    gone: bool,
    _zygote: Arc<ZygoteServer>,
}

/// When a bot is stopped between requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PausePolicy {
    /// Never: it can have neither threads nor children.
    Never,
    /// Whenever it has threads or children.
    IfBusy,
}

impl ForkedBot {
    /// Forks a bot.
    pub fn start(
        program: &Program,
        zygote: &ZygoteOptions,
        environment: &[(&str, String)],
    ) -> io::Result<Self> {
        let interpreter = program.words.first().map_or("python3", String::as_str);
        let zygote_server = ZygoteServer::of(interpreter, zygote)?;
        let (asking, bot_asked) = socket::pair()?;
        let (answers, bot_answers) = socket::pair()?;
        let (turns, bot_turns) = zygote.plays_on().then(socket::pipe).transpose()?.unzip();
        socket::enable_timestamps(answers.as_fd())?;
        socket::set_read_timeout(answers.as_fd(), FIRST_WAIT_TIMEOUT)?;
        let (log, bot_log) = io::pipe()?;
        let mut request = Map::new();
        request.insert("game".to_owned(), json!(zygote.game));
        request.insert("target".to_owned(), json!(zygote.target));
        request.insert("core".to_owned(), json!(crate::pinning::core()));
        request.insert("together".to_owned(), json!(zygote.asked_together));
        request.insert("turns".to_owned(), json!(bot_turns.is_some()));
        let policy = policy(program, environment)?;
        if !test_switches::all().is_empty() {
            request.insert("without".to_owned(), json!(test_switches::all()));
        }
        let fds = [bot_log.into(), bot_asked, bot_answers].into_iter().chain(bot_turns).collect();
        let process =
            sandbox::fork(&policy, fds, zygote_server.control_socket(), request).map_err(io::Error::other)?;
        let metered = process.pid().as_raw_nonzero().get().unsigned_abs();
        Ok(Self {
            meter: CpuMeter::of_bot(
                metered,
                process.group().cloned(),
                None,
                zygote.hold == PausePolicy::Never,
            ),
            metered,
            process,
            asking,
            turns,
            expects_turns: false,
            answers: Arc::new(answers),
            call: None,
            awaited_socket: None,
            log: SharedLog::new(log.into())?,
            prints: false,
            waits_without_stderr: 0,
            used: Usage::default(),
            forks_calls: zygote.forks_calls,
            forks_games: zygote.forks_games,
            ending: false,
            starts_game: false,
            hold: zygote.hold,
            works_off_turn: false,
            stopped: false,
            asked: UsageSample { at: Instant::now(), usage: Usage::default() },
            asked_first: Instant::now(),
            asked_system_time: Duration::ZERO,
            unsolicited: false,
            excess: None,
            killed_for: None,
            stolen: StealTime::default(),
            limit: Duration::MAX,
            wanted: 0,
            inbox: VecDeque::new(),
            gone: false,
            _zygote: zygote_server,
        })
    }

    /// Sends messages: lines of JSON, or a packed turn. `call` goes with a turn.
    fn send(&mut self, text: &[u8], call: Option<&OwnedFd>) {
        if text.first() != Some(&b'{') {
            return self.send_turn(text, call);
        }
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            self.send_one(line, call.filter(|_| line.starts_with(TURN_MESSAGE)));
            self.expects_turns = false;
        }
    }

    fn send_turn(&mut self, text: &[u8], call: Option<&OwnedFd>) {
        match self.awaited() {
            Some(turns) if text.len() <= socket::MAX_PIPE_PACKET_BYTES => {
                self.send_packet(turns, socket::write, text);
            }
            _ => self.send_one(text, call),
        }
        self.expects_turns = true;
    }

    /// The pipe on which it waits for the next turn, if it waits for nothing else.
    fn awaited(&self) -> Option<&OwnedFd> {
        self.turns.as_ref().filter(|_| self.expects_turns)
    }

    fn send_one(&self, text: &[u8], call: Option<&OwnedFd>) {
        // First: if the game's fork has ended, this must not arrive after the start of the next game.
        if let Some(turns) = self.awaited() {
            self.send_packet(turns, socket::write, SEE_SOCKET);
        }
        let send = |bytes| self.send_packet(&self.asking, socket::send, bytes);
        let send_first = |bytes| match call {
            Some(call) => {
                self.send_packet(&self.asking, |to, bytes| socket::send_with(to, bytes, call.as_fd()), bytes);
            }
            None => send(bytes),
        };
        if text.len() <= MAX_PACKET_BYTES {
            return send_first(text);
        }
        let mut head = vec![FIRST_BYTE_OF_PARTS, 0, 0, 0];
        head.extend_from_slice(&(text.len() as u32).to_le_bytes());
        send_first(&head);
        text.chunks(MAX_PACKET_BYTES).for_each(send);
    }

    /// The buffer has room for every message, because the bot has answered the last one. If it has none after all, or the bot is
    /// gone, the missing answer shows that.
    fn send_packet(
        &self,
        to: &OwnedFd,
        how: impl Fn(BorrowedFd<'_>, &[u8]) -> io::Result<bool>,
        bytes: &[u8],
    ) {
        let mut until = None;
        while matches!(how(to.as_fd(), bytes), Ok(false)) {
            let now = Instant::now();
            if now >= *until.get_or_insert(now + self.limit.min(Duration::from_secs(1))) {
                return;
            }
            let mut fds = [PollFd::new(to, PollFlags::OUT)];
            let _ = poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 10_000_000 }));
        }
    }

    /// Opens the socket for the answer to a turn, if each call has its own. Returns the bot's end.
    fn open_call(&mut self, text: &[u8]) -> Option<OwnedFd> {
        let is_turn = || text.split(|byte| *byte == b'\n').any(|line| line.starts_with(TURN_MESSAGE));
        if !self.forks_calls || (text.first() == Some(&b'{') && !is_turn()) {
            return None;
        }
        let pair = socket::pair().and_then(|(ours, theirs)| {
            socket::enable_timestamps(ours.as_fd())?;
            Ok((ours, theirs))
        });
        // Without descriptors the bot cannot be asked.
        let (ours, theirs) = pair.inspect_err(|_| self.gone = true).ok()?;
        self.call = Some(Arc::new(ours));
        Some(theirs)
    }

    /// The socket on which the next packet is expected.
    fn source(&self) -> &Arc<OwnedFd> {
        self.call.as_ref().unwrap_or(&self.answers)
    }

    /// Receives packets that have arrived: those that are wanted, and one more if the bot sends too many.
    fn receive(&mut self) {
        self.receive_all_from_call();
        if self.forks_calls && is_off(PROMPT_READING) {
            std::thread::sleep(SLOW_READING);
        }
        while self.inbox.len() < self.max_packets() && !self.gone && self.receive_one(socket::receive) {}
    }

    /// Maximum number of packets in the inbox.
    fn max_packets(&self) -> usize {
        match self.forks_calls {
            true if is_off(PACKET_BOUND) => usize::MAX,
            true => self.wanted + MAX_EXCESS_PACKETS,
            false => self.wanted.max(1),
        }
    }

    /// Receives packets that have arrived from the process of a call.
    fn receive_all_from_call(&mut self) {
        while self.inbox.len() < self.max_packets() && self.call.is_some() && self.receive_from_call() {}
    }

    /// Receives one packet from the process of a call. Returns false if there is none.
    fn receive_from_call(&mut self) -> bool {
        let Some(call) = &self.call else { return false };
        match BUFFER.with_borrow_mut(|room| socket::receive(call.as_fd(), room)) {
            Ok(Some(packet)) => {
                self.ending = true;
                self.inbox.push_back(packet);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // The call has ended, or will never answer. Its supervisor reports how it ended.
            Ok(None) | Err(_) => self.call = None,
        }
        true
    }

    /// Receives one packet. Returns false if there is none.
    fn receive_one(&mut self, how: fn(BorrowedFd<'_>, &mut [u8]) -> io::Result<Option<Packet>>) -> bool {
        let received = BUFFER.with_borrow_mut(|room| how(self.answers.as_fd(), room));
        if self.forks_calls && matches!(received, Ok(Some(_))) {
            // The supervisor writes after the call has ended. The call's answer may have arrived since its socket was read, and
            // belongs before this packet.
            self.receive_all_from_call();
        }
        match received {
            // The supervisor reports that the call has ended. How it ended matters only if it has not answered.
            Ok(Some(packet))
                if self.forks_calls && (packet.bytes == CALL_ENDED || self.inbox.len() >= self.wanted) =>
            {
                self.ending = false;
            }
            Ok(Some(packet)) => {
                self.unsolicited |= self.was_unsolicited(&packet);
                self.inbox.push_back(packet);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(None) | Err(_) => self.gone = true,
        }
        true
    }

    /// Most answers come soon, and no other bot needs to be polled meanwhile. Then waiting for just this socket is fastest. A bot that
    /// writes more to stderr than the pipe holds blocks for a moment, once; from then on its stderr is polled.
    fn receive_first(&mut self) {
        let alone = AWAITED.with_borrow(|asked| asked.len() == 1);
        if alone
            && !self.forks_calls
            && !self.prints
            && self.waits_without_stderr < MAX_WAITS_WITHOUT_STDERR
            && self.limit > MIN_LIMIT_FOR_FIRST_WAIT
        {
            self.waits_without_stderr += 1;
            self.receive_one(socket::receive_blocking);
        }
    }

    /// Whether the packet that should be the answer was sent before the request. A bot that owes other answers may have sent one
    /// of them before the new request.
    fn was_unsolicited(&self, packet: &Packet) -> bool {
        let early = packet.timestamp.is_some_and(|sent| sent < self.asked_system_time);
        if !early || self.forks_calls || self.wanted != 1 {
            return false;
        }
        // If the system clock was set in between, the timestamp is useless. (The same if this thread was not running between two readings.)
        let passed = socket::system_time().saturating_sub(self.asked_system_time);
        passed.abs_diff(self.asked_first.elapsed()) < CLOCK_TOLERANCE
    }

    fn has_arrived(&self) -> bool {
        self.gone || self.inbox.len() >= self.wanted
    }

    /// The times of the answer, and the bot's threads and children. Read after the answer was sent, while its sender runs or is a zombie.
    fn measure(&mut self) -> (AnswerTimes, TaskFlags) {
        let (sent, sender) = match self.inbox.get(self.wanted.saturating_sub(1)) {
            Some(packet) => (packet.sent, packet.sender),
            None => (Instant::now(), self.metered),
        };
        if std::mem::take(&mut self.starts_game) && sender != self.metered && sender != 0 {
            self.meter = self.meter_of(sender);
            self.metered = sender;
            self.asked.usage = Usage::default();
        }
        if self.forks_calls && !self.expects_turns {
            self.meter.start_over();
        }
        let call = (self.forks_calls && sender != self.metered && sender != 0).then(|| usage_of(sender));
        if let Some(call) = call {
            // Before the look, or the call would count as another process and be charged twice.
            self.meter.add_call(call);
        }
        self.meter.look_if_due();
        let flags = self.task_flags();
        self.used = self.meter.read_with(flags);
        let usage = call.map_or(self.used, |call| self.used.plus(call));
        let at = sent.clamp(self.asked_first, self.asked_first.max(Instant::now()));
        let mut times = self.times(UsageSample { at, usage });
        // Between its start and the first message a bot may work.
        self.works_off_turn |=
            self.expects_turns && worked_before(times, at.saturating_duration_since(self.asked_first));
        // The fork for a call lives only for this call, so its whole life can be examined.
        if times.charged() > self.limit
            && self.forks_calls
            && sender != self.metered
            && has_never_slept(sender)
        {
            times = without_sleep(times);
        }
        (times, flags)
    }

    /// The id of the process that has loaded the bot.
    fn loader(&self) -> u32 {
        self.process.pid().as_raw_nonzero().get().unsigned_abs()
    }

    /// Whether bots of this kind play whole matches, and a fork of the loaded bot plays the current one. (Where a fork is not possible, the
    /// loaded bot plays itself, and only once.)
    const fn plays_match_in_fork(&self, loader: u32) -> bool {
        !self.forks_calls && !self.forks_games && self.metered != loader
    }

    /// Makes a loaded bot ready for its next game or match. `None` if it is not usable any more.
    pub fn ready_again(mut self: Box<Self>) -> Option<Box<Self>> {
        let keeps_folders = !self.forks_calls && !self.forks_games;
        (!keeps_folders || self.process.load_kept().is_ok()).then_some(self)
    }

    /// Ends a match. Returns what the bot still had to say, and the loaded bot if it can play another match: the fork that played this one
    /// has ended with everything that it has started, and `data/` is stored.
    pub fn end_match(mut self: Box<Self>, text: &[u8], time: Duration) -> (LastWords, Option<Box<Self>>) {
        let loader = self.loader();
        if !self.plays_match_in_fork(loader) {
            return (self.shut_down(text, time), None);
        }
        self.limit = time;
        if std::mem::take(&mut self.stopped) {
            let _ = self.process.resume();
        }
        self.send(text, None);
        let (line, is_over) = self.wait_for_match_end(loader, Instant::now() + time);
        let printed = self.log.lock().printed();
        let words = LastWords { line, printed };
        if !is_over {
            self.kill();
            return (words, None);
        }
        let alone = self.process.group().is_some_and(|group| group.kill_others(&[loader]));
        self.metered = loader;
        self.used = Usage::default();
        self.works_off_turn = false;
        self.meter = CpuMeter::of_bot(loader, self.process.group().cloned(), None, false);
        let stored = alone && self.process.store_kept().is_ok();
        if !stored {
            self.kill();
        }
        (words, stored.then_some(self))
    }

    /// Waits until the process that has loaded the bot reports that the fork for the match has ended. Returns the last packet of the fork,
    /// and whether it ended in time and as it should.
    fn wait_for_match_end(&mut self, loader: u32, until: Instant) -> (Option<Vec<u8>>, bool) {
        let mut last = None;
        loop {
            self.wanted = 1;
            self.receive();
            while let Some(packet) = self.inbox.pop_front() {
                if packet.sender == loader {
                    return (last, packet.bytes == MATCH_OVER);
                }
                last = Some(packet.bytes);
            }
            let left = until.saturating_duration_since(Instant::now());
            if self.gone || left.is_zero() {
                return (last, false);
            }
            self.wait_for_event(false, left);
            self.log.lock().read();
        }
    }

    /// Whether it can play another game: nothing that an earlier one has started still runs.
    pub fn can_play_again(&self) -> bool {
        let known = [self.loader(), self.metered];
        !self.forks_games || self.process.group().is_none_or(|group| !group.has_others(&known))
    }

    /// A process or thread that the bot has started while it was loaded.
    fn helper(&self) -> Option<&'static str> {
        if !self.forks_games || is_off("meter") {
            return None;
        }
        let known = [self.loader(), self.metered];
        if self.process.group().is_some_and(|group| group.has_others(&known)) {
            return Some("process");
        }
        has_threads(self.loader()).then_some("thread")
    }

    /// A meter of the process that answers: the bot's process, or its fork for a game.
    fn meter_of(&self, answering: u32) -> CpuMeter {
        let is_single = self.hold == PausePolicy::Never;
        CpuMeter::of_bot(answering, self.process.group().cloned(), Some(self.loader()), is_single)
    }

    /// The bot's threads and children, if it can have any.
    fn task_flags(&self) -> TaskFlags {
        if self.hold == PausePolicy::Never { TaskFlags::NONE } else { self.meter.task_flags() }
    }

    /// The times from the request until a sample, without steal time.
    fn times(&self, until: UsageSample) -> AnswerTimes {
        let times = since_asked(self.asked, self.asked_first, until, self.limit);
        self.stolen.subtract_from(times, self.limit)
    }

    /// Waits until the process that gave the last answer has ended. It may have to wait for a processor, so this is not charged.
    /// A call that does not end is killed, and its bot with it.
    fn wait_for_call_exit(&mut self) {
        if !self.forks_calls {
            return;
        }
        let until = Instant::now() + CALL_EXIT_TIMEOUT;
        self.wanted = 0;
        self.receive();
        if !is_off(PACKET_BOUND) {
            // From now on the call cannot send anything.
            self.call = None;
            self.excess = self.inbox.front().map(|packet| quote_line(&packet.bytes));
            self.inbox.clear();
        }
        self.receive();
        while self.ending && !self.gone {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                self.killed_for = Some("its call did not end after its answer");
                self.gone = true;
                self.kill();
                break;
            }
            self.wait_for_event(false, left);
            self.receive();
        }
        // Empty the stderr pipe: its fill level would be visible to the next call.
        self.log.lock().read();
    }

    /// Stops the bot if it has threads or children that could continue, or works between requests.
    fn pause_if_busy(&mut self, flags: TaskFlags) {
        if !self.gone && !self.forks_calls && (flags.any() || self.works_off_turn) {
            let _ = self.process.pause();
            self.stopped = true;
        }
    }

    /// Waits until something may have happened. The bots of one game are on one core: when the bot that was asked last has answered,
    /// most others have, too. Each packet carries its own time.
    fn wait_for_event(&mut self, others_first: bool, time: Duration) {
        let other = AWAITED.with_borrow(|asked| asked.last().filter(|_| others_first).cloned());
        let timeout = Timespec { tv_sec: time.as_secs() as i64, tv_nsec: time.subsec_nanos().into() };
        let answers = other.as_ref().unwrap_or_else(|| self.source()).as_fd();
        let printed = log_poller::with_poller(|poller| {
            let log = self.log.lock();
            // If stderr is closed, poll the answer socket in its place.
            let fds = [answers, log.fd().unwrap_or(answers), poller.unwrap_or(answers)];
            let mut fds = fds.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
            let _ = poll(&mut fds, Some(&timeout));
            fds[1..].iter().any(|fd| !fd.revents().is_empty())
        });
        self.waits_without_stderr = 0;
        if printed {
            self.prints = true;
            self.log.lock().read();
            log_poller::read_all();
        }
    }

    /// Whether it can be asked.
    pub fn is_alive(&mut self) -> bool {
        !self.gone && self.process.try_wait().is_none()
    }

    /// Removes its socket from those on which this thread waits.
    fn forget(&mut self) {
        let Some(awaited) = self.awaited_socket.take() else { return };
        let _ = AWAITED.try_with(|asked| {
            if let Ok(mut asked) = asked.try_borrow_mut() {
                asked.retain(|fd| !Arc::ptr_eq(fd, &awaited));
            }
        });
    }

    /// Describes how it ended.
    fn how_it_ended(&mut self) -> String {
        let ended = self.process.wait_for(Some(EXIT_TIMEOUT));
        self.kill();
        if let Some(reason) = self.killed_for {
            return format!("was stopped: {reason}");
        }
        ended.map_or_else(|| "closed its channel".to_owned(), |ended| ended.to_string())
    }

    fn kill(&mut self) {
        self.forget();
        self.process.kill_all();
    }
}

impl BotConnection for ForkedBot {
    fn id(&self) -> u32 {
        self.metered
    }

    fn reads_packed(&self) -> bool {
        true
    }

    fn wait_reports_unsolicited(&self) -> bool {
        !self.forks_calls
    }

    fn unsolicited_output(&mut self) -> Option<String> {
        self.wanted = 0;
        self.receive();
        let unsolicited = self.inbox.pop_front().map(|packet| quote_line(&packet.bytes));
        self.inbox.clear();
        unsolicited
    }

    fn ask(&mut self, text: &[u8], lines: usize, limit: Duration) {
        self.wait_for_call_exit();
        self.limit = limit;
        self.wanted = lines;
        // What it has used since its last answer is charged with this one.
        self.asked = UsageSample { at: Instant::now(), usage: self.used };
        if std::mem::take(&mut self.stopped) {
            let _ = self.process.resume();
        }
        let call = self.open_call(text);
        self.forget();
        let source = Arc::clone(self.source());
        AWAITED.with_borrow_mut(|asked| asked.push(Arc::clone(&source)));
        self.awaited_socket = Some(source);
        self.stolen = StealTime::recent();
        self.asked.at = Instant::now();
        self.asked_first = self.asked.at;
        self.asked_system_time = socket::system_time();
        self.unsolicited = false;
        self.send(text, call.as_ref());
        drop(call);
        // Sending never takes this long. Either this thread had no processor, or the bot has it and works: its CPU time is charged in
        // any case, the rest only from now on.
        let now = Instant::now();
        if now.saturating_duration_since(self.asked_first) > SLOW_SEND_AFTER {
            self.asked.at = now;
        }
    }

    fn mark_game_start(&mut self) {
        self.starts_game = true;
        // Whatever the last game has started ends with it. Its fork itself is just ending.
        if let Some(group) = self.process.group() {
            group.kill_others(&[self.loader(), self.metered]);
        }
    }

    fn meter(&self) -> MeterKind {
        self.meter.kind()
    }

    fn leftover(&self) -> Option<&'static str> {
        // Without a cgroup this takes a millisecond, so it is not done for each game: there the fork has no room then.
        let hidden = || self.process.group().is_none() && leads_others(self.loader());
        self.helper().or_else(|| (self.forks_games && hidden()).then_some("process"))
    }

    fn wait(&mut self) -> (AnswerTimes, Result<(), AnswerError>) {
        let give_up_at = self
            .asked
            .at
            .checked_add(self.limit.saturating_mul(OVERLOAD_FACTOR).saturating_add(OVERLOAD_EXTRA));
        let mut until = self.asked.at.checked_add(self.limit);
        let mut others_first = true;
        self.receive_first();
        loop {
            self.receive();
            if self.has_arrived() {
                break;
            }
            let now = Instant::now();
            let left = until.map_or(Duration::from_hours(1), |until| until.saturating_duration_since(now));
            if left.is_zero() {
                let usage = if self.forks_calls {
                    self.meter.read_single().plus(self.meter.read_children())
                } else {
                    self.meter.read()
                };
                let times = self.times(UsageSample { at: now, usage });
                let ready = || {
                    let meter = &self.meter;
                    if self.forks_calls {
                        meter.has_runnable_child()
                    } else {
                        meter.is_runnable() && !meter.has_children()
                    }
                };
                if is_late(times, self.limit, LATE_GRACE, ready) || give_up_at.is_some_and(|end| now >= end) {
                    self.forget();
                    return (times, Err(AnswerError::Late));
                }
                let left = self.limit.saturating_add(LATE_GRACE).saturating_sub(times.charged());
                until = now.checked_add(left + Duration::from_millis(1));
                continue;
            }
            self.wait_for_event(others_first, left);
            others_first = false;
        }
        self.forget();
        let starts_game = self.starts_game;
        let (times, flags) = self.measure();
        self.pause_if_busy(flags);
        if starts_game && let Some(kind) = self.helper() {
            let how = format!(
                "a {kind} that it started while it was loaded still runs; each game begins with nothing else"
            );
            return (times, Err(AnswerError::Ended(how)));
        }
        if std::mem::take(&mut self.unsolicited) {
            let first = self.inbox.front().map(|packet| quote_line(&packet.bytes));
            return (times, Err(AnswerError::Unsolicited(first.unwrap_or_default())));
        }
        let second = self.inbox.get(self.wanted).filter(|_| self.forks_calls && !is_off(PACKET_BOUND));
        if let Some(excess) = second.map(|packet| quote_line(&packet.bytes)).or_else(|| self.excess.take()) {
            return (times, Err(AnswerError::Unsolicited(excess)));
        }
        if let Some(packet) = self.inbox.iter().find(|packet| packet.cut) {
            return (times, Err(AnswerError::TooLong(quote_line(&packet.bytes))));
        }
        (times, Ok(()))
    }

    fn line(&mut self) -> Result<Vec<u8>, AnswerError> {
        match self.inbox.pop_front() {
            Some(packet) => Ok(packet.bytes),
            None => Err(AnswerError::Ended(self.how_it_ended())),
        }
    }

    fn log(&mut self) -> String {
        self.log.lock().tail()
    }

    fn printed(&mut self) -> String {
        self.log.lock().printed()
    }

    fn shut_down(mut self: Box<Self>, text: &[u8], time: Duration) -> LastWords {
        self.limit = time;
        self.stopped = false;
        let _ = self.process.resume();
        self.send(text, None);
        let until = Instant::now() + time;
        while self.process.wait_for(Some(Duration::from_millis(1))).is_none() && Instant::now() < until {
            self.log.lock().read();
        }
        self.wanted = 1;
        self.receive();
        let line = self.inbox.pop_back().map(|packet| packet.bytes);
        let printed = self.log.lock().printed();
        self.kill();
        LastWords { line, printed }
    }
}

impl Drop for ForkedBot {
    fn drop(&mut self) {
        self.kill();
    }
}
