//! A TCP proxy that can be cut, slowed down, or dead in one direction. All traffic between a client and a server goes through it.
#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "for tests")]

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, sleep};
use std::time::Duration;

/// Interval at which a connection checks for a changed state.
const CHECK_INTERVAL: Duration = Duration::from_millis(10);
/// Maximum number of bytes that are forwarded at once.
const MAX_CHUNK_BYTES: usize = 16 << 10;

/// Direction of the traffic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProxyDirection {
    /// From the client to the server.
    Up,
    /// From the server to the client.
    Down,
}

/// A proxy between clients and one server, with a separate port.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    state: Arc<ProxyState>,
}

#[derive(Debug, Default)]
struct ProxyState {
    /// Whether traffic is stopped: up, down. Data that was sent waits, like packets that are retransmitted.
    stopped: [AtomicBool; 2],
    /// Whether new connections are refused.
    closed: AtomicBool,
    /// Delay of each chunk in milliseconds.
    delay_ms: AtomicU64,
    /// Maximum bytes per second; 0 for no limit.
    rate: AtomicU64,
    /// Whether the proxy was dropped.
    dropped: AtomicBool,
    /// Forwarded bytes: up, down.
    forwarded: [AtomicU64; 2],
    /// Both ends of every open connection.
    open: Mutex<Vec<TcpStream>>,
}

impl Proxy {
    /// A proxy to the server on this port of 127.0.0.1. The server need not be running yet.
    pub fn to(server: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(ProxyState::default());
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            while !shared.dropped.load(Ordering::Relaxed) {
                match listener.accept() {
                    Ok((client, _)) => {
                        let shared = Arc::clone(&shared);
                        thread::spawn(move || connect(&shared, client, server));
                    }
                    Err(_) => sleep(CHECK_INTERVAL),
                }
            }
        });
        Self { port, state }
    }

    /// Port for clients.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Stops all traffic without closing connections, like a pulled cable. Data in transit waits for [`Proxy::restore`].
    pub fn cut(&self) {
        self.dead(ProxyDirection::Up);
        self.dead(ProxyDirection::Down);
    }

    /// Stops the traffic in one direction.
    pub fn dead(&self, way: ProxyDirection) {
        self.state.stopped[way as usize].store(true, Ordering::Relaxed);
    }

    /// Breaks every connection with loss of data in transit. New connections fail until [`Proxy::restore`].
    pub fn reset_connections(&self) {
        self.state.closed.store(true, Ordering::Relaxed);
        self.state.hang_up();
    }

    /// Delays every chunk of at most 16 KiB by `wait`, and limits the rate (0: no limit).
    pub fn slow(&self, wait: Duration, bytes_a_second: u64) {
        self.state.delay_ms.store(wait.as_millis() as u64, Ordering::Relaxed);
        self.state.rate.store(bytes_a_second, Ordering::Relaxed);
    }

    /// Ends all faults.
    pub fn restore(&self) {
        self.slow(Duration::ZERO, 0);
        for stopped in &self.state.stopped {
            stopped.store(false, Ordering::Relaxed);
        }
        self.state.closed.store(false, Ordering::Relaxed);
    }

    /// Forwarded bytes in one direction.
    pub fn forwarded(&self, way: ProxyDirection) -> u64 {
        self.state.forwarded[way as usize].load(Ordering::Relaxed)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.state.dropped.store(true, Ordering::Relaxed);
        self.state.hang_up();
    }
}

impl ProxyState {
    fn hang_up(&self) {
        for stream in self.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn is_bad(&self) -> bool {
        self.closed.load(Ordering::Relaxed) || self.dropped.load(Ordering::Relaxed)
    }

    /// Waits while the traffic in this direction is stopped. Returns false when the proxy was dropped.
    fn passes(&self, way: ProxyDirection) -> bool {
        while self.stopped[way as usize].load(Ordering::Relaxed) && !self.is_bad() {
            sleep(CHECK_INTERVAL);
        }
        !self.is_bad()
    }
}

/// Handles a connection with two threads, one per direction.
fn connect(state: &Arc<ProxyState>, client: TcpStream, server: u16) {
    // A TCP handshake needs both directions.
    if !(state.passes(ProxyDirection::Up) && state.passes(ProxyDirection::Down)) {
        return;
    }
    let address = SocketAddr::from(([127, 0, 0, 1], server));
    let Ok(server) = TcpStream::connect_timeout(&address, Duration::from_secs(5)) else { return };
    let (Ok(client_too), Ok(server_too)) = (client.try_clone(), server.try_clone()) else { return };
    let ends = [client.try_clone(), server.try_clone()];
    state.open.lock().unwrap().extend(ends.into_iter().flatten());
    if state.is_bad() {
        state.hang_up();
    }
    let shared = Arc::clone(state);
    let up = thread::spawn(move || pump(&shared, ProxyDirection::Up, client_too, server));
    pump(state, ProxyDirection::Down, server_too, client);
    let _ = up.join();
}

/// Forwards data until one end closes.
fn pump(state: &ProxyState, way: ProxyDirection, mut from: TcpStream, mut to: TcpStream) {
    let _ = to.set_nodelay(true);
    let _ = from.set_nonblocking(false);
    let _ = from.set_read_timeout(Some(Duration::from_millis(200)));
    let mut bytes = vec![0; MAX_CHUNK_BYTES];
    while state.passes(way) {
        let length = match from.read(&mut bytes) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => continue,
            Err(_) => break,
        };
        let rate = state.rate.load(Ordering::Relaxed);
        let at_that_rate = 1000 * length as u64 / rate.max(1) * u64::from(rate > 0);
        sleep(Duration::from_millis(state.delay_ms.load(Ordering::Relaxed) + at_that_rate));
        // Traffic was stopped after the data was read: it waits.
        if !state.passes(way) || to.write_all(&bytes[..length]).is_err() {
            break;
        }
        state.forwarded[way as usize].fetch_add(length as u64, Ordering::Relaxed);
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    /// A server that echoes everything.
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

    /// The next byte; `None` if the connection ends.
    fn back(stream: &mut TcpStream) -> Option<u8> {
        let mut byte = [0];
        (stream.read(&mut byte).ok()? == 1).then_some(byte[0])
    }

    /// Whether nothing arrives for a third of a second.
    fn is_silent(stream: &mut TcpStream) -> bool {
        stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
        let is_silent = back(stream).is_none();
        stream.set_read_timeout(Some(crate::WAIT_TIMEOUT)).unwrap();
        is_silent
    }

    #[test]
    fn data_sent_while_cut_arrives_after_restore() {
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
    fn dead_direction_stops_only_that_direction() {
        let proxy = Proxy::to(echo());
        let mut stream = client(&proxy);
        stream.write_all(b"a").unwrap();
        assert_eq!(back(&mut stream), Some(b'a'));
        proxy.dead(ProxyDirection::Down);
        stream.write_all(b"b").unwrap();
        crate::wait_until("data passes in the other direction", || proxy.forwarded(ProxyDirection::Up) == 2);
        assert!(is_silent(&mut stream));
        assert_eq!(proxy.forwarded(ProxyDirection::Down), 1);
    }

    #[test]
    fn reset_connections_end_and_new_ones_work_after_restore() {
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
    fn slow_proxy_delays_data() {
        let proxy = Proxy::to(echo());
        proxy.slow(Duration::from_millis(60), 0);
        let (mut stream, begun) = (client(&proxy), Instant::now());
        stream.write_all(b"a").unwrap();
        assert_eq!(back(&mut stream), Some(b'a'));
        assert!(begun.elapsed() >= Duration::from_millis(120));
    }
}
