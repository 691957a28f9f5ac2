//! Downloads: tables, games, history, records. All are streamed while they are read.

use std::sync::Arc;

use agon_competition::LoadedCompetition;
use agon_core::record::read;
use agon_report::export;
use agon_report::table_formats::{self, TableFormat};
use agon_runner::shown_entrants::shown_entrants;
use agon_store::{Ledger, LedgerAsOf, MatchFilter, Timestamp};
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

use super::matches::attachment_headers;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::Path;
use crate::read_model::VisibleCompetition;
use crate::read_model::overview::Overview;
use crate::state::AppState;

/// Size of the chunks that are sent, in bytes.
const CHUNK_BYTES: usize = 64 << 10;
/// Number of chunks buffered for a slow reader.
const QUEUE_CAPACITY: usize = 4;

/// Limits the number of parallel downloads.
static DOWNLOAD_PERMITS: Semaphore = Semaphore::const_new(16);

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(download))
}

/// A file to download.
#[derive(Debug, Serialize, ToSchema)]
pub struct Download {
    /// The file's name.
    pub name: String,
    /// Description of the file.
    pub about: String,
    /// Path of the URL.
    pub path: String,
}

/// All files that can be downloaded now.
pub fn list(visible: &VisibleCompetition, overview: &Overview) -> Vec<Download> {
    let mut all = Vec::new();
    let mut add = |name: String, about: String| {
        let path = format!("/api/v1/competitions/{}/downloads/{name}", visible.handle.id);
        all.push(Download { name, about, path });
    };
    let played: Vec<_> = overview.phases.iter().filter(|phase| phase.matches > 0).collect();
    for phase in &played {
        for (extension, for_what) in
            [("csv", "for spreadsheets"), ("json", "for programs"), ("md", "for a forum or a README")]
        {
            add(
                format!("table-{}.{extension}", phase.number),
                format!("the table of {}, {for_what}", phase.name),
            );
        }
    }
    if !played.is_empty() {
        add("games.csv".to_owned(), "a line for each seat of each game".to_owned());
    }
    if publishes_history(visible.handle.game) && published_phases(overview).next().is_some() {
        let about = "the history of all published phases, for training bots";
        add("history.json".to_owned(), about.to_owned());
    }
    if overview.seed.is_some() && !played.is_empty() {
        add("records.agon".to_owned(), "the records of all games, for agon replay".to_owned());
    }
    all
}

/// Whether the game's rules publish a history from which bots can learn.
fn publishes_history(game: &str) -> bool {
    agon_games::game_info(game).is_ok_and(|info| info.competition.publishes_history)
}

/// Phases (from 0) whose history may be published.
fn published_phases(overview: &Overview) -> impl Iterator<Item = u32> + '_ {
    let open = |phase: &&crate::read_model::overview::PhaseItem| {
        matches!(phase.state, "published" | "closed") && !phase.hidden && phase.matches > 0
    };
    overview.phases.iter().filter(open).map(|phase| phase.number - 1)
}

/// Path parameter of a download.
#[derive(Debug, Deserialize)]
struct DownloadPath {
    file: String,
}

/// Downloads a file: `table-N.csv`, `table-N.json`, `table-N.md`, `games.csv`, `history.json`, `records.agon`.
#[utoipa::path(
    get, path = "/competitions/{id}/downloads/{file}", tag = "competitions", operation_id = "download",
    params(("id" = String, Path, description = "The competition."), ("file" = String, Path, description = "Name from the competition's `downloads`.")),
    responses(
        (status = 200, description = "The file.", content(
            (Vec<u8> = "application/octet-stream"), (String = "text/csv"), (String = "text/markdown"), (Object = "application/json"),
        )),
        (status = 403, description = "The seeds are still secret (code `secret`).", body = ErrorBody),
        (status = 409, description = "The competition has not started yet.", body = ErrorBody),
    ),
)]
async fn download(
    State(app): State<AppState>,
    visible: VisibleCompetition,
    Path(DownloadPath { file }): Path<DownloadPath>,
) -> ApiResult<Response> {
    let (loaded, mut ledger) = visible.handle.started()?;
    if visible.handle.planned_freeze().is_some() {
        // A slow download must not show results that are stored after the freeze has begun.
        ledger = Arc::new(LedgerAsOf::new(ledger, Timestamp::now()));
    }
    let overview = visible.overview(&app).await?;
    let named = |name: &str| format!("{}-{name}", visible.handle.id);
    if let Some((number, format, content_type)) = table_file(&file) {
        let standings = visible.standings(&app, number).await?;
        let text = table_formats::render(&standings.standings, format, true, None);
        return Ok((attachment_headers(&named(&file), content_type), text).into_response());
    }
    let secret = || {
        let message =
            "records contain the seeds of their games, which are secret until the competition is finished";
        ApiError::new(StatusCode::FORBIDDEN, "secret", message)
    };
    let (kind, content_type) = match file.as_str() {
        "games.csv" => (DownloadKind::Games { revealed: overview.seed.is_some() }, "text/csv; charset=utf-8"),
        "history.json" if publishes_history(visible.handle.game) => {
            (DownloadKind::History, "application/json")
        }
        "records.agon" if overview.seed.is_none() => return Err(secret()),
        "records.agon" => (DownloadKind::Records, "application/octet-stream"),
        _ => return Err(ApiError::not_found("file")),
    };
    let phases: Vec<u32> = match kind {
        DownloadKind::History => published_phases(&overview).collect(),
        _ => overview.phases.iter().filter(|phase| phase.matches > 0).map(|phase| phase.number - 1).collect(),
    };
    let permit =
        DOWNLOAD_PERMITS.try_acquire().map_err(|_| ApiError::busy("too many downloads at the moment", 10))?;
    let (sender, receiver) = mpsc::channel(QUEUE_CAPACITY);
    let writer = ChunkWriter { sender, buffer: BytesMut::new() };
    let stopped = app.clone();
    tokio::spawn(async move {
        let _permit = permit;
        tokio::select! {
            () = send_file(kind, &loaded, &*ledger, &phases, writer) => {}
            () = stopped.wait_for_stop() => {}
        }
    });
    let body = Body::from_stream(ReceiverStream::new(receiver));
    Ok((attachment_headers(&named(&file), content_type), body).into_response())
}

/// Parses names such as `table-2.csv`.
fn table_file(name: &str) -> Option<(u32, TableFormat, &'static str)> {
    let (number, extension) = name.strip_prefix("table-")?.split_once('.')?;
    let (format, content_type) = match extension {
        "csv" => (TableFormat::Csv, "text/csv; charset=utf-8"),
        "json" => (TableFormat::Json, "application/json"),
        "md" => (TableFormat::Md, "text/markdown; charset=utf-8"),
        _ => return None,
    };
    Some((number.parse().ok()?, format, content_type))
}

#[derive(Clone, Copy)]
enum DownloadKind {
    Games { revealed: bool },
    History,
    Records,
}

/// Why a download ends early.
enum SendError {
    /// The client closed the connection.
    ReaderGone,
    /// Reading failed. The response is aborted, so that the client does not take it for complete.
    Failed(String),
}

impl<E: std::fmt::Display> From<E> for SendError {
    fn from(error: E) -> Self {
        Self::Failed(error.to_string())
    }
}

struct ChunkWriter {
    sender: mpsc::Sender<Result<Bytes, std::io::Error>>,
    buffer: BytesMut,
}

impl ChunkWriter {
    async fn write(&mut self, bytes: &[u8]) -> Result<(), SendError> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() < CHUNK_BYTES { Ok(()) } else { self.flush().await }
    }

    async fn flush(&mut self) -> Result<(), SendError> {
        let piece = self.buffer.split().freeze();
        self.sender.send(Ok(piece)).await.map_err(|_| SendError::ReaderGone)
    }
}

async fn send_file(
    kind: DownloadKind,
    loaded: &Arc<LoadedCompetition>,
    ledger: &dyn Ledger,
    phases: &[u32],
    mut writer: ChunkWriter,
) {
    let sent = match kind {
        DownloadKind::Games { revealed } => games(loaded, ledger, phases, revealed, &mut writer).await,
        DownloadKind::History => history(loaded, ledger, phases, &mut writer).await,
        DownloadKind::Records => records(ledger, phases, &mut writer).await,
    };
    let sent = match sent {
        Ok(()) => writer.flush().await,
        halt => halt,
    };
    if let Err(SendError::Failed(message)) = sent {
        let error = ApiError::internal(message);
        let _ = writer.sender.send(Err(std::io::Error::other(error.message().to_owned()))).await;
    }
}

async fn games(
    loaded: &LoadedCompetition,
    ledger: &dyn Ledger,
    phases: &[u32],
    revealed: bool,
    writer: &mut ChunkWriter,
) -> Result<(), SendError> {
    writer.write(export::game_titles(loaded).as_bytes()).await?;
    for phase in phases {
        let entrants = shown_entrants(ledger, &loaded.competition, *phase).await;
        let entrants = entrants.map_err(|error| SendError::Failed(error.to_string()))?;
        let mut rows = ledger.matches(*phase, MatchFilter::default());
        while let Some(one) = rows.next().await {
            writer.write(export::game_lines(loaded, &entrants, &one?.result, revealed).as_bytes()).await?;
        }
    }
    Ok(())
}

async fn history(
    loaded: &Arc<LoadedCompetition>,
    ledger: &dyn Ledger,
    phases: &[u32],
    writer: &mut ChunkWriter,
) -> Result<(), SendError> {
    writer.write(b"{\"matches\": {").await?;
    let mut count = 0_u64;
    for phase in phases {
        let mut rows = ledger.records(*phase, MatchFilter::default());
        while let Some(one) = rows.next().await {
            let (one, loaded) = (one?, Arc::clone(loaded));
            // Runs the rules of the game, which is slow.
            let history = tokio::task::spawn_blocking(move || {
                let (record, _) = read(&one.bytes, 1).map_err(|error| error.to_string())?;
                loaded.table.published_json(record, &loaded.assets).map_err(|error| error.to_string())
            });
            if let Some(history) = history.await?? {
                count += 1;
                let comma = if count > 1 { "," } else { "" };
                writer.write(format!("{comma}\n\"match_{count}\": {history}").as_bytes()).await?;
            }
        }
    }
    writer.write(b"\n}}\n").await
}

async fn records(ledger: &dyn Ledger, phases: &[u32], writer: &mut ChunkWriter) -> Result<(), SendError> {
    for phase in phases {
        let mut rows = ledger.records(*phase, MatchFilter::default());
        while let Some(one) = rows.next().await {
            writer.write(&one?.bytes).await?;
        }
    }
    Ok(())
}
