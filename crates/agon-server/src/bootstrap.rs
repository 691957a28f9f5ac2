//! The first organiser: somebody must let the others in.

use agon_store::Timestamp;
use agon_store::site_db::{SignUpGrant, NewAccount, NewAuditEntry, NewInvitation, PageRequest, Role, token_hash};

use crate::error::StartError;
use crate::middleware::cookie;
use crate::passwords;
use crate::state::AppState;

const DAY: i64 = 24 * 60 * 60 * 1000;
/// The account that is made unattended.
const NAME: &str = "organiser";
/// By this the invitations of earlier starts are known.
const NOTE: &str = "for the first organiser";

/// If there is no organiser yet: makes one if a password was set up, else gives a link by which somebody becomes one. The links of
/// earlier starts are no good any more.
pub async fn first_organiser(app: &AppState) -> Result<Option<String>, StartError> {
    if app.office.count_organisers().await? > 0 {
        return Ok(None);
    }
    revoke_earlier(app).await?;
    let now = Timestamp::now();
    if let Some(password) = &app.config.organiser_password {
        let wrong = |error: crate::error::ApiError| {
            StartError::Other(format!("the organiser's password: {}", error.message()))
        };
        passwords::check("password", NAME, password.expose()).map_err(wrong)?;
        let password_hash = app.passwords.hash(password.expose().to_owned()).await.map_err(wrong)?;
        let by = SignUpGrant::Open(Role::Organiser);
        app.office.create_account(&NewAccount { name: NAME.to_owned(), password_hash, by, at: now }).await?;
        app.office
            .append_audit(&NewAuditEntry {
                at: now,
                account: None,
                action: "account.new".to_owned(),
                competition: None,
                subject: NAME.to_owned(),
                reason: "set up unattended".to_owned(),
                detail: "{}".to_owned(),
            })
            .await?;
        return Ok(None);
    }
    let code = cookie::secret().map_err(|error| StartError::Other(error.message().to_owned()))?;
    let invitation = NewInvitation {
        code: token_hash(&code),
        role: Role::Organiser,
        note: NOTE.to_owned(),
        by: None,
        expires: Timestamp(now.0 + DAY),
        uses: 1,
        at: now,
    };
    app.office.create_invitation(&invitation).await?;
    Ok(Some(format!("{}/signup?invite={code}", app.config.url())))
}

async fn revoke_earlier(app: &AppState) -> Result<(), StartError> {
    let listed = app.office.invitations(PageRequest { after: None, limit: 200 }).await?;
    let now = Timestamp::now();
    for old in listed.items {
        if old.by.is_none() && old.note == NOTE && old.refusal(now).is_none() {
            app.office.revoke_invitation(old.id, now).await?;
        }
    }
    Ok(())
}
