//! A competition file behind a form: its values as JSON, changes of single values, and the value at a position of the text. The text stays
//! the source of truth: comments, order and unknown keys survive every change.
//!
//! A path names a value: keys and indices with dots between them, such as `settings.seconds` or `phase.0.format`.

use serde::Deserialize;
use serde_json::{Map, Value as Json};
use thiserror::Error;
use toml::de::{DeTable, DeValue};
use toml_edit::{Array, ArrayOfTables, Datetime, DocumentMut, InlineTable, Item, Table, TableLike, Value};

/// Maximum number of changes at once.
pub const MAX_CHANGES: usize = 200;
/// Maximum number of tables of one kind, such as phases.
const MAX_TABLES: usize = 100;
/// Keys whose texts are written as dates, without quotes.
const DATE_KEYS: [&str; 2] = ["deadline", "freeze"];

/// A change of a file.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(tag = "change", rename_all = "lowercase", deny_unknown_fields)]
pub enum FileChange {
    /// Sets a value. Tables on the way to it are created.
    Set {
        /// Path of the value.
        path: String,
        /// The new value.
        value: Json,
    },
    /// Removes a value or a table, if it is there.
    Remove {
        /// Path of the value.
        path: String,
    },
    /// Inserts a table into a list of tables.
    Insert {
        /// Path of the new table: the list, and the index that the table gets.
        path: String,
        /// Its values.
        value: Json,
    },
    /// Moves a table within its list.
    Move {
        /// Path of the table.
        path: String,
        /// Its new index.
        to: usize,
    },
}

/// Why a change is not possible.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ChangeError {
    /// The text is not TOML.
    #[error("the file is not TOML, so single values cannot be changed")]
    NotToml,
    /// The path names nothing that can be changed.
    #[error("`{0}` cannot be changed: the file writes it in another way")]
    Path(String),
    /// The value cannot be written.
    #[error("`{0}` cannot have this value")]
    Value(String),
    /// There would be too many tables.
    #[error("there can be at most {MAX_TABLES} tables in `{0}`")]
    TooMany(String),
}

/// Applies changes to a text, one after the other. Nothing changes if one of them is not possible.
pub fn apply(text: &str, changes: &[FileChange]) -> Result<String, ChangeError> {
    let mut document: DocumentMut = text.parse().map_err(|_| ChangeError::NotToml)?;
    for change in changes {
        apply_one(document.as_table_mut(), change)?;
    }
    Ok(document.to_string())
}

/// All values of a text as JSON, also those that no form knows. Dates are texts. `None` if the text is not TOML.
pub fn values(text: &str) -> Option<Json> {
    let table = DeTable::parse(text).ok()?;
    Some(table_to_json(table.get_ref()))
}

fn apply_one(root: &mut Table, change: &FileChange) -> Result<(), ChangeError> {
    match change {
        FileChange::Set { path, value } => set(root, path, value),
        FileChange::Remove { path } => remove(root, path),
        FileChange::Insert { path, value } => insert(root, path, value),
        FileChange::Move { path, to } => {
            let (list, index) = split_index(path)?;
            let tables = tables_of(root, list, false)?;
            if index >= tables.len() || *to >= tables.len() {
                return Err(ChangeError::Path(path.clone()));
            }
            let table = tables.remove(index);
            tables.insert(*to, table);
            keep_together(tables);
            Ok(())
        }
    }
}

fn set(root: &mut Table, path: &str, value: &Json) -> Result<(), ChangeError> {
    let wrong = || ChangeError::Path(path.to_owned());
    let (parents, key) = path.rsplit_once('.').map_or(("", path), |(parents, key)| (parents, key));
    if key.is_empty() || key.parse::<usize>().is_ok() {
        return Err(wrong());
    }
    let new = to_value(key, value).ok_or_else(|| ChangeError::Value(path.to_owned()))?;
    let parent = parent_of(root, parents, true).ok_or_else(wrong)?;
    match parent.get_mut(key) {
        Some(Item::Value(old)) => {
            let mut new = new;
            // Keeps the comments before and after the value.
            *new.decor_mut() = old.decor().clone();
            *old = new;
        }
        Some(Item::Table(_) | Item::ArrayOfTables(_)) => return Err(wrong()),
        _ => drop(parent.insert(key, Item::Value(new))),
    }
    Ok(())
}

fn remove(root: &mut Table, path: &str) -> Result<(), ChangeError> {
    if let Ok((list, index)) = split_index(path) {
        let tables = tables_of(root, list, false)?;
        if index < tables.len() {
            tables.remove(index);
        }
        if tables.is_empty() {
            root.remove(list);
        }
        return Ok(());
    }
    let (parents, key) = path.rsplit_once('.').map_or(("", path), |(parents, key)| (parents, key));
    if let Some(parent) = parent_of(root, parents, false) {
        parent.remove(key);
    }
    Ok(())
}

fn insert(root: &mut Table, path: &str, value: &Json) -> Result<(), ChangeError> {
    let (list, index) = split_index(path)?;
    let Json::Object(fields) = value else { return Err(ChangeError::Value(path.to_owned())) };
    let mut table = Table::new();
    for (key, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
        let value = to_value(key, value).ok_or_else(|| ChangeError::Value(format!("{path}.{key}")))?;
        table.insert(key, Item::Value(value));
    }
    table.decor_mut().set_prefix("\n");
    let tables = tables_of(root, list, true)?;
    if index > tables.len() {
        return Err(ChangeError::Path(path.to_owned()));
    }
    if tables.len() >= MAX_TABLES {
        return Err(ChangeError::TooMany(list.to_owned()));
    }
    let is_first = tables.is_empty();
    tables.insert(index, table);
    if !is_first {
        keep_together(tables);
    }
    Ok(())
}

/// The list and the index of a path such as `phase.0`. Lists of tables are at the top of a file.
fn split_index(path: &str) -> Result<(&str, usize), ChangeError> {
    let wrong = || ChangeError::Path(path.to_owned());
    let (list, index) = path.split_once('.').ok_or_else(wrong)?;
    Ok((list, index.parse().map_err(|_| wrong())?))
}

fn tables_of<'t>(
    root: &'t mut Table,
    list: &str,
    create: bool,
) -> Result<&'t mut ArrayOfTables, ChangeError> {
    let wrong = || ChangeError::Path(list.to_owned());
    if list.is_empty() {
        return Err(wrong());
    }
    if create && !root.contains_key(list) {
        root.insert(list, Item::ArrayOfTables(ArrayOfTables::new()));
    }
    root.get_mut(list).and_then(Item::as_array_of_tables_mut).ok_or_else(wrong)
}

/// The table that a path of keys and indices names. The empty path is the whole file.
fn parent_of<'t>(root: &'t mut Table, path: &str, create: bool) -> Option<&'t mut dyn TableLike> {
    let mut at: &mut dyn TableLike = root;
    let mut parts = path.split('.').filter(|part| !part.is_empty()).peekable();
    let mut is_top = true;
    while let Some(part) = parts.next() {
        let index = parts.peek().and_then(|next| next.parse::<usize>().ok());
        if index.is_some() {
            parts.next();
        }
        if create && index.is_none() && !at.contains_key(part) {
            let new = if is_top { Item::Table(Table::new()) } else { InlineTable::new().into() };
            at.insert(part, new);
        }
        is_top = false;
        let item = at.get_mut(part)?;
        at = match index {
            None => item.as_table_like_mut()?,
            Some(index) => item.as_array_of_tables_mut()?.get_mut(index)?,
        };
    }
    Some(at)
}

/// Gives all tables of a list and the tables in them one position, so that they are written in their new order. Otherwise a table in
/// another one, such as `[phase.settings]`, would be written behind the wrong phase.
fn keep_together(tables: &mut ArrayOfTables) {
    let first = tables.iter().filter_map(Table::position).min();
    for table in tables.iter_mut() {
        set_position(table, first);
    }
}

fn set_position(table: &mut Table, position: Option<isize>) {
    table.set_position(position);
    for (_, item) in table.iter_mut() {
        match item {
            Item::Table(inner) => set_position(inner, position),
            Item::ArrayOfTables(inner) => inner.iter_mut().for_each(|one| set_position(one, position)),
            _ => {}
        }
    }
}

/// A value of a form in TOML; `None` if TOML has no such value.
fn to_value(key: &str, json: &Json) -> Option<Value> {
    Some(match json {
        Json::Null => return None,
        Json::Bool(flag) => Value::from(*flag),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => Value::from(whole),
            None => Value::from(number.as_f64()?),
        },
        Json::String(text) if DATE_KEYS.contains(&key) => {
            text.parse::<Datetime>().map_or_else(|_| Value::from(text.as_str()), Value::from)
        }
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(list) => {
            let items: Option<Array> = list.iter().map(|item| to_value("", item)).collect();
            Value::Array(items?)
        }
        Json::Object(fields) => {
            let mut table = InlineTable::new();
            for (key, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
                table.insert(key, to_value(key, value)?);
            }
            Value::InlineTable(table)
        }
    })
}

fn table_to_json(table: &DeTable<'_>) -> Json {
    let pair = |(key, value): (&toml::Spanned<_>, &toml::Spanned<DeValue<'_>>)| {
        (key_text(key), to_json(value.get_ref()))
    };
    Json::Object(table.iter().map(pair).collect::<Map<_, _>>())
}

fn key_text(key: &toml::Spanned<std::borrow::Cow<'_, str>>) -> String {
    key.get_ref().to_string()
}

fn to_json(value: &DeValue<'_>) -> Json {
    match value {
        DeValue::String(text) => Json::from(text.as_ref()),
        DeValue::Integer(number) => {
            let whole = i64::from_str_radix(number.as_str(), number.radix()).ok();
            whole.map_or_else(|| Json::from(number.to_string()), Json::from)
        }
        DeValue::Float(number) => {
            let real = number.as_str().parse::<f64>().ok().filter(|real| real.is_finite());
            real.map_or_else(|| Json::from(number.to_string()), Json::from)
        }
        DeValue::Boolean(flag) => Json::from(*flag),
        DeValue::Datetime(date) => Json::from(date.to_string()),
        DeValue::Array(list) => list.iter().map(|one| to_json(one.get_ref())).collect(),
        DeValue::Table(table) => table_to_json(table),
    }
}

/// Path of the value at a position of the text: the innermost value there, or the last table that starts before it. Line and column count
/// from 1, the column in characters. `None` at the top of the file and if the text is not TOML.
pub fn path_at(text: &str, line: usize, column: usize) -> Option<String> {
    let offset = offset_of(text, line, column)?;
    let (table, _) = DeTable::parse_recoverable(text);
    let mut places = Vec::new();
    add_places(table.get_ref(), "", &mut places);
    let is_at = |place: &&Place| place.range.contains(&offset);
    let innermost = places.iter().filter(is_at).min_by_key(|place| place.range.len());
    let header = || places.iter().filter(|place| place.is_table && place.range.start <= offset);
    innermost.or_else(|| header().max_by_key(|place| place.range.start)).map(|place| place.path.clone())
}

struct Place {
    path: String,
    range: std::ops::Range<usize>,
    is_table: bool,
}

fn add_places(table: &DeTable<'_>, above: &str, places: &mut Vec<Place>) {
    for (key, value) in table {
        let path = if above.is_empty() { key_text(key) } else { format!("{above}.{}", key_text(key)) };
        let span = value.span();
        match value.get_ref() {
            DeValue::Table(inner) => {
                let start = if span.is_empty() { key.span().start } else { span.start };
                // The header, or the braces of an inline table.
                places.push(Place { path: path.clone(), range: start..span.end.max(start), is_table: true });
                add_places(inner, &path, places);
            }
            DeValue::Array(list) if list.iter().any(|one| one.get_ref().is_table()) => {
                for (index, one) in list.iter().enumerate() {
                    let path = format!("{path}.{index}");
                    places.push(Place { path: path.clone(), range: one.span(), is_table: true });
                    if let DeValue::Table(inner) = one.get_ref() {
                        add_places(inner, &path, places);
                    }
                }
            }
            _ => {
                let range = key.span().start..span.end.max(key.span().end);
                places.push(Place { path, range, is_table: false });
            }
        }
    }
}

/// Offset in bytes of a position.
fn offset_of(text: &str, line: usize, column: usize) -> Option<usize> {
    let start = match line.checked_sub(1)? {
        0 => 0,
        before => text.match_indices('\n').nth(before - 1).map(|(at, _)| at + 1)?,
    };
    let rest = text.get(start..)?;
    let within = rest.char_indices().nth(column.saturating_sub(1)).map_or(rest.len(), |(at, _)| at);
    Some(start + within)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TEXT: &str = "# About this cup\nname = \"x\" # why\ngame = \"y\"\n\n[settings]\n# clock\nseconds = 5\n\n\
        [[phase]]\nname = \"One\"\nformat = \"round-robin\"\n[phase.settings]\nseconds = 6\n\n\
        # the final\n[[phase]]\nname = \"Two\"\nformat = \"knockout\"\n";

    fn apply_json(text: &str, changes: Json) -> Result<String, ChangeError> {
        apply(text, &serde_json::from_value::<Vec<FileChange>>(changes).unwrap())
    }

    #[test]
    fn set_changes_one_value_and_keeps_comments() {
        let changes = json!([
            {"change": "set", "path": "name", "value": "z"},
            {"change": "set", "path": "settings.seconds", "value": 1.5},
            {"change": "set", "path": "phase.1.top", "value": 8},
            {"change": "set", "path": "freeze", "value": "2027-04-26T20:00:00+02:00"},
            {"change": "set", "path": "prizes", "value": ["gold", "silver"]},
        ]);
        let text = apply_json(TEXT, changes).unwrap();
        assert!(text.starts_with("# About this cup\nname = \"z\" # why\n"), "{text}");
        assert!(text.contains("# clock\nseconds = 1.5\n"), "{text}");
        assert!(text.contains("format = \"knockout\"\ntop = 8\n"), "{text}");
        assert!(text.contains("\nfreeze = 2027-04-26T20:00:00+02:00\n"), "{text}");
        assert!(text.contains("prizes = [\"gold\", \"silver\"]"), "{text}");
        assert_eq!(values(&text).unwrap()["phase"][1]["top"], json!(8));
    }

    #[test]
    fn set_creates_missing_tables() {
        let changes = json!([
            {"change": "set", "path": "settings.words", "value": "w"},
            {"change": "set", "path": "phase.0.settings.seconds", "value": 2},
        ]);
        let text = apply_json("name = \"x\"\n[[phase]]\nformat = \"f\"\n", changes).unwrap();
        let read = values(&text).unwrap();
        assert_eq!(read["settings"]["words"], json!("w"), "{text}");
        assert_eq!(read["phase"][0]["settings"]["seconds"], json!(2), "{text}");
    }

    #[test]
    fn phases_are_moved_with_their_own_tables_and_comments() {
        let text = apply_json(TEXT, json!([{"change": "move", "path": "phase.1", "to": 0}])).unwrap();
        let read = values(&text).unwrap();
        assert_eq!(read["phase"][0]["name"], json!("Two"), "{text}");
        assert_eq!(read["phase"][1]["settings"]["seconds"], json!(6), "{text}");
        assert!(text.contains("# the final\n[[phase]]\nname = \"Two\""), "{text}");
    }

    #[test]
    fn phases_are_inserted_and_removed() {
        let added = json!({"name": "Middle", "format": "swiss", "rounds": 5, "top": null});
        let text =
            apply_json(TEXT, json!([{"change": "insert", "path": "phase.1", "value": added}])).unwrap();
        let read = values(&text).unwrap();
        let names: Vec<&str> =
            read["phase"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["One", "Middle", "Two"], "{text}");
        assert_eq!(read["phase"][0]["settings"]["seconds"], json!(6), "{text}");
        let back = apply_json(&text, json!([{"change": "remove", "path": "phase.1"}])).unwrap();
        assert_eq!(values(&back), values(TEXT));
        let none = json!([{"change": "remove", "path": "phase.0"}, {"change": "remove", "path": "phase.0"}]);
        assert_eq!(values(&apply_json(TEXT, none).unwrap()).unwrap().get("phase"), None);
        let new = json!([{"change": "insert", "path": "sponsor.0", "value": {"name": "S"}}]);
        assert_eq!(values(&apply_json(TEXT, new).unwrap()).unwrap()["sponsor"][0]["name"], json!("S"));
    }

    #[test]
    fn impossible_changes_are_errors() {
        let refused = |change: Json| apply_json(TEXT, json!([change])).unwrap_err();
        for path in ["", "phase", "phase.7.name", "settings", "phase.x.name", "name.inner"] {
            assert!(
                matches!(refused(json!({"change": "set", "path": path, "value": 1})), ChangeError::Path(_)),
                "{path}"
            );
        }
        let null = json!({"change": "set", "path": "name", "value": null});
        assert_eq!(refused(null), ChangeError::Value("name".to_owned()));
        let far = json!({"change": "move", "path": "phase.0", "to": 2});
        assert!(matches!(refused(far), ChangeError::Path(_)));
        assert_eq!(apply("name = ", &[]), Err(ChangeError::NotToml));
        assert_eq!(apply_json(TEXT, json!([{"change": "remove", "path": "nothing.here"}])).unwrap(), TEXT);
    }

    #[test]
    fn path_at_names_the_value_of_a_position() {
        let at = |needle: &str| {
            let offset = TEXT.find(needle).unwrap();
            let line = TEXT[..offset].matches('\n').count() + 1;
            let column = offset - TEXT[..offset].rfind('\n').map_or(0, |at| at + 1) + 1;
            path_at(TEXT, line, column)
        };
        assert_eq!(at("\"x\"").as_deref(), Some("name"));
        assert_eq!(at("5").as_deref(), Some("settings.seconds"));
        assert_eq!(at("6").as_deref(), Some("phase.0.settings.seconds"));
        assert_eq!(at("\"knockout\"").as_deref(), Some("phase.1.format"));
        let lines = TEXT.lines().count();
        assert_eq!(path_at(TEXT, 9, 1).as_deref(), Some("phase.0"), "the header of a phase");
        assert_eq!(path_at(TEXT, lines, 1).as_deref(), Some("phase.1.format"));
        assert_eq!(path_at(TEXT, 1, 1), None);
        assert_eq!(path_at(TEXT, 99, 1), None);
    }
}
