//! Marks of entrants: words such as `AI` and `exploit`, with a note, that tables show after the name.

use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::names;
use super::{EntrantId, FromSiteRow, Result, SiteDb, SiteDbError};

/// Maximum length of a mark.
pub const MAX_MARK_CHARS: usize = 20;
/// Maximum length of the note on a mark.
pub const MAX_MARK_NOTE_CHARS: usize = 200;
/// Maximum number of marks of an entrant.
pub const MAX_MARKS: usize = 6;

/// A mark of an entrant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredMark {
    /// The mark: a word or two.
    pub mark: String,
    /// What it means here.
    pub note: Option<String>,
    /// Whether an organiser has set it. Then the author cannot change it.
    pub by_organiser: bool,
}

impl FromSiteRow for StoredMark {
    fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            mark: row.try_get("mark")?,
            note: row.try_get("note")?,
            by_organiser: row.try_get("by_organiser")?,
        })
    }
}

impl SiteDb {
    /// Replaces all marks of an entrant.
    pub async fn set_marks(&self, entrant: EntrantId, marks: &[StoredMark]) -> Result<()> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        self.replace_marks_in(&mut change, entrant, marks).await?;
        change.commit().await.map_err(self.failed())
    }

    /// Replaces the marks that the author of an entrant has set, and keeps those of organisers. With `keep_others`, only marks of the
    /// same name are replaced.
    pub async fn set_author_marks(
        &self,
        entrant: EntrantId,
        marks: &[StoredMark],
        keep_others: bool,
    ) -> Result<()> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let mut all = self.marks_in(&mut change, entrant).await?;
        let key = |mark: &StoredMark| names::key(&mark.mark);
        let is_replaced = |old: &StoredMark| !keep_others || marks.iter().any(|new| key(new) == key(old));
        all.retain(|old| old.by_organiser || !is_replaced(old));
        let kept: Vec<String> = all.iter().map(key).collect();
        let own = marks.iter().filter(|new| !kept.contains(&key(new)));
        all.extend(own.map(|new| StoredMark { by_organiser: false, ..new.clone() }));
        self.replace_marks_in(&mut change, entrant, &all).await?;
        change.commit().await.map_err(self.failed())
    }

    async fn replace_marks_in(
        &self,
        change: &mut SqliteConnection,
        entrant: EntrantId,
        marks: &[StoredMark],
    ) -> Result<()> {
        check_marks(marks)?;
        self.entrant_in(change, entrant).await?;
        sqlx::query("DELETE FROM entrant_mark WHERE entrant = ?")
            .bind(entrant.0)
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
        for mark in marks {
            sqlx::query(
                "INSERT INTO entrant_mark (entrant, mark, mark_key, note, by_organiser) VALUES (?, ?, ?, ?, ?)",
            )
            .bind(entrant.0)
            .bind(&mark.mark)
            .bind(names::key(&mark.mark))
            .bind(&mark.note)
            .bind(mark.by_organiser)
            .execute(&mut *change)
            .await
            .map_err(self.failed())?;
        }
        Ok(())
    }

    /// Marks of an entrant, in alphabetical order.
    pub async fn marks_of(&self, entrant: EntrantId) -> Result<Vec<StoredMark>> {
        let mut reader = self.0.readers.acquire().await.map_err(self.failed())?;
        self.marks_in(&mut reader, entrant).await
    }

    /// Marks of all entrants of a competition.
    pub async fn marks(&self, competition: &str) -> Result<Vec<(EntrantId, StoredMark)>> {
        let rows = sqlx::query(
            "SELECT entrant_mark.* FROM entrant_mark JOIN entrant_shown ON entrant_shown.id = entrant_mark.entrant
             WHERE entrant_shown.competition_id = ? ORDER BY entrant_mark.entrant, mark_key",
        )
        .bind(competition)
        .fetch_all(&self.0.readers)
        .await
        .map_err(self.failed())?;
        let read = |row: &SqliteRow| Ok((EntrantId(row.try_get("entrant")?), StoredMark::read(row)?));
        rows.iter().map(read).collect::<Result<_, _>>().map_err(self.failed())
    }

    async fn marks_in(
        &self,
        connection: &mut SqliteConnection,
        entrant: EntrantId,
    ) -> Result<Vec<StoredMark>> {
        let rows = sqlx::query("SELECT * FROM entrant_mark WHERE entrant = ? ORDER BY mark_key")
            .bind(entrant.0)
            .fetch_all(connection)
            .await
            .map_err(self.failed())?;
        rows.iter().map(StoredMark::read).collect::<Result<_, _>>().map_err(self.failed())
    }
}

/// Rejects marks that tables cannot show.
fn check_marks(marks: &[StoredMark]) -> Result<()> {
    if marks.len() > MAX_MARKS {
        return Err(SiteDbError::invalid("marks", format!("there are more than {MAX_MARKS}")));
    }
    for (number, one) in marks.iter().enumerate() {
        names::check_line("mark", &one.mark, 1, MAX_MARK_CHARS)?;
        if one.mark.trim() != one.mark || one.mark.contains(['(', ')', '=']) {
            return Err(SiteDbError::invalid("mark", "it begins or ends with a space, or contains ( ) or ="));
        }
        if let Some(note) = &one.note {
            names::check_line("note", note, 1, MAX_MARK_NOTE_CHARS)?;
        }
        if marks[..number].iter().any(|other| names::key(&other.mark) == names::key(&one.mark)) {
            return Err(SiteDbError::invalid("marks", format!("{} is there twice", one.mark)));
        }
    }
    Ok(())
}
