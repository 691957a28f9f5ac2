//! What accounts say about themselves, and their e-mail addresses.

use agon_store::Timestamp;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::names;
use super::{Account, AccountId, FromSiteRow, Result, SiteDb, SiteDbError, account_in, optional_time};

/// Maximum length of the text about an account or a team.
pub const MAX_ABOUT_CHARS: usize = 500;
/// Maximum length of a link.
pub const MAX_LINK_CHARS: usize = 200;
/// Maximum length of an e-mail address (RFC 5321).
pub const MAX_MAIL_CHARS: usize = 254;

/// What an account says about itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AccountProfile {
    /// Name shown on the profile; empty: the account's name.
    pub shown: String,
    /// A short text.
    pub about: String,
    /// A link to another site.
    pub link: Option<String>,
    /// Whether the profile lists the account's bots.
    pub list_bots: bool,
}

impl Default for AccountProfile {
    fn default() -> Self {
        Self { shown: String::new(), about: String::new(), link: None, list_bots: true }
    }
}

impl FromSiteRow for AccountProfile {
    fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            shown: row.try_get("shown")?,
            about: row.try_get("about")?,
            link: row.try_get("link")?,
            list_bots: row.try_get("list_bots")?,
        })
    }
}

/// The e-mail address of an account.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MailAddress {
    /// The address.
    pub address: String,
    /// When its link was opened. Nothing else is sent to an address before.
    pub verified: Option<Timestamp>,
}

impl FromSiteRow for MailAddress {
    fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self { address: row.try_get("address")?, verified: optional_time(row, "verified")? })
    }
}

impl SiteDb {
    /// The profile of an account.
    pub async fn profile(&self, account: AccountId) -> Result<AccountProfile> {
        let row = sqlx::query("SELECT * FROM profile WHERE account = ?")
            .bind(account.0)
            .fetch_optional(&self.0.readers)
            .await
            .map_err(self.failed())?;
        row.as_ref()
            .map_or_else(|| Ok(AccountProfile::default()), AccountProfile::read)
            .map_err(self.failed())
    }

    /// Replaces the profile of an account.
    pub async fn set_profile(&self, account: AccountId, profile: &AccountProfile) -> Result<()> {
        if !profile.shown.is_empty() {
            names::Name::new("shown", &profile.shown)?;
        }
        check_text("about", &profile.about, 0, MAX_ABOUT_CHARS)?;
        if let Some(link) = &profile.link {
            check_link("link", link)?;
        }
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        account_in(&mut change, account, self.path()).await?;
        sqlx::query(
            "INSERT INTO profile (account, shown, about, link, list_bots) VALUES (?, ?, ?, ?, ?)
             ON CONFLICT (account) DO UPDATE SET shown = excluded.shown, about = excluded.about,
                link = excluded.link, list_bots = excluded.list_bots",
        )
        .bind(account.0)
        .bind(&profile.shown)
        .bind(&profile.about)
        .bind(&profile.link)
        .bind(profile.list_bots)
        .execute(&mut *change)
        .await
        .map_err(self.failed())?;
        change.commit().await.map_err(self.failed())
    }

    /// The e-mail address of an account.
    pub async fn mail_address(&self, account: AccountId) -> Result<Option<MailAddress>> {
        let row = sqlx::query("SELECT * FROM account_mail WHERE account = ?")
            .bind(account.0)
            .fetch_optional(&self.0.readers)
            .await
            .map_err(self.failed())?;
        row.as_ref().map(MailAddress::read).transpose().map_err(self.failed())
    }

    /// Sets the e-mail address of an account, not verified; `None` removes it. Waiting mails and links of the old address are removed.
    pub async fn set_mail_address(&self, account: AccountId, address: Option<&str>) -> Result<()> {
        if let Some(address) = address {
            check_mail("address", address)?;
        }
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        account_in(&mut change, account, self.path()).await?;
        for removal in [
            "DELETE FROM account_mail WHERE account = ?",
            "DELETE FROM mail_queue WHERE account = ?",
            "DELETE FROM account_link WHERE account = ? AND purpose = 'verify-mail'",
        ] {
            sqlx::query(removal).bind(account.0).execute(&mut *change).await.map_err(self.failed())?;
        }
        if let Some(address) = address {
            sqlx::query("INSERT INTO account_mail (account, address) VALUES (?, ?)")
                .bind(account.0)
                .bind(address)
                .execute(&mut *change)
                .await
                .map_err(self.failed())?;
        }
        change.commit().await.map_err(self.failed())
    }

    /// Enabled accounts with this verified e-mail address, at most ten.
    pub async fn accounts_with_mail(&self, address: &str) -> Result<Vec<Account>> {
        let rows = sqlx::query(
            "SELECT account.* FROM account_mail JOIN account ON account.id = account_mail.account
             WHERE address = ? COLLATE NOCASE AND verified IS NOT NULL AND disabled IS NULL LIMIT 10",
        )
        .bind(address)
        .fetch_all(&self.0.readers)
        .await
        .map_err(self.failed())?;
        rows.iter().map(Account::read).collect::<Result<_, _>>().map_err(self.failed())
    }

    /// Marks the address of an account as verified, if it is still this one.
    pub(super) async fn verify_address(
        &self,
        change: &mut SqliteConnection,
        account: AccountId,
        address: &str,
        at: Timestamp,
    ) -> Result<()> {
        let done = sqlx::query("UPDATE account_mail SET verified = ? WHERE account = ? AND address = ?")
            .bind(at.0)
            .bind(account.0)
            .bind(address)
            .execute(change)
            .await
            .map_err(self.failed())?;
        if done.rows_affected() == 0 {
            return Err(SiteDbError::conflict("the account has another address now"));
        }
        Ok(())
    }
}

/// Checks a text of several lines: no control characters except line feeds, no direction marks.
pub(super) fn check_text(field: &'static str, text: &str, min: usize, max: usize) -> Result<()> {
    // A line feed is the only control character that is allowed, so the rest is checked as one line.
    names::check_line(field, &text.replace('\n', " "), min, max)
}

/// Checks a link: `https://` or `http://`, a host, and no spaces.
pub(super) fn check_link(field: &'static str, link: &str) -> Result<()> {
    names::check_line(field, link, 1, MAX_LINK_CHARS)?;
    let host = link.strip_prefix("https://").or_else(|| link.strip_prefix("http://"));
    let host = host.and_then(|rest| rest.split(['/', '?', '#']).next());
    let is_plain = |text: &str| !text.contains(|c: char| c.is_whitespace() || "<>\"\\^`{|}@".contains(c));
    if host.is_some_and(|host| !host.is_empty() && is_plain(host)) && is_plain(&link.replace('@', "")) {
        return Ok(());
    }
    Err(SiteDbError::invalid(field, "it must be a web address such as https://example.org"))
}

/// Checks the form of an e-mail address. Only a mail shows whether it exists.
fn check_mail(field: &'static str, address: &str) -> Result<()> {
    let refused = || SiteDbError::invalid(field, "it must be an e-mail address such as name@example.org");
    let (local, host) = address.rsplit_once('@').ok_or_else(refused)?;
    let local_ok = (1..=64).contains(&local.len())
        && local.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+/=?^_`{|}~.-".contains(&b))
        && !local.starts_with('.')
        && !local.ends_with('.')
        && !local.contains("..");
    let label_ok = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    if local_ok && address.len() <= MAX_MAIL_CHARS && host.contains('.') && host.split('.').all(label_ok) {
        return Ok(());
    }
    Err(refused())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mail_addresses_are_plain_ascii_with_a_host() {
        for good in ["a@b.org", "first.last+tag@mail.example.co.uk", "o'neill@example.org"] {
            check_mail("address", good).unwrap();
        }
        for bad in [
            "",
            "a",
            "@b.org",
            "a@",
            "a@b",
            "a@b..org",
            "a b@c.org",
            "a@b.org\n",
            "a\r\nBcc: x@y.z@b.org",
            "<a@b.org>",
            ".a@b.org",
            "a..b@c.org",
            "ä@b.org",
            "a@-b.org",
            "a,b@c.org",
        ] {
            assert!(check_mail("address", bad).is_err(), "{bad:?}");
        }
        assert!(check_mail("address", &format!("{}@b.org", "x".repeat(65))).is_err());
    }

    #[test]
    fn links_are_web_addresses() {
        for good in ["https://example.org", "http://a.b/c?d=e#f", "https://example.org/@me"] {
            check_link("link", good).unwrap();
        }
        for bad in [
            "",
            "javascript:alert(1)",
            "https://",
            "ftp://a.b",
            "https://a b",
            "https://u@a.b",
            "//a.b",
            "https://a\n",
        ] {
            assert!(check_link("link", bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn texts_have_line_feeds_but_no_other_control_characters() {
        check_text("about", "one\ntwo", 0, 7).unwrap();
        for bad in ["one\rtwo", "a\u{202e}b", "12345678"] {
            assert!(check_text("about", bad, 0, 7).is_err(), "{bad:?}");
        }
    }
}
