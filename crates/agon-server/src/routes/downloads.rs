//! What can be taken home: tables, games, history, records. Everything is sent as it is read.

use std::sync::Arc;

use agon_core::record::read;
use agon_store::{Ledger, MatchFilter};
use agon_venue::Sitting;
use agon_venue::competing::export;
use agon_venue::sheets::{self, Format};
use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use serde::{Deserialize, Serialize};
use tokio::sync::{Semaphore, mpsc};
use tokio_stream::wrappers::ReceiverStream;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::matches::attachment;
use crate::read_model::VisibleCompetition;
use crate::read_model::overview::Overview;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::Path;
use crate::state::AppState;

/// Bytes are gathered to about so many before they are sent.
const PIECE: usize = 64 << 10;
/// So many pieces wait for a slow reader.
const WAITING: usize = 4;

/// So many are sent at once.
static ROOM: Semaphore = Semaphore::const_new(16);

/// Its routes.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(download))
}

/// A file to take home.
#[derive(Debug, Serialize, ToSchema)]
pub struct Download {
    /// Its name.
    pub name: String,
    /// What it is.
    pub about: String,
    /// Where it is, from the root.
    pub path: String,
}

/// What there is to take home.
pub fn list(seen: &VisibleCompetition, overview: &Overview) -> Vec<Download> {
    let mut all = Vec::new();
    let mut add = |name: String, about: String| {
        let path = format!("/api/v1/competitions/{}/downloads/{name}", seen.arena.id);
        all.push(Download { name, about, path });
    };
    let played: Vec<_> = overview.phases.iter().filter(|phase| phase.matches > 0).collect();
    for phase in &played {
        for (ending, for_what) in
            [("csv", "for spreadsheets"), ("json", "for programs"), ("md", "for a forum or a README")]
        {
            add(
                format!("table-{}.{ending}", phase.number),
                format!("the table of {}, {for_what}", phase.name),
            );
        }
    }
    if !played.is_empty() {
        add("games.csv".to_owned(), "a line for each seat of each game".to_owned());
    }
    if told(seen.arena.game) && phases_told(overview).next().is_some() {
        let about = "the history of all published phases, as bots may learn from it";
        add("history.json".to_owned(), about.to_owned());
    }
    if overview.seed.is_some() && !played.is_empty() {
        add("records.agon".to_owned(), "the records of all games, for agon replay".to_owned());
    }
    all
}

/// Whether the game's own document has a history that bots learn from.
fn told(game: &str) -> bool {
    game == "solitude-scramble"
}

/// The phases whose history may be told, from 0.
fn phases_told(overview: &Overview) -> impl Iterator<Item = u32> + '_ {
    let open = |phase: &&crate::read_model::overview::PhaseItem| {
        matches!(phase.state, "published" | "closed") && !phase.hidden && phase.matches > 0
    };
    overview.phases.iter().filter(open).map(|phase| phase.number - 1)
}

/// Which file.
#[derive(Debug, Deserialize)]
struct OfFile {
    file: String,
}

/// A file to take home: `table-N.csv`, `table-N.json`, `table-N.md`, `games.csv`, `history.json`, `records.agon`.
#[utoipa::path(
    get, path = "/competitions/{id}/downloads/{file}", tag = "competitions", operation_id = "download",
    params(("id" = String, Path, description = "The competition."), ("file" = String, Path, description = "As the competition lists it.")),
    responses(
        (status = 200, description = "The file.", content(
            (Vec<u8> = "application/octet-stream"), (String = "text/csv"), (String = "text/markdown"), (Object = "application/json"),
        )),
        (status = 403, description = "Seeds are still a secret (code `secret`).", body = ErrorBody),
        (status = 409, description = "The competition was not started yet.", body = ErrorBody),
    ),
)]
async fn download(
    State(app): State<AppState>,
    seen: VisibleCompetition,
    Path(OfFile { file }): Path<OfFile>,
) -> ApiResult<Response> {
    let (sitting, ledger) = seen.arena.started()?;
    let overview = seen.overview(&app).await?;
    let named = |name: &str| format!("{}-{name}", seen.arena.id);
    if let Some((number, format, kind)) = table_file(&file) {
        let figures = seen.figures(&app, number).await?;
        let text = sheets::render(&figures.standings, format, true, None);
        return Ok((attachment(&named(&file), kind), text).into_response());
    }
    let secret = || {
        let words =
            "records have their games' seeds in them, which are a secret until the competition is over";
        ApiError::new(StatusCode::FORBIDDEN, "secret", words)
    };
    let (what, kind) = match file.as_str() {
        "games.csv" => (What::Games { revealed: overview.seed.is_some() }, "text/csv; charset=utf-8"),
        "history.json" if told(seen.arena.game) => (What::History, "application/json"),
        "records.agon" if overview.seed.is_none() => return Err(secret()),
        "records.agon" => (What::Records, "application/octet-stream"),
        _ => return Err(ApiError::not_found("file")),
    };
    let phases: Vec<u32> = match what {
        What::History => phases_told(&overview).collect(),
        _ => overview.phases.iter().filter(|phase| phase.matches > 0).map(|phase| phase.number - 1).collect(),
    };
    let room = ROOM.try_acquire().map_err(|_| ApiError::busy("too many take files home just now", 10))?;
    let (sender, receiver) = mpsc::channel(WAITING);
    let out = Out { sender, gathered: BytesMut::new() };
    let stopped = app.clone();
    tokio::spawn(async move {
        let _room = room;
        tokio::select! {
            () = send(what, &sitting, &*ledger, &phases, out) => {}
            () = stopped.stopped() => {}
        }
    });
    let body = Body::from_stream(ReceiverStream::new(receiver));
    Ok((attachment(&named(&file), kind), body).into_response())
}

/// `table-2.csv`.
fn table_file(name: &str) -> Option<(u32, Format, &'static str)> {
    let (number, ending) = name.strip_prefix("table-")?.split_once('.')?;
    let (format, kind) = match ending {
        "csv" => (Format::Csv, "text/csv; charset=utf-8"),
        "json" => (Format::Json, "application/json"),
        "md" => (Format::Md, "text/markdown; charset=utf-8"),
        _ => return None,
    };
    Some((number.parse().ok()?, format, kind))
}

#[derive(Clone, Copy)]
enum What {
    Games { revealed: bool },
    History,
    Records,
}

/// Why nothing more is sent.
enum Halt {
    /// The reader has gone.
    Gone,
    /// The answer breaks off: whoever reads it must not take it for whole.
    Broke(String),
}

impl<E: std::fmt::Display> From<E> for Halt {
    fn from(error: E) -> Self {
        Self::Broke(error.to_string())
    }
}

struct Out {
    sender: mpsc::Sender<Result<Bytes, std::io::Error>>,
    gathered: BytesMut,
}

impl Out {
    async fn put(&mut self, bytes: &[u8]) -> Result<(), Halt> {
        self.gathered.extend_from_slice(bytes);
        if self.gathered.len() < PIECE { Ok(()) } else { self.flush().await }
    }

    async fn flush(&mut self) -> Result<(), Halt> {
        let piece = self.gathered.split().freeze();
        self.sender.send(Ok(piece)).await.map_err(|_| Halt::Gone)
    }
}

async fn send(what: What, sitting: &Arc<Sitting>, ledger: &dyn Ledger, phases: &[u32], mut out: Out) {
    let sent = match what {
        What::Games { revealed } => games(sitting, ledger, phases, revealed, &mut out).await,
        What::History => history(sitting, ledger, phases, &mut out).await,
        What::Records => records(ledger, phases, &mut out).await,
    };
    let sent = match sent {
        Ok(()) => out.flush().await,
        halt => halt,
    };
    if let Err(Halt::Broke(words)) = sent {
        let error = ApiError::broke(words);
        let _ = out.sender.send(Err(std::io::Error::other(error.message().to_owned()))).await;
    }
}

async fn games(
    sitting: &Sitting,
    ledger: &dyn Ledger,
    phases: &[u32],
    revealed: bool,
    out: &mut Out,
) -> Result<(), Halt> {
    out.put(export::game_titles(sitting).as_bytes()).await?;
    for phase in phases {
        let mut rows = ledger.matches(*phase, MatchFilter::default());
        while let Some(one) = rows.next().await {
            out.put(export::game_lines(sitting, &one?.result, revealed).as_bytes()).await?;
        }
    }
    Ok(())
}

async fn history(
    sitting: &Arc<Sitting>,
    ledger: &dyn Ledger,
    phases: &[u32],
    out: &mut Out,
) -> Result<(), Halt> {
    out.put(b"{\"matches\": {").await?;
    let mut count = 0_u64;
    for phase in phases {
        let mut rows = ledger.records(*phase, MatchFilter::default());
        while let Some(one) = rows.next().await {
            let (one, sitting) = (one?, Arc::clone(sitting));
            // The rules are asked, which takes its time.
            let told = tokio::task::spawn_blocking(move || {
                let (record, _) = read(&one.bytes, 1).map_err(|error| error.to_string())?;
                sitting.table.published(record, &sitting.assets).map_err(|error| error.to_string())
            });
            if let Some(told) = told.await?? {
                count += 1;
                let comma = if count > 1 { "," } else { "" };
                out.put(format!("{comma}\n\"match_{count}\": {told}").as_bytes()).await?;
            }
        }
    }
    out.put(b"\n}}\n").await
}

async fn records(ledger: &dyn Ledger, phases: &[u32], out: &mut Out) -> Result<(), Halt> {
    for phase in phases {
        let mut rows = ledger.records(*phase, MatchFilter::default());
        while let Some(one) = rows.next().await {
            out.put(&one?.bytes).await?;
        }
    }
    Ok(())
}
