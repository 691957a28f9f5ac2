//! Connection handling: limits their number, drops slow clients and closes all connections when the server stops.

use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::{Pin, pin};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use agon_core::LockIgnoringPoison as _;
use axum::Router;
use axum::body::{Body, HttpBody};
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, Sleep};
use tower::ServiceExt as _;

use crate::middleware::address::{NetworkWidth, PeerAddr};
use crate::state::AppState;

/// Maximum number of connections. Further clients wait to be accepted.
const MAX_CONNECTIONS: usize = 4096;
/// Maximum number of connections from one address, so that a single client cannot lock out all others.
const MAX_CONNECTIONS_PER_ADDRESS: usize = MAX_CONNECTIONS / 2;
/// Timeout for the head of a request. It also limits how long a connection may be idle.
const HEADER_TIMEOUT: Duration = Duration::from_secs(30);
/// Timeout for a client that does not read its response.
const WRITE_TIMEOUT: Duration = Duration::from_mins(1);
/// Time for the last bytes to be sent when the server stops.
const LAST_WRITE_DELAY: Duration = Duration::from_millis(500);
const MAX_HEADERS: usize = 64;
/// Maximum size of a request's head in bytes.
const MAX_HEADER_BYTES: usize = 32 * 1024;

/// Accepts connections until the server stops. Returns when all have ended, at the latest after `grace`.
pub async fn listen(app: &AppState, listener: TcpListener, router: Router, grace: Duration) {
    let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    // Behind a proxy, all connections come from its address.
    let counts = Arc::new(ConnectionCounts::new(if app.config.proxies == 0 {
        MAX_CONNECTIONS_PER_ADDRESS
    } else {
        MAX_CONNECTIONS
    }));
    let mut open = JoinSet::new();
    let mut stopped = pin!(app.wait_for_stop());
    loop {
        let accepted = tokio::select! {
            () = &mut stopped => break,
            accepted = accept(&listener, &permits) => accepted,
            // Finished tasks are removed at once.
            Some(_) = open.join_next() => continue,
        };
        let Ok((stream, peer, permit)) = accepted else { continue };
        let Some(slot) = ConnectionCounts::acquire(&counts, peer.ip()) else {
            tracing::warn!(address = %peer.ip(), "too many connections from one address; closing this one");
            continue;
        };
        let (app, router) = (app.clone(), router.clone());
        open.spawn(async move {
            app.meters.connections.fetch_add(1, Ordering::Relaxed);
            serve_connection(stream, peer, router, app.stopping.subscribe()).await;
            app.meters.connections.fetch_sub(1, Ordering::Relaxed);
            drop((slot, permit));
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(grace, async { while open.join_next().await.is_some() {} }).await;
}

async fn accept(
    listener: &TcpListener,
    permits: &Arc<Semaphore>,
) -> io::Result<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    let permit = Arc::clone(permits).acquire_owned().await.map_err(io::Error::other)?;
    match listener.accept().await {
        Ok((stream, peer)) => Ok((stream, peer, permit)),
        Err(error) => {
            tracing::error!(%error, "cannot accept connections");
            // Usually the process has no free file descriptors. Retrying at once would not help.
            tokio::time::sleep(Duration::from_millis(100)).await;
            Err(error)
        }
    }
}

async fn serve_connection(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    mut stopping: watch::Receiver<bool>,
) {
    // Events are small and must be sent without delay.
    let _ = stream.set_nodelay(true);
    let in_flight = Arc::new(());
    let request_in_flight = Arc::clone(&in_flight);
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let mut request: Request = request.map(Body::new);
        request.extensions_mut().insert(PeerAddr(peer));
        let (response, request_in_flight) = (router.clone().oneshot(request), Arc::clone(&request_in_flight));
        async move {
            response
                .await
                .map(|response| response.map(|body| TrackedBody { body, _in_flight: request_in_flight }))
        }
    });
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_HEADER_BYTES);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(WriteTimeout::new(stream)), service));
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = stopping.wait_for(|stopping| *stopping) => connection.as_mut().graceful_shutdown(),
    }
    // Requests in progress are answered. A client that has not sent a complete request by now is not waited for.
    tokio::select! {
        _ = connection => {}
        () = wait_until_idle(&in_flight) => {}
    }
}

/// Number of open connections per address.
struct ConnectionCounts {
    max_per_address: usize,
    by_address: Mutex<HashMap<IpAddr, usize>>,
}

/// One counted connection. Dropping it frees the slot.
struct ConnectionSlot(Arc<ConnectionCounts>, IpAddr);

impl ConnectionCounts {
    fn new(max_per_address: usize) -> Self {
        Self { max_per_address, by_address: Mutex::default() }
    }

    /// Reserves a slot, if the address has one left.
    fn acquire(counts: &Arc<Self>, address: IpAddr) -> Option<ConnectionSlot> {
        // With IPv6 one client has a whole /64.
        let address = NetworkWidth::Host.network(address);
        let mut by_address = counts.by_address.lock_ignoring_poison();
        let count = by_address.entry(address).or_default();
        if *count >= counts.max_per_address {
            return None;
        }
        *count += 1;
        Some(ConnectionSlot(Arc::clone(counts), address))
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut by_address = self.0.by_address.lock_ignoring_poison();
        if let Some(count) = by_address.get_mut(&self.1) {
            *count -= 1;
            if *count == 0 {
                by_address.remove(&self.1);
            }
        }
    }
}

/// Returns when no response is being computed or sent, after a short delay for the last bytes.
async fn wait_until_idle(in_flight: &Arc<()>) {
    // One reference belongs to the connection, one to the service.
    while Arc::strong_count(in_flight) > 2 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    tokio::time::sleep(LAST_WRITE_DELAY).await;
}

/// A response body that marks the connection as busy until it has been sent.
struct TrackedBody {
    body: Body,
    _in_flight: Arc<()>,
}

impl HttpBody for TrackedBody {
    type Data = bytes::Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<hyper::body::Frame<bytes::Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        self.body.size_hint()
    }
}

/// A TCP stream whose writes fail after [`WRITE_TIMEOUT`] without progress.
struct WriteTimeout {
    stream: TcpStream,
    deadline: Option<Pin<Box<Sleep>>>,
}

impl WriteTimeout {
    fn new(stream: TcpStream) -> Self {
        Self { stream, deadline: None }
    }

    /// The result of a write, or a timeout error if the write has been pending for too long.
    fn with_timeout<T>(
        &mut self,
        result: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if result.is_ready() {
            self.deadline = None;
            return result;
        }
        let limit = self
            .deadline
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(Instant::now() + WRITE_TIMEOUT)));
        ready!(limit.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for WriteTimeout {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for WriteTimeout {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.with_timeout(result, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.with_timeout(result, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connection_slots_are_limited_per_address() {
        let counts = Arc::new(ConnectionCounts::new(2));
        let (one, other) = (IpAddr::from([192, 0, 2, 1]), IpAddr::from([192, 0, 2, 2]));
        let first = ConnectionCounts::acquire(&counts, one);
        let second = ConnectionCounts::acquire(&counts, one);
        assert!(first.is_some() && second.is_some());
        assert!(ConnectionCounts::acquire(&counts, one).is_none());
        assert!(ConnectionCounts::acquire(&counts, other).is_some());
        drop(first);
        assert!(ConnectionCounts::acquire(&counts, one).is_some());
        drop(second);
        let v6 = |text: &str| ConnectionCounts::acquire(&counts, text.parse().unwrap());
        let held = (v6("2001:db8::1"), v6("2001:db8::2"));
        assert!(held.0.is_some() && held.1.is_some());
        assert!(v6("2001:db8::3").is_none(), "each address of a /64 has a limit of its own");
        drop(held);
        assert!(counts.by_address.lock().unwrap().is_empty(), "closed connections leave no entries");
    }
}
