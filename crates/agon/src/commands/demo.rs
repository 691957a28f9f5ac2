//! `agon demo`: plays five small competitions with its own server, and serves their pages.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agon_bots::error::Diagnostic;
use agon_bots::starter;
use agon_competition::LoadedCompetition;
use agon_core::ErrorKind;
use agon_files::AtomicFile;
use agon_host::ScratchDir;
use agon_report::table_formats;
use agon_runner::phase_results;
use agon_server::{AppState, Config, Server};
use agon_site_db::{CompetitionFilter, CompetitionState, PageRequest};
use serde_json::json;

use super::serve;
use crate::args::Demo;
use crate::{output, setup};

/// Plays the competitions, and shows them until CTRL-C.
pub fn run(args: &Demo) -> Result<(), Diagnostic> {
    let private;
    let data = if let Some(data) = &args.data {
        data.clone()
    } else {
        private = ScratchDir::new("agon-demo")?;
        private.path().to_owned()
    };
    let mut config = Config::new(data.join("server"));
    config.files = write_files(&data.join("cups"), args)?;
    config.listen = args.listen;
    if args.no_serve {
        // A random port, because no client should connect while only tables are printed.
        config.listen.set_port(0);
    }
    "Agon demo".clone_into(&mut config.name);
    config.jobs = setup::jobs(args.jobs)?;
    let runtime = serve::runtime()?;
    runtime.block_on(play_and_show(args, config))
}

async fn play_and_show(args: &Demo, config: Config) -> Result<(), Diagnostic> {
    let files = config.files.clone();
    let server = Server::bind(config).await.map_err(serve::start_failure)?;
    let (app, url) = (server.app().clone(), server.url());
    let invitation = server.invitation().map(str::to_owned);
    for one in competitions(&app).await? {
        if one.state == CompetitionState::Closed {
            app.site_db
                .set_state(&one.id, &[CompetitionState::Closed], CompetitionState::Running, None)
                .await
                .map_err(internal)?;
        }
    }
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = tokio::spawn(server.run(async {
        let _ = stopped.await;
    }));
    output::note("playing five small competitions, about a minute in total ...");
    let played = tokio::select! {
        played = wait_until_finished(&app) => played,
        () = agon_server::wait_for_stop_signal() => Err(Diagnostic::already_shown()),
    };
    let result = match played {
        Ok(()) => tables(&files, args).await,
        Err(failure) => Err(failure),
    };
    if result.is_ok() && !args.no_serve {
        output::note(&format!("\nTables and replays: {url}"));
        if let Some(link) = invitation {
            output::note(&format!("To see the organiser dashboard, sign up as the organiser: {link}"));
        }
        output::note("Press CTRL-C to stop.");
        agon_server::wait_for_stop_signal().await;
    }
    let _ = stop.send(());
    serving.await.map_err(Diagnostic::internal)?.map_err(serve::start_failure)?;
    result
}

/// An error of the demo's own site database.
fn internal(error: impl Into<Diagnostic>) -> Diagnostic {
    error.into().of_kind(ErrorKind::Internal)
}

async fn competitions(app: &AppState) -> Result<Vec<agon_site_db::HostedCompetition>, Diagnostic> {
    let page = PageRequest { after: None, limit: 100 };
    Ok(app.site_db.competitions(CompetitionFilter::All, page).await.map_err(internal)?.items)
}

/// Waits until all competitions are finished, and prints a line for each that finishes.
async fn wait_until_finished(app: &AppState) -> Result<(), Diagnostic> {
    let (begun, mut reported) = (Instant::now(), Vec::new());
    loop {
        let all = competitions(app).await?;
        for one in &all {
            match one.state {
                CompetitionState::Failed => {
                    let words = one.message.as_deref().unwrap_or("no message");
                    return Err(Diagnostic::internal(format!("{}: {words}", one.name)));
                }
                CompetitionState::Finished if !reported.contains(&one.id) => {
                    reported.push(one.id.clone());
                    output::note(&format!(
                        "{}: finished after {:.0} s",
                        one.name,
                        begun.elapsed().as_secs_f64()
                    ));
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

/// Prints the final table of each competition.
async fn tables(files: &[PathBuf], args: &Demo) -> Result<(), Diagnostic> {
    let mut list = Vec::new();
    for file in files {
        let loaded = LoadedCompetition::read(file)?;
        let ledger = loaded.ledger_to_read().await?;
        let last = loaded.competition.phases.len() as u32 - 1;
        let info = loaded.table.info();
        let standings = phase_results::phase_standings(&ledger, &loaded.competition, info, last).await?;
        if args.json {
            list.push(standings.json());
        } else {
            let text = table_formats::render(
                &standings,
                table_formats::TableFormat::Text,
                true,
                output::table_width(),
            );
            output::print(&format!("\n{text}"))?;
        }
    }
    if args.json {
        output::print_json("demo", json!({ "tables": list }))?;
    }
    Ok(())
}

/// Writes the competition files, each with the house bots and, if Python is installed, with the bot that `agon new` writes.
fn write_files(folder: &Path, args: &Demo) -> Result<Vec<PathBuf>, Diagnostic> {
    let python = !args.house && agon_host::python::is_there();
    let seed = setup::seed(Some(&args.seed))?;
    let mut files = Vec::new();
    // The site lists the newest competition first.
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
            text += &starter_entrant(game, role, path.parent().unwrap_or(folder))?;
        }
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        // A later run keeps the file, so it must be complete.
        AtomicFile::options()
            .write(&path, text.as_bytes())
            .map_err(|e| Diagnostic::io("write", &path, &e, "check disk space and write permission"))?;
    }
    Ok(files)
}

/// Writes a starter bot, and returns its entry in the competition file.
fn starter_entrant(game: &str, role: &str, folder: &Path) -> Result<String, Diagnostic> {
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
