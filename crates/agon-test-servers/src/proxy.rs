//! A network that can be cut, slowed down, or dead in one direction: everything between a client and a server goes through it.
#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "for tests")]

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, sleep};
use std::time::Duration;

/// How often a connection looks up whether the weather has changed.
const LOOK: Duration = Duration::from_millis(10);
/// So much is passed on at once.
const CHUNK: usize = 16 << 10;

/// Which way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProxyDirection {
    /// From the client to the server.
    Up,
    /// From the server to the client.
    Down,
}

/// A network between clients and one server, on a port of its own.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    weather: Arc<ProxyState>,
}

#[derive(Debug, Default)]
struct ProxyState {
    /// Nothing passes this way: up, down. What was sent waits, as packets do that are sent again and again.
    still: [AtomicBool; 2],
    /// Nobody is let in.
    closed: AtomicBool,
    /// Each chunk waits so long.
    wait_ms: AtomicU64,
    /// At most so many bytes a second; 0 for no limit.
    rate: AtomicU64,
    /// It is gone.
    over: AtomicBool,
    /// Bytes that passed: up, down.
    passed: [AtomicU64; 2],
    /// Both ends of every connection.
    open: Mutex<Vec<TcpStream>>,
}

impl Proxy {
    /// To the server on this port of 127.0.0.1, which need not be there yet.
    pub fn to(server: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let weather = Arc::new(ProxyState::default());
        let shared = Arc::clone(&weather);
        thread::spawn(move || {
            while !shared.over.load(Ordering::Relaxed) {
                match listener.accept() {
                    Ok((client, _)) => {
                        let shared = Arc::clone(&shared);
                        thread::spawn(move || connect(&shared, client, server));
                    }
                    Err(_) => sleep(LOOK),
                }
            }
        });
        Self { port, weather }
    }

    /// Where clients connect.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Nothing passes any more, and nobody is told: what a pulled cable does. What is on its way waits for [`Proxy::heal`].
    pub fn cut(&self) {
        self.dead(ProxyDirection::Up);
        self.dead(ProxyDirection::Down);
    }

    /// Nothing passes one way any more; the other way does.
    pub fn dead(&self, way: ProxyDirection) {
        self.weather.still[way as usize].store(true, Ordering::Relaxed);
    }

    /// Every connection breaks, what is on its way is lost, and new ones break until [`Proxy::heal`].
    pub fn reset_connections(&self) {
        self.weather.closed.store(true, Ordering::Relaxed);
        self.weather.hang_up();
    }

    /// Every chunk of at most 16 KiB waits so long, and at most so many bytes pass in a second (0: as many as come).
    pub fn slow(&self, wait: Duration, bytes_a_second: u64) {
        self.weather.wait_ms.store(wait.as_millis() as u64, Ordering::Relaxed);
        self.weather.rate.store(bytes_a_second, Ordering::Relaxed);
    }

    /// Good weather again.
    pub fn restore(&self) {
        self.slow(Duration::ZERO, 0);
        for still in &self.weather.still {
            still.store(false, Ordering::Relaxed);
        }
        self.weather.closed.store(false, Ordering::Relaxed);
    }

    /// Bytes that have passed one way.
    pub fn passed(&self, way: ProxyDirection) -> u64 {
        self.weather.passed[way as usize].load(Ordering::Relaxed)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.weather.over.store(true, Ordering::Relaxed);
        self.weather.hang_up();
    }
}

impl ProxyState {
    fn hang_up(&self) {
        for stream in self.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn is_bad(&self) -> bool {
        self.closed.load(Ordering::Relaxed) || self.over.load(Ordering::Relaxed)
    }

    /// Waits while nothing passes this way; says whether there still is a network.
    fn passes(&self, way: ProxyDirection) -> bool {
        while self.still[way as usize].load(Ordering::Relaxed) && !self.is_bad() {
            sleep(LOOK);
        }
        !self.is_bad()
    }
}

/// A connection: two threads, one each way.
fn connect(weather: &Arc<ProxyState>, client: TcpStream, server: u16) {
    // To connect, words go both ways.
    if !(weather.passes(ProxyDirection::Up) && weather.passes(ProxyDirection::Down)) {
        return;
    }
    let address = SocketAddr::from(([127, 0, 0, 1], server));
    let Ok(server) = TcpStream::connect_timeout(&address, Duration::from_secs(5)) else { return };
    let (Ok(client_too), Ok(server_too)) = (client.try_clone(), server.try_clone()) else { return };
    let ends = [client.try_clone(), server.try_clone()];
    weather.open.lock().unwrap().extend(ends.into_iter().flatten());
    if weather.is_bad() {
        weather.hang_up();
    }
    let shared = Arc::clone(weather);
    let up = thread::spawn(move || pump(&shared, ProxyDirection::Up, client_too, server));
    pump(weather, ProxyDirection::Down, server_too, client);
    let _ = up.join();
}

/// Passes on what comes until one end is gone.
fn pump(weather: &ProxyState, way: ProxyDirection, mut from: TcpStream, mut to: TcpStream) {
    let _ = to.set_nodelay(true);
    let _ = from.set_nonblocking(false);
    let _ = from.set_read_timeout(Some(Duration::from_millis(200)));
    let mut bytes = vec![0; CHUNK];
    while weather.passes(way) {
        let length = match from.read(&mut bytes) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => continue,
            Err(_) => break,
        };
        let rate = weather.rate.load(Ordering::Relaxed);
        let at_that_rate = 1000 * length as u64 / rate.max(1) * u64::from(rate > 0);
        sleep(Duration::from_millis(weather.wait_ms.load(Ordering::Relaxed) + at_that_rate));
        // Cut while it was on its way: it waits.
        if !weather.passes(way) || to.write_all(&bytes[..length]).is_err() {
            break;
        }
        weather.passed[way as usize].fetch_add(length as u64, Ordering::Relaxed);
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    /// A server that says everything again.
    fn echo() -> u16 {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                thread::spawn(move || std::io::copy(&mut &stream, &mut &stream));
            }
        });
        port
    }

    fn client(proxy: &Proxy) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", proxy.port())).unwrap();
        stream.set_read_timeout(Some(crate::WAIT_TIMEOUT)).unwrap();
        stream
    }

    /// What comes back; `None` if the connection ends.
    fn back(stream: &mut TcpStream) -> Option<u8> {
        let mut byte = [0];
        (stream.read(&mut byte).ok()? == 1).then_some(byte[0])
    }

    /// Nothing comes back for a third of a second.
    fn is_silent(stream: &mut TcpStream) -> bool {
        stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
        let is_silent = back(stream).is_none();
        stream.set_read_timeout(Some(crate::WAIT_TIMEOUT)).unwrap();
        is_silent
    }

    #[test]
    fn what_is_sent_while_it_is_cut_arrives_when_it_is_healed() {
        let proxy = Proxy::to(echo());
        let mut stream = client(&proxy);
        stream.write_all(b"a").unwrap();
        assert_eq!(back(&mut stream), Some(b'a'));
        proxy.cut();
        stream.write_all(b"b").unwrap();
        assert!(is_silent(&mut stream));
        proxy.restore();
        assert_eq!(back(&mut stream), Some(b'b'));
    }

    #[test]
    fn one_way_is_dead_and_the_other_is_not() {
        let proxy = Proxy::to(echo());
        let mut stream = client(&proxy);
        stream.write_all(b"a").unwrap();
        assert_eq!(back(&mut stream), Some(b'a'));
        proxy.dead(ProxyDirection::Down);
        stream.write_all(b"b").unwrap();
        crate::wait_until("it passes the way that is not dead", || proxy.passed(ProxyDirection::Up) == 2);
        assert!(is_silent(&mut stream));
        assert_eq!(proxy.passed(ProxyDirection::Down), 1);
    }

    #[test]
    fn severed_connections_end_and_new_ones_come_after_healing() {
        let proxy = Proxy::to(echo());
        let mut stream = client(&proxy);
        stream.write_all(b"a").unwrap();
        assert_eq!(back(&mut stream), Some(b'a'));
        proxy.reset_connections();
        assert_eq!(back(&mut stream), None);
        proxy.restore();
        let mut stream = client(&proxy);
        stream.write_all(b"c").unwrap();
        assert_eq!(back(&mut stream), Some(b'c'));
    }

    #[test]
    fn a_slow_network_is_slow() {
        let proxy = Proxy::to(echo());
        proxy.slow(Duration::from_millis(60), 0);
        let (mut stream, begun) = (client(&proxy), Instant::now());
        stream.write_all(b"a").unwrap();
        assert_eq!(back(&mut stream), Some(b'a'));
        assert!(begun.elapsed() >= Duration::from_millis(120));
    }
}
