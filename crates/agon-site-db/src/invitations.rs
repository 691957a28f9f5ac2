//! Invitations: links for a limited number of sign-ups with a given role.

use agon_core::record::Digest;
use agon_store::Timestamp;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::{
    AccountId, FromSiteRow, Invitation, InvitationId, NewInvitation, PageRequest, Result, ResultPage, Role,
    SiteDb, SiteDbError, account_in, cursor, enum_column, error, names, optional_time, result_page,
    row_limit, time,
};

/// Maximum number of uses of an invitation.
const MAX_USES: u32 = 10_000;

impl FromSiteRow for Invitation {
    fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            id: InvitationId(row.try_get("id")?),
            role: enum_column(row, "role", Role::by_name)?,
            note: row.try_get("note")?,
            by: row.try_get::<Option<i64>, _>("by")?.map(AccountId),
            created: time(row, "created")?,
            expires: time(row, "expires")?,
            uses: row.try_get("uses")?,
            uses_left: row.try_get("uses_left")?,
            revoked: optional_time(row, "revoked")?,
        })
    }
}

impl SiteDb {
    /// Creates an invitation.
    pub async fn create_invitation(&self, new: &NewInvitation) -> Result<Invitation> {
        names::check_line("note", &new.note, 0, 200)?;
        if !(1..=MAX_USES).contains(&new.uses) {
            return Err(SiteDbError::invalid("uses", format!("it must be 1 to {MAX_USES}")));
        }
        if new.expires <= new.at {
            return Err(SiteDbError::invalid("expires", "it is in the past"));
        }
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        if let Some(by) = new.by {
            account_in(&mut change, by, self.path()).await?;
        }
        let row = sqlx::query(
            "INSERT INTO invitation (code, role, note, by, created, expires, uses, uses_left)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7) RETURNING *",
        )
        .bind(&new.code.0[..])
        .bind(new.role.name())
        .bind(&new.note)
        .bind(new.by.map(|by| by.0))
        .bind(new.at.0)
        .bind(new.expires.0)
        .bind(new.uses)
        .fetch_one(&mut *change)
        .await
        .map_err(error::unless_taken(self.path(), "invitation code"))?;
        change.commit().await.map_err(self.failed())?;
        Invitation::read(&row).map_err(self.failed())
    }

    /// The invitation whose code has this hash, usable or not; see [`Invitation::unusable_reason`].
    pub async fn find_invitation(&self, code: Digest) -> Result<Option<Invitation>> {
        let mut reader = self.0.readers.acquire().await.map_err(self.failed())?;
        by_code(&mut reader, code).await.map_err(self.failed())
    }

    /// All invitations, newest first.
    pub async fn invitations(&self, page: PageRequest) -> Result<ResultPage<Invitation>> {
        let rows = sqlx::query("SELECT * FROM invitation WHERE id < ? ORDER BY id DESC LIMIT ?")
            .bind(cursor(page))
            .bind(row_limit(page))
            .fetch_all(&self.0.readers)
            .await
            .map_err(self.failed())?;
        result_page(page, &rows, "id").map_err(self.failed())
    }

    /// Revokes an invitation. Accounts created with it stay. Calling it again changes nothing.
    pub async fn revoke_invitation(&self, id: InvitationId, at: Timestamp) -> Result<Invitation> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        let row =
            sqlx::query("UPDATE invitation SET revoked = coalesce(revoked, ?) WHERE id = ? RETURNING *")
                .bind(at.0)
                .bind(id.0)
                .fetch_optional(&mut *change)
                .await
                .map_err(self.failed())?
                .ok_or(SiteDbError::NotFound { what: "invitation" })?;
        change.commit().await.map_err(self.failed())?;
        Invitation::read(&row).map_err(self.failed())
    }

    /// Consumes one use.
    pub(super) async fn use_invitation(
        &self,
        change: &mut SqliteConnection,
        code: Digest,
        now: Timestamp,
    ) -> Result<(InvitationId, Role)> {
        let found = by_code(change, code)
            .await
            .map_err(self.failed())?
            .ok_or(SiteDbError::NotFound { what: "invitation" })?;
        if let Some(why) = found.unusable_reason(now) {
            return Err(SiteDbError::conflict(why));
        }
        sqlx::query("UPDATE invitation SET uses_left = uses_left - 1 WHERE id = ?")
            .bind(found.id.0)
            .execute(change)
            .await
            .map_err(self.failed())?;
        Ok((found.id, found.role))
    }
}

async fn by_code(connection: &mut SqliteConnection, code: Digest) -> Result<Option<Invitation>, sqlx::Error> {
    let row = sqlx::query("SELECT * FROM invitation WHERE code = ?")
        .bind(&code.0[..])
        .fetch_optional(connection)
        .await?;
    row.as_ref().map(Invitation::read).transpose()
}
