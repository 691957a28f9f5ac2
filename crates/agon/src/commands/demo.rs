//! `agon demo`: five small competitions, played by a server of their own, and the page on which they can be seen.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agon_bots::error::Failure;
use agon_bots::starter;
use agon_competition::LoadedCompetition;
use agon_core::ErrorKind;
use agon_host::ScratchDir;
use agon_report::table_formats;
use agon_runner::phase_results;
use agon_server::{AppState, Config, Server};
use agon_site_db::{CompetitionFilter, CompetitionState, PageRequest};
use serde_json::json;

use super::serve;
use crate::cli::Demo;
use crate::{output, setup};

/// Plays them, and shows them until CTRL-C.
pub fn run(args: &Demo) -> Result<(), Failure> {
    let private;
    let data = if let Some(data) = &args.data {
        data.clone()
    } else {
        private = ScratchDir::new("agon-demo")?;
        private.path().to_owned()
    };
    let mut config = Config::new(data.join("server"));
    config.files = lay_out(&data.join("cups"), args)?;
    config.listen = args.listen;
    if args.no_serve {
        // Nobody is to find it.
        config.listen.set_port(0);
    }
    "Agon demo".clone_into(&mut config.name);
    config.jobs = setup::jobs(args.jobs)?;
    let runtime = serve::runtime()?;
    runtime.block_on(play_and_show(args, config))
}

async fn play_and_show(args: &Demo, config: Config) -> Result<(), Failure> {
    let files = config.files.clone();
    let server = Server::bind(config).await.map_err(serve::failure)?;
    let (app, url) = (server.app().clone(), server.url());
    let invitation = server.invitation().map(str::to_owned);
    for one in competitions(&app).await? {
        if one.state == CompetitionState::Closed {
            app.office
                .set_state(&one.id, &[CompetitionState::Closed], CompetitionState::Running, None)
                .await
                .map_err(broke)?;
        }
    }
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = tokio::spawn(server.run(async {
        let _ = stopped.await;
    }));
    output::note("playing five small competitions, about a minute in all ...");
    let played = tokio::select! {
        played = all_over(&app) => played,
        () = agon_server::wait_for_stop_signal() => Err(Failure { kind: ErrorKind::Rejected, message: String::new() }),
    };
    let told = match played {
        Ok(()) => tables(&files, args).await,
        Err(failure) => Err(failure),
    };
    if told.is_ok() && !args.no_serve {
        output::note(&format!("\nThe tables and replays are at {url}"));
        if let Some(link) = invitation {
            output::note(&format!("To look at the organiser's desk too, become the organiser: {link}"));
        }
        output::note("CTRL-C ends it.");
        agon_server::wait_for_stop_signal().await;
    }
    let _ = stop.send(());
    serving.await.map_err(broke)?.map_err(serve::failure)?;
    told
}

fn broke(error: impl std::fmt::Display) -> Failure {
    Failure { kind: ErrorKind::Internal, message: error.to_string() }
}

async fn competitions(app: &AppState) -> Result<Vec<agon_site_db::HostedCompetition>, Failure> {
    let page = PageRequest { after: None, limit: 100 };
    Ok(app.office.competitions(CompetitionFilter::All, page).await.map_err(broke)?.items)
}

/// Waits until nothing is left to play. Says so of each that is over.
async fn all_over(app: &AppState) -> Result<(), Failure> {
    let (begun, mut told) = (Instant::now(), Vec::new());
    loop {
        let all = competitions(app).await?;
        for one in &all {
            match one.state {
                CompetitionState::Failed => {
                    let words = one.message.as_deref().unwrap_or("no words");
                    return Err(broke(format!("{}: {words}", one.name)));
                }
                CompetitionState::Finished if !told.contains(&one.id) => {
                    told.push(one.id.clone());
                    output::note(&format!("{}: over after {:.0} s", one.name, begun.elapsed().as_secs_f64()));
                }
                _ => {}
            }
        }
        if all.iter().all(|one| one.state == CompetitionState::Finished) {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// The last table of each.
async fn tables(files: &[PathBuf], args: &Demo) -> Result<(), Failure> {
    let mut list = Vec::new();
    for file in files {
        let sitting = LoadedCompetition::read(file)?;
        let ledger = sitting.ledger_to_read().await?;
        let last = sitting.competition.phases.len() as u32 - 1;
        let info = sitting.table.info();
        let standings = phase_results::phase_standings(&ledger, &sitting.competition, info, last).await?;
        if args.json {
            list.push(standings.json());
        } else {
            let text =
                table_formats::render(&standings, table_formats::Format::Text, true, output::table_width());
            output::print(&format!("\n{text}"))?;
        }
    }
    if args.json {
        output::print_json("demo", json!({ "tables": list }))?;
    }
    Ok(())
}

/// The files of the competitions, each with the house bots and, where Python is there, a bot as `agon new` writes it.
fn lay_out(folder: &Path, args: &Demo) -> Result<Vec<PathBuf>, Failure> {
    let python = !args.house && agon_host::python::is_there();
    let seed = setup::seed(Some(&args.seed))?;
    let mut files = Vec::new();
    // The last one is listed first.
    for info in agon_games::infos().into_iter().rev() {
        let game = info.id;
        let path = folder.join(game).join(format!("{game}.toml"));
        files.insert(0, path.clone());
        if path.exists() {
            continue;
        }
        let mut text = info.competition.demo.replace("SEED", &seed.to_string());
        let roles = info.roles.iter().map(|role| if info.roles.len() > 1 { role.name } else { "" });
        for role in roles.filter(|_| python) {
            text += &example(game, role, path.parent().unwrap_or(folder))?;
        }
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        fs::write(&path, text)
            .map_err(|e| Failure::io("write", &path, &e, "is there room, and may you write there?"))?;
    }
    Ok(files)
}

/// A starter bot, as an entrant.
fn example(game: &str, role: &str, folder: &Path) -> Result<String, Failure> {
    let home = folder.join("bots/starter");
    for (name, content, _) in starter::files(game, "python", "starter")? {
        let path = home.join(name);
        fs::create_dir_all(path.parent().unwrap_or(&home))?;
        fs::write(path, content)?;
    }
    let (name, line) = match role {
        "" => ("Starter".to_owned(), String::new()),
        role => (format!("Starter {role}"), format!("role = \"{role}\"\n")),
    };
    Ok(format!(
        "\n[[entrant]]\nname = \"{name}\"\nbot = \"bots/starter\"\n{line}contributor = \"agon new\"\n"
    ))
}
