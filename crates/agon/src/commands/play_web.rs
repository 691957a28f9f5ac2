//! `agon play GAME human BOT --web`: you play in the browser, with a server of your own that only this machine can reach.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use agon_bots::Diagnostic;
use agon_engine::{PlayedGame, PlayerSpec};
use agon_host::ScratchDir;
use agon_server::play::SessionOwner;
use agon_server::play::session::{Session, SessionPhase};
use agon_server::play::settings::PlayAccess;
use agon_server::play::setup::{SeatPlan, SessionSetup};
use agon_server::{Config, Server, SignUp};

use super::play::PlayJob;
use super::serve;
use crate::args::PlayClock;
use crate::output;

/// Maximum time for the pages to get the result before the server stops.
const LAST_EVENTS_TIMEOUT: Duration = Duration::from_secs(10);

/// Plays one game with persons in browsers. Returns when it is over, or after CTRL-C, which ends the game.
pub fn run(job: &PlayJob<'_>) -> Result<PlayedGame, Diagnostic> {
    check(job)?;
    let data = ScratchDir::new("agon-play")?;
    let mut config = Config::new(data.path().join("server"));
    config.listen.set_port(0);
    config.sign_up = SignUp::Closed;
    // Nobody else opens games here; the seats of this one are taken already.
    config.play.access = PlayAccess::Off;
    config.jobs = 1;
    config.checks = 1;
    serve::runtime()?.block_on(play(job, config))
}

fn check(job: &PlayJob<'_>) -> Result<(), Diagnostic> {
    if !job.seats.contains(&PlayerSpec::Human) {
        return Err(Diagnostic::wrong_use("--web: no seat is yours", "write human in place of a BOT"));
    }
    if job.args.games != 1 {
        return Err(Diagnostic::wrong_use("--web plays one game", "omit --games"));
    }
    Ok(())
}

async fn play(job: &PlayJob<'_>, config: Config) -> Result<PlayedGame, Diagnostic> {
    let stop_signal = agon_server::wait_for_stop_signal();
    let server = Server::bind(config).await.map_err(serve::start_failure)?;
    let (app, url) = (server.app().clone(), server.url());
    let session = app.play.open(&app, setup(job)?, SessionOwner::ThisMachine)?;
    for seat in session.setup.persons() {
        let key = session.join(seat, "human", None)?;
        let link = format!("{url}/play/s/{}#seat={seat}&key={key}", session.id);
        let role = session.setup.role(seat);
        output::note(&format!("seat {seat} ({role}) plays at {link}"));
        if job.args.open {
            open_browser(&link);
        }
    }
    output::note("The game starts when these pages are open. CTRL-C ends it.");
    let finished = {
        let session = Arc::clone(&session);
        async move {
            tokio::select! {
                () = wait_until_over(&session) => {}
                () = stop_signal => {}
            }
        }
    };
    // When it stops, the server ends a game that is still played, and stores it.
    server.run(finished).await.map_err(serve::start_failure)?;
    session.take_finished().ok_or_else(|| {
        let reason = session.error().unwrap_or_else(|| "the game was not played".to_owned());
        Diagnostic::rejected(reason).hint("open the links, and leave the pages open until the game is over")
    })
}

/// What is played, with the bots of the command line.
fn setup(job: &PlayJob<'_>) -> Result<SessionSetup, Diagnostic> {
    let seat = |player: &PlayerSpec| match player {
        PlayerSpec::Human => SeatPlan::Person,
        PlayerSpec::House(name) => SeatPlan::House(name.clone()),
        PlayerSpec::Program(_) => SeatPlan::Prepared(Box::new(player.clone())),
    };
    Ok(SessionSetup {
        game: agon_engine::any_game(&job.args.game)?,
        settings: job.settings.clone(),
        assets: job.assets.clone(),
        seed: job.seed,
        seats: job.seats.iter().map(seat).collect(),
        clock: match job.args.clock {
            Some(PlayClock::Rules) => agon_server::play::setup::PlayClock::Rules,
            Some(PlayClock::None) | None => agon_server::play::setup::PlayClock::None,
        },
    })
}

/// Waits until the game is over and its pages have got the result.
async fn wait_until_over(session: &Session) {
    let mut changed = session.subscribe();
    while session.phase().0 != SessionPhase::Over {
        if changed.changed().await.is_err() {
            return;
        }
    }
    // Streams close after their last event.
    let closed = async {
        while session.open_streams() > 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let _ = tokio::time::timeout(LAST_EVENTS_TIMEOUT, closed).await;
}

/// Opens a page in the user's browser. If that fails, the user can open the printed link.
fn open_browser(link: &str) {
    let command = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let started = Command::new(command)
        .arg(link)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if let Err(error) = started {
        output::note(&format!("note: cannot start the browser ({command}: {error}); open the link yourself"));
    }
}
