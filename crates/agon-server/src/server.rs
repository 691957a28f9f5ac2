//! A server with a port: started, run until it is asked to stop, stopped in good order.

use std::future::Future;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use agon_store::{RunLock, Timestamp};
use tokio::net::TcpListener;

use crate::config::Config;
use crate::error::StartError;
use crate::state::AppState;
use crate::{bootstrap, listen, router, runs};

/// Sessions that have expired are removed so often.
const SWEEP: Duration = Duration::from_hours(1);

/// A server that has its port and its office, and answers once it is [run](Server::run).
pub struct Server {
    app: AppState,
    listener: TcpListener,
    address: SocketAddr,
    invitation: Option<String>,
    // No other server may have the office while this one is there.
    _claim: RunLock,
}

impl Server {
    /// Takes the port and opens the office.
    pub async fn bind(mut config: Config) -> Result<Self, StartError> {
        let taken = |error: std::io::Error| {
            StartError::Other(format!(
                "cannot listen on {}: {error}\nhint: choose another address with --listen",
                config.listen
            ))
        };
        let listener = TcpListener::bind(config.listen).await.map_err(taken)?;
        let address = listener.local_addr().map_err(taken)?;
        // With port 0 the system has chosen one: links must lead there.
        config.listen = address;
        let app = AppState::open(config).await?;
        let claim = app.office.claim()?;
        let invitation = bootstrap::first_organiser(&app).await?;
        Ok(Self { app, listener, address, invitation, _claim: claim })
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address people use.
    pub fn url(&self) -> String {
        self.app.config.url()
    }

    /// The link by which somebody becomes the first organiser, if there is none yet.
    pub fn invitation(&self) -> Option<&str> {
        self.invitation.as_deref()
    }

    /// What its handlers share.
    pub const fn app(&self) -> &AppState {
        &self.app
    }

    /// Answers until `stop` comes back; then ends streams, games and requests, for as long as the grace lasts.
    pub async fn run(self, stop: impl Future<Output = ()>) -> Result<(), StartError> {
        let app = self.app;
        runs::begin(&app).await?;
        let sweeping = tokio::spawn(sweep(app.clone()));
        let router = router(app.clone());
        let connections = {
            let (app, grace) = (app.clone(), app.config.grace);
            tokio::spawn(async move { listen::listen(&app, self.listener, router, grace).await })
        };
        stop.await;
        let until = Instant::now() + app.config.grace;
        app.stopping.send_replace(true);
        let left = || until.saturating_duration_since(Instant::now());
        let _ = tokio::time::timeout(left(), runs::shut_down(&app)).await;
        let _ = tokio::time::timeout(left(), connections).await;
        sweeping.abort();
        Ok(app.office.disconnect().await?)
    }
}

async fn sweep(app: AppState) {
    loop {
        if let Err(error) = app.office.sweep_sessions(Timestamp::now()).await {
            let _ = crate::error::ApiError::broke(error);
        }
        tokio::time::sleep(SWEEP).await;
    }
}

/// Starts a server with secrets from the environment, says on stderr where it is, and runs it until SIGTERM or SIGINT.
#[allow(clippy::print_stderr, reason = "whoever starts it must learn where it is")]
pub async fn serve(mut config: Config) -> Result<(), StartError> {
    config.take_secrets()?;
    let server = Server::bind(config).await?;
    eprintln!("Agon is at {}", server.url());
    if let Some(link) = server.invitation() {
        eprintln!(
            "There is no organiser yet. Whoever opens this link within 24 hours becomes one:\n  {link}"
        );
    }
    server.run(asked_to_stop()).await
}

/// Comes back at the first SIGTERM or SIGINT. A second one ends the process at once.
pub async fn asked_to_stop() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut term), Ok(mut int)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        return std::future::pending().await;
    };
    tokio::select! { _ = term.recv() => {}, _ = int.recv() => {} }
    tokio::spawn(async move {
        tokio::select! { _ = term.recv() => {}, _ = int.recv() => {} }
        std::process::exit(130);
    });
}
