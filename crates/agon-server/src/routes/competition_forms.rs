//! Organiser API: a competition file behind a form. The client sends the text and changes of single values, and gets the new text, all
//! values and all errors. Nothing is stored: the client saves the text as a file.

use agon_league::config::form::{self, ChangeError, FileChange, MAX_CHANGES};
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::caller::Caller;
use crate::error::{ApiError, ApiResult, ConfigErrorBody, ErrorBody};
use crate::extract::Json;
use crate::runs::competition_file;
use crate::state::AppState;

/// Maximum size of a file with its changes; the same as for a file that is saved.
const MAX_TEXT_BYTES: usize = 48 * 1024;

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(change_file))
}

/// A competition file, and changes of it.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FileChanges {
    /// The game's id.
    game: String,
    /// Id of the competition, if it exists: its text can name files that were uploaded to it.
    competition: Option<String>,
    /// The text.
    file: String,
    /// Changes in the order in which they are applied.
    #[serde(default)]
    #[schema(max_items = 200)]
    changes: Vec<FileChangeBody>,
}

/// A change of a value. A path is the keys and indices on the way to it, with dots between them, such as `settings.seconds` or
/// `phase.0.format`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FileChangeBody {
    /// What to do.
    change: FileChangeKind,
    /// Path of the value or table.
    #[schema(max_length = 200)]
    path: String,
    /// The new value, for `set`; the values of the new table, for `insert`.
    #[serde(default)]
    value: Value,
    /// The new index, for `move`.
    to: Option<u32>,
}

/// Kind of a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileChangeKind {
    /// Sets a value.
    Set,
    /// Removes a value or a table.
    Remove,
    /// Inserts a table into a list, such as a phase.
    Insert,
    /// Moves a table within its list.
    Move,
}

impl FileChangeBody {
    fn into_change(self) -> ApiResult<FileChange> {
        let Self { change, path, value, to } = self;
        if path.len() > 200 {
            return Err(ApiError::invalid("changes", "changes: a path has at most 200 bytes"));
        }
        Ok(match change {
            FileChangeKind::Set => FileChange::Set { path, value },
            FileChangeKind::Remove => FileChange::Remove { path },
            FileChangeKind::Insert => FileChange::Insert { path, value },
            FileChangeKind::Move => {
                let to = to.ok_or_else(|| ApiError::invalid("changes", "changes: `move` needs `to`"))?;
                FileChange::Move { path, to: to as usize }
            }
        })
    }
}

/// A competition file after the changes.
#[derive(Debug, Serialize, ToSchema)]
pub struct ChangedFile {
    /// The new text. Comments, order and unknown keys are those of the old one.
    pub file: String,
    /// All values by their keys; null if the text is not TOML.
    #[schema(value_type = Option<Object>)]
    pub values: Option<Value>,
    /// All errors, in the order of the file.
    pub errors: Vec<FileError>,
}

/// An error in a competition file, at a value.
#[derive(Debug, Serialize, ToSchema)]
pub struct FileError {
    /// Path of the value or table; null for the whole file.
    pub path: Option<String>,
    /// Line, from 1.
    pub line: Option<u32>,
    /// Column, from 1.
    pub column: Option<u32>,
    /// What is wrong.
    pub what: String,
    /// What to do about it; may be empty.
    pub hint: String,
}

/// Changes values of a competition file and checks it. Stores nothing.
#[utoipa::path(
    post, path = "/competition-files/change", tag = "desk", operation_id = "change_file", request_body = FileChanges,
    responses(
        (status = 200, description = "The new text, its values and its errors.", body = ChangedFile),
        (status = 422, description = "A change is not possible; the message says which.", body = ErrorBody),
    ),
)]
async fn change_file(
    State(app): State<AppState>,
    caller: Caller,
    Json(body): Json<FileChanges>,
) -> ApiResult<Json<ChangedFile>> {
    caller.organiser()?;
    agon_engine::any_game(&body.game)
        .map_err(|_| ApiError::invalid("game", "there is no such game").hint("see GET /api/v1/games"))?;
    if body.file.len() > MAX_TEXT_BYTES {
        return Err(ApiError::invalid("file", format!("the file is longer than {MAX_TEXT_BYTES} bytes")));
    }
    if body.changes.len() > MAX_CHANGES {
        return Err(ApiError::invalid("changes", format!("changes: at most {MAX_CHANGES}")));
    }
    let folder = match &body.competition {
        Some(id) => Some(competition_file::folder(&app.config, &app.competitions.get(id)?.id)),
        None => None,
    };
    let changes = body.changes.into_iter().map(FileChangeBody::into_change).collect::<ApiResult<Vec<_>>>()?;
    let (text, game) = (body.file, body.game);
    let work = move || -> ApiResult<ChangedFile> {
        let file =
            if changes.is_empty() { text } else { form::apply(&text, &changes).map_err(|e| refused(&e))? };
        let errors = match competition_file::parse(&file, &game, None, folder.as_deref()) {
            Ok(_) => Vec::new(),
            Err(error) => file_errors(&file, &error),
        };
        Ok(ChangedFile { values: form::values(&file), file, errors })
    };
    Ok(Json(tokio::task::spawn_blocking(work).await.map_err(ApiError::internal)??))
}

fn refused(error: &ChangeError) -> ApiError {
    ApiError::invalid("changes", error.to_string()).hint("change it in the text of the file")
}

/// The errors of a file at their values.
fn file_errors(text: &str, error: &ApiError) -> Vec<FileError> {
    let list = error.errors_of_file();
    if list.is_empty() {
        let what = error.message().to_owned();
        return vec![FileError { path: None, line: None, column: None, what, hint: String::new() }];
    }
    let place = |one: &ConfigErrorBody| {
        let (line, column) = (one.line?, one.column.unwrap_or(1));
        form::path_at(text, line as usize, column as usize)
    };
    let one = |one: &ConfigErrorBody| FileError {
        path: place(one),
        line: one.line,
        column: one.column,
        what: one.what.clone(),
        hint: one.hint.clone(),
    };
    list.iter().map(one).collect()
}
