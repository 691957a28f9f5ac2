//! A server with a port: binding, running, graceful shutdown.

use std::future::Future;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use agon_core::Diagnostic;
use agon_store::{RunLock, Timestamp};
use tokio::net::TcpListener;

use crate::config::Config;
use crate::error::StartError;
use crate::state::AppState;
use crate::{bootstrap, health, listen, router, runs};

/// Interval at which expired sessions are deleted.
const SESSION_SWEEP_INTERVAL: Duration = Duration::from_hours(1);

/// A server that has bound its port and opened the site database. It answers once it is [run](Server::run).
pub struct Server {
    app: AppState,
    listener: TcpListener,
    address: SocketAddr,
    invitation: Option<String>,
    // Keeps other servers from opening the same site database.
    _run_lock: RunLock,
}

impl Server {
    /// Binds the port and opens the site database.
    pub async fn bind(mut config: Config) -> Result<Self, StartError> {
        let listen_error = |error: std::io::Error| {
            StartError::Other(
                Diagnostic::internal(format!("cannot listen on {}: {error}", config.listen))
                    .hint("choose another address with --listen"),
            )
        };
        let listener = TcpListener::bind(config.listen).await.map_err(listen_error)?;
        let address = listener.local_addr().map_err(listen_error)?;
        // With port 0 the system chose one: links must use it.
        config.listen = address;
        let app = AppState::open(config).await?;
        let run_lock = app.site_db.acquire_server_lock()?;
        let invitation = bootstrap::first_organiser(&app).await?;
        Ok(Self { app, listener, address, invitation, _run_lock: run_lock })
    }

    /// Address and port it listens on.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The public URL.
    pub fn url(&self) -> String {
        self.app.config.url()
    }

    /// Sign-up link for the first organiser, if there is none yet.
    pub fn invitation(&self) -> Option<&str> {
        self.invitation.as_deref()
    }

    /// State shared by all handlers.
    pub const fn app(&self) -> &AppState {
        &self.app
    }

    /// Answers requests until `stop` returns. Then ends streams, games and requests within the grace period.
    pub async fn run(self, stop: impl Future<Output = ()>) -> Result<(), StartError> {
        let app = self.app;
        let nats = app.grid.as_ref().map(|grid| grid.link.url());
        tracing::info!(address = %self.address, nats, version = env!("CARGO_PKG_VERSION"), "server started");
        runs::resume_all(&app).await?;
        let sweeper = tokio::spawn(sweep_sessions(app.clone()));
        let watch = tokio::spawn(health::watch(app.clone()));
        let notifiers = crate::notify::start(&app);
        let play_sweeper = tokio::spawn(crate::play::sweep_sessions(app.clone()));
        let router = router(app.clone());
        let connections = {
            let (app, grace) = (app.clone(), app.config.grace);
            tokio::spawn(async move { listen::listen(&app, self.listener, router, grace).await })
        };
        stop.await;
        tracing::info!("server stops: ending games, streams and requests");
        let until = Instant::now() + app.config.grace;
        app.stopping.send_replace(true);
        let remaining = || until.saturating_duration_since(Instant::now());
        let _ = tokio::time::timeout(remaining(), app.play.shut_down()).await;
        let _ = tokio::time::timeout(remaining(), runs::shut_down(&app)).await;
        let _ = tokio::time::timeout(remaining(), connections).await;
        sweeper.abort();
        watch.abort();
        for notifier in notifiers {
            notifier.abort();
        }
        play_sweeper.abort();
        app.site_db.disconnect().await?;
        tracing::info!("server stopped");
        Ok(())
    }
}

async fn sweep_sessions(app: AppState) {
    loop {
        if let Err(error) = app.site_db.sweep_sessions(Timestamp::now()).await {
            let _ = crate::error::ApiError::internal(error);
        }
        tokio::time::sleep(SESSION_SWEEP_INTERVAL).await;
    }
}

/// Starts a server with secrets from the environment and runs it until SIGTERM or SIGINT. Calls `on_bound` when the port is bound, before
/// the first request is answered.
pub async fn serve(mut config: Config, on_bound: impl FnOnce(&Server)) -> Result<(), StartError> {
    // From now on: a server that is stopped while it starts ends cleanly.
    let stop = wait_for_stop_signal();
    config.take_secrets()?;
    let server = Server::bind(config).await?;
    on_bound(&server);
    server.run(stop).await
}

/// Waits for the first SIGTERM or SIGINT since this call. A second signal ends the process at once. Call it inside a Tokio runtime.
pub fn wait_for_stop_signal() -> impl Future<Output = ()> {
    use tokio::signal::unix::{SignalKind, signal};
    let signals = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()));
    async move {
        let (Ok(mut term), Ok(mut int)) = signals else {
            return std::future::pending().await;
        };
        tokio::select! { _ = term.recv() => {}, _ = int.recv() => {} }
        tokio::spawn(async move {
            tokio::select! { _ = term.recv() => {}, _ = int.recv() => {} }
            std::process::exit(130);
        });
    }
}
