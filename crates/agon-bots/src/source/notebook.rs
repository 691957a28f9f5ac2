//! Notebooks: a common mistake, because they contain Python but are no Python files.

use std::path::Path;

use agon_core::text_format::shell_quote_path;

use super::BotRejection;

/// Whether the path names a notebook.
pub fn is_notebook(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("ipynb"))
}

/// The rejection of a notebook. It says how to get a Python file.
pub fn rejection(path: &Path) -> BotRejection {
    let file = shell_quote_path(&path.display().to_string());
    BotRejection::new(
        "a notebook is not a Python file",
        format!(
            "save its code as a .py file (jupyter nbconvert --to script {file}), without cells that only try things out"
        ),
    )
}
