//! Connections: bounded in number, none of them held for ever by a slow client, all of them ended in good order.

use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::{Pin, pin};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

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

use crate::middleware::address::Peer;
use crate::state::AppState;

/// So many at once; others wait to be let in.
const CONNECTIONS: usize = 4096;
/// So many from one address, so that one alone cannot keep all others out.
const FROM_ONE: usize = CONNECTIONS / 2;
/// A request's head must come within this; so long may a connection be idle, too.
const HEAD: Duration = Duration::from_secs(30);
/// A client that takes nothing of an answer for so long is given up.
const STALLED: Duration = Duration::from_mins(1);
/// What was written last may take so long to leave when the server stops.
const LAST_BYTES: Duration = Duration::from_millis(500);
const HEADERS: usize = 64;
/// A request's head is never longer: bytes.
const HEAD_BYTES: usize = 32 * 1024;

/// Lets connections in until the app stops; comes back when all have ended, or `grace` after that.
pub async fn listen(app: &AppState, listener: TcpListener, router: Router, grace: Duration) {
    let turns = Arc::new(Semaphore::new(CONNECTIONS));
    // Behind a proxy all come from one address.
    let crowd = Arc::new(ConnectionCounts::new(if app.config.proxies == 0 { FROM_ONE } else { CONNECTIONS }));
    let mut open = JoinSet::new();
    let mut stopped = pin!(app.stopped());
    loop {
        let accepted = tokio::select! {
            () = &mut stopped => break,
            accepted = accept(&listener, &turns) => accepted,
            // Those that have ended are let go of at once.
            Some(_) = open.join_next() => continue,
        };
        let Ok((stream, peer, turn)) = accepted else { continue };
        let Some(place) = ConnectionCounts::enter(&crowd, peer.ip()) else { continue };
        let (app, router) = (app.clone(), router.clone());
        open.spawn(async move {
            app.meters.connections.fetch_add(1, Ordering::Relaxed);
            connection(stream, peer, router, app.stopping.subscribe()).await;
            app.meters.connections.fetch_sub(1, Ordering::Relaxed);
            drop((place, turn));
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(grace, async { while open.join_next().await.is_some() {} }).await;
}

async fn accept(
    listener: &TcpListener,
    turns: &Arc<Semaphore>,
) -> io::Result<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    let turn = Arc::clone(turns).acquire_owned().await.map_err(io::Error::other)?;
    match listener.accept().await {
        Ok((stream, peer)) => Ok((stream, peer, turn)),
        Err(error) => {
            // Out of files, mostly: no use in asking again at once.
            tokio::time::sleep(Duration::from_millis(100)).await;
            Err(error)
        }
    }
}

async fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    mut stopping: watch::Receiver<bool>,
) {
    // Events are small and must not wait for one another.
    let _ = stream.set_nodelay(true);
    let busy = Arc::new(());
    let mark = Arc::clone(&busy);
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let mut request: Request = request.map(Body::new);
        request.extensions_mut().insert(Peer(peer));
        let (answer, mark) = (router.clone().oneshot(request), Arc::clone(&mark));
        async move { answer.await.map(|response| response.map(|body| TrackedBody { body, _mark: mark })) }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD).max_headers(HEADERS).max_buf_size(HEAD_BYTES);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(WriteTimeout::new(stream)), service));
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = stopping.wait_for(|stopping| *stopping) => connection.as_mut().graceful_shutdown(),
    }
    // What was asked is answered; whoever has asked nothing whole by now is not waited for.
    tokio::select! {
        _ = connection => {}
        () = idle(&busy) => {}
    }
}

/// How many connections there are from each address.
struct ConnectionCounts {
    most: usize,
    from: Mutex<HashMap<IpAddr, usize>>,
}

/// One of them, until it is dropped.
struct ConnectionSlot(Arc<ConnectionCounts>, IpAddr);

impl ConnectionCounts {
    fn new(most: usize) -> Self {
        Self { most, from: Mutex::default() }
    }

    /// A place for one more, if there is any.
    fn enter(crowd: &Arc<Self>, address: IpAddr) -> Option<ConnectionSlot> {
        let mut from = crowd.from.lock().unwrap_or_else(PoisonError::into_inner);
        let count = from.entry(address).or_default();
        if *count >= crowd.most {
            return None;
        }
        *count += 1;
        Some(ConnectionSlot(Arc::clone(crowd), address))
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut from = self.0.from.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = from.get_mut(&self.1) {
            *count -= 1;
            if *count == 0 {
                from.remove(&self.1);
            }
        }
    }
}

/// Comes back when no answer is being made or sent, and what was written has had a moment to leave.
async fn idle(busy: &Arc<()>) {
    // One is the connection's own, one the service's.
    while Arc::strong_count(busy) > 2 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    tokio::time::sleep(LAST_BYTES).await;
}

/// An answer's body that marks the connection as busy until it has been sent.
struct TrackedBody {
    body: Body,
    _mark: Arc<()>,
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

/// A stream that fails when nothing can be written to it for too long.
struct WriteTimeout {
    stream: TcpStream,
    since: Option<Pin<Box<Sleep>>>,
}

impl WriteTimeout {
    fn new(stream: TcpStream) -> Self {
        Self { stream, since: None }
    }

    /// What came of writing, or that it took too long.
    fn watched<T>(&mut self, wrote: Poll<io::Result<T>>, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        if wrote.is_ready() {
            self.since = None;
            return wrote;
        }
        let limit =
            self.since.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(Instant::now() + STALLED)));
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
        let wrote = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watched(wrote, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.watched(wrote, context)
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
    fn one_address_cannot_take_all_places() {
        let crowd = Arc::new(ConnectionCounts::new(2));
        let (one, other) = (IpAddr::from([192, 0, 2, 1]), IpAddr::from([192, 0, 2, 2]));
        let first = ConnectionCounts::enter(&crowd, one);
        let second = ConnectionCounts::enter(&crowd, one);
        assert!(first.is_some() && second.is_some());
        assert!(ConnectionCounts::enter(&crowd, one).is_none());
        assert!(ConnectionCounts::enter(&crowd, other).is_some());
        drop(first);
        assert!(ConnectionCounts::enter(&crowd, one).is_some());
        drop(second);
        assert!(crowd.from.lock().unwrap().is_empty(), "nothing is kept of those who left");
    }
}
