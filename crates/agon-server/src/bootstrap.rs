//! Creates the first organiser, who can then invite others.

use agon_site_db::{NewAccount, NewAuditEntry, NewInvitation, PageRequest, Role, SignUpGrant, token_hash};
use agon_store::Timestamp;

use crate::error::StartError;
use crate::middleware::cookie;
use crate::passwords;
use crate::state::AppState;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// Name of the account that is created when a password is configured.
const UNATTENDED_ACCOUNT: &str = "organiser";
/// Note by which `revoke_earlier_links` finds the invitations of earlier starts. Stored in the database: do not change it.
const INVITATION_NOTE: &str = "for the first organiser";

/// Makes sure that the site gets an organiser. If there is none, creates the account if a password is configured, else returns a sign-up
/// link for the first organiser. Links of earlier starts are revoked.
pub async fn first_organiser(app: &AppState) -> Result<Option<String>, StartError> {
    if app.site_db.count_organisers().await? > 0 {
        return Ok(None);
    }
    revoke_earlier_links(app).await?;
    let now = Timestamp::now();
    if let Some(password) = &app.config.organiser_password {
        let password_error = |error: crate::error::ApiError| {
            StartError::other(format!("the organiser's password: {}", error.message()))
        };
        passwords::check("password", UNATTENDED_ACCOUNT, password.expose()).map_err(password_error)?;
        let password_hash = app
            .passwords
            .hash(passwords::HashFor::KnownClient, password.expose().to_owned())
            .await
            .map_err(password_error)?;
        let by = SignUpGrant::Open(Role::Organiser);
        app.site_db
            .create_account(&NewAccount {
                name: UNATTENDED_ACCOUNT.to_owned(),
                password_hash,
                grant: by,
                at: now,
            })
            .await?;
        app.site_db
            .append_audit(&NewAuditEntry {
                at: now,
                account: None,
                action: "account.new".to_owned(),
                competition: None,
                subject: UNATTENDED_ACCOUNT.to_owned(),
                reason: "set up unattended".to_owned(),
                detail: "{}".to_owned(),
            })
            .await?;
        return Ok(None);
    }
    let code = cookie::random_secret().map_err(|error| StartError::other(error.message()))?;
    let invitation = NewInvitation {
        code: token_hash(&code),
        role: Role::Organiser,
        note: INVITATION_NOTE.to_owned(),
        by: None,
        expires: Timestamp(now.0 + DAY_MS),
        uses: 1,
        at: now,
    };
    app.site_db.create_invitation(&invitation).await?;
    Ok(Some(format!("{}/signup?invite={code}", app.config.url())))
}

async fn revoke_earlier_links(app: &AppState) -> Result<(), StartError> {
    let listed = app.site_db.invitations(PageRequest { after: None, limit: 200 }).await?;
    let now = Timestamp::now();
    for old in listed.items {
        if old.by.is_none() && old.note == INVITATION_NOTE && old.unusable_reason(now).is_none() {
            app.site_db.revoke_invitation(old.id, now).await?;
        }
    }
    Ok(())
}
