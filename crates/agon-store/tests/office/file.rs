//! The office as a file: what is none, who else is in it, no room, no permission, and what is never in it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use agon_store::Timestamp;
use agon_store::site_db::{
    SignUpGrant, SecretString, NewAccount, NewAuditEntry, NewInvitation, NewSession, NewToken, SiteDb, SiteDbError, Role,
    token_hash,
};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, SqliteConnection};
use tempfile::TempDir;

use super::{account, newcomer, run};

/// The file by SQLite itself, as another program has it.
async fn raw(path: &Path) -> SqliteConnection {
    SqliteConnectOptions::new().filename(path).create_if_missing(true).connect().await.unwrap()
}

/// Why it cannot be opened, without the hint that must follow.
async fn refusal(path: &Path) -> String {
    let refused = SiteDb::open(path).await.unwrap_err();
    assert!(!refused.is_wrong_use());
    let words = refused.to_string();
    let (what, hint) = words.split_once("\nhint: ").unwrap();
    assert!(!hint.is_empty() && !words.contains("ledger"), "{words}");
    what.replace(path.to_str().unwrap(), "FILE")
}

#[test]
fn it_is_made_once_for_its_owner_alone() {
    run(async {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("office.db");
        let office = SiteDb::open(&path).await.unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "hashes are in it");
        let ada = account(&office, "Ada", Role::Organiser).await;
        let other = SiteDb::open(&path).await.unwrap();
        assert_eq!(other.account(ada.id).await.unwrap(), ada, "seen at once");
        other.disconnect().await.unwrap();
        office.disconnect().await.unwrap();
        office.disconnect().await.unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "one file when nobody is in it");
        assert!(office.account(ada.id).await.is_err());
        assert!(office.set_role(ada.id, Role::Author).await.is_err());
        let again = SiteDb::open(&path).await.unwrap();
        assert_eq!(again.account_by_name("ada").await.unwrap(), Some(ada));
    });
}

#[test]
fn everything_acknowledged_is_on_the_disk() {
    run(async {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("office.db");
        let office = SiteDb::open(&path).await.unwrap();
        let ada = account(&office, "Ada", Role::Organiser).await;
        // What a power cut would leave: the files as they are now, while the office is open.
        let left = TempDir::new().unwrap();
        for suffix in ["", "-wal"] {
            let name = format!("office.db{suffix}");
            fs::copy(folder.path().join(&name), left.path().join(&name)).unwrap();
        }
        let found = SiteDb::open(left.path().join("office.db")).await.unwrap();
        assert_eq!(found.account(ada.id).await.unwrap(), ada);
    });
}

#[test]
fn what_is_no_office_is_refused_and_left_alone() {
    run(async {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("thing");
        assert_eq!(refusal(folder.path()).await, "FILE is no office: it is a folder");
        fs::write(&path, "").unwrap();
        assert_eq!(refusal(&path).await, "FILE is no office: it is empty or very short");
        fs::write(&path, "name = 'Autumn Cup'\n".repeat(20)).unwrap();
        assert_eq!(refusal(&path).await, "FILE is no office: it is not an SQLite database");
        let mut other = raw(&folder.path().join("browser.db")).await;
        // A ledger has an application's number too, but not this one.
        sqlx::raw_sql("PRAGMA application_id = 0x41676F6E; CREATE TABLE history (page TEXT)")
            .execute(&mut other)
            .await
            .unwrap();
        other.close().await.unwrap();
        let path = folder.path().join("browser.db");
        let before = fs::read(&path).unwrap();
        assert_eq!(refusal(&path).await, "FILE is no office: it is an SQLite database of another program");
        assert!(fs::read(&path).unwrap() == before, "it was changed");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing beside it");
        let nowhere = folder.path().join("no/such/office.db");
        let words = SiteDb::open(&nowhere).await.unwrap_err().to_string();
        assert!(
            words.contains("cannot make") && words.contains("\nhint: choose a folder that exists"),
            "{words}"
        );
    });
}

#[test]
fn a_newer_office_is_refused() {
    run(async {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("office.db");
        SiteDb::open(&path).await.unwrap().disconnect().await.unwrap();
        let mut newer = raw(&path).await;
        sqlx::raw_sql("PRAGMA user_version = 99").execute(&mut newer).await.unwrap();
        newer.close().await.unwrap();
        let told = refusal(&path).await;
        assert!(
            told.starts_with("FILE was written by a newer Agon (office version 99, known here: "),
            "{told}"
        );
    });
}

#[test]
fn one_server_at_a_time() {
    run(async {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("office.db");
        let office = SiteDb::open(&path).await.unwrap();
        let claim = office.claim().unwrap();
        let second = SiteDb::open(&path).await.unwrap();
        let told = second.claim().unwrap_err();
        assert!(matches!(told, SiteDbError::Running { pid, .. } if pid == std::process::id()), "{told}");
        assert!(told.to_string().contains("a server runs with it already"), "{told}");
        // The command line may still do something.
        account(&second, "Ada", Role::Organiser).await;
        drop(claim);
        drop(second.claim().unwrap());
    });
}

#[test]
fn the_audit_log_cannot_be_changed_by_hand_either() {
    run(async {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("office.db");
        let office = SiteDb::open(&path).await.unwrap();
        let entry = NewAuditEntry {
            at: Timestamp(1),
            account: None,
            action: "server.start".to_owned(),
            competition: None,
            subject: String::new(),
            reason: String::new(),
            detail: "{}".to_owned(),
        };
        office.append_audit(&entry).await.unwrap();
        let mut hand = raw(&path).await;
        for attempt in [
            "UPDATE audit SET reason = 'none'",
            "DELETE FROM audit",
            "INSERT OR REPLACE INTO audit SELECT id, 2, account, action, competition, subject, reason, detail FROM audit",
            "UPDATE OR REPLACE audit SET at = 3",
        ] {
            let refused = sqlx::raw_sql(attempt).execute(&mut hand).await.unwrap_err().to_string();
            assert!(refused.contains("the audit log never"), "{attempt}: {refused}");
        }
    });
}

/// Passwords, tokens, codes: none of them can be read from the files.
#[test]
fn what_is_hashed_is_never_stored() {
    run(async {
        let folder = TempDir::new().unwrap();
        let office = SiteDb::open(folder.path().join("office.db")).await.unwrap();
        let invitation = NewInvitation {
            code: token_hash("plain-code"),
            role: Role::Author,
            note: "a note that is there".to_owned(),
            by: None,
            expires: Timestamp(9_000),
            uses: 1,
            at: Timestamp(1),
        };
        office.create_invitation(&invitation).await.unwrap();
        let by = SignUpGrant::Invited(token_hash("plain-code"));
        let hash = SecretString::new("$argon2id$hash");
        let new = NewAccount { password_hash: hash, ..newcomer("Ada", by) };
        let account = office.create_account(&new).await.unwrap().id;
        let (csrf, agent) = (SecretString::new("c"), "Firefox".to_owned());
        let token = token_hash("plain-session");
        office.create_session(&NewSession { token, account, csrf, agent, at: Timestamp(1) }).await.unwrap();
        let (label, token) = ("laptop".to_owned(), token_hash("plain-token"));
        office.create_token(&NewToken { account, label, token, expires: None, at: Timestamp(1) }).await.unwrap();
        let mut bytes = Vec::new();
        for file in fs::read_dir(folder.path()).unwrap() {
            bytes.extend(fs::read(file.unwrap().path()).unwrap());
        }
        let text = String::from_utf8_lossy(&bytes);
        for there in ["a note that is there", "$argon2id$hash", "Firefox", "laptop"] {
            assert!(text.contains(there), "{there}");
        }
        assert!(!text.contains("plain-"));
    });
}

/// Runs one of the ignored tests below where a folder can be mounted, with that folder's path in the environment.
#[track_caller]
fn mounted(test: &str, script: &str) {
    let alone = ["--user", "--map-root-user", "--mount"];
    if !Command::new("unshare").args(alone).arg("true").status().is_ok_and(|status| status.success()) {
        agon_rig::cannot_run(agon_rig::Lacks::Machine, "nothing can be mounted here");
        return;
    }
    let folder = TempDir::new().unwrap();
    run(async {
        let office = SiteDb::open(folder.path().join("office.db")).await.unwrap();
        account(&office, "Ada", Role::Organiser).await;
        office.disconnect().await.unwrap();
    });
    let told = Command::new("unshare")
        .args(alone)
        .args(["sh", "-ec"])
        .arg(format!("{script}\nexec \"$EXE\" --exact file::{test} --ignored --nocapture"))
        .env("EXE", std::env::current_exe().unwrap())
        .env("OFFICE_FOLDER", folder.path())
        .output()
        .unwrap();
    let words = String::from_utf8_lossy(&told.stdout) + String::from_utf8_lossy(&told.stderr);
    assert!(told.status.success() && words.contains("1 passed"), "{words}");
}

#[test]
fn a_full_disk_is_said_and_nobody_is_signed_out() {
    mounted("on_a_small_disk", "mount -t tmpfs -o size=1m tmpfs \"$OFFICE_FOLDER\"");
}

#[test]
fn a_disk_that_cannot_be_written_is_said() {
    mounted(
        "on_a_read_only_disk",
        "mount --bind \"$OFFICE_FOLDER\" \"$OFFICE_FOLDER\" && mount -o remount,bind,ro \"$OFFICE_FOLDER\"",
    );
}

#[test]
#[ignore = "run by a_full_disk_is_said_and_nobody_is_signed_out"]
fn on_a_small_disk() {
    let Some(folder) = std::env::var_os("OFFICE_FOLDER").map(PathBuf::from) else { return };
    run(async {
        let office = SiteDb::open(folder.join("office.db")).await.unwrap();
        let ada = account(&office, "Ada", Role::Organiser).await.id;
        let (token, csrf) = (token_hash("t"), SecretString::new("c"));
        let new = NewSession { token, account: ada, csrf, agent: String::new(), at: Timestamp(0) };
        office.create_session(&new).await.unwrap();
        let mut kept = 0;
        let told = loop {
            match office.set_setting(&format!("k{kept}"), Some(&"x".repeat(60_000))).await {
                Ok(()) => kept += 1,
                Err(error) => break error,
            }
        };
        assert!(kept > 3, "{kept}");
        assert!(matches!(told, SiteDbError::Full { .. }) && !told.to_string().contains("matches"), "{told}");
        // Its time to be written down has come, and cannot be: never mind.
        let (session, _) = office.find_session(token, Timestamp(120_000)).await.unwrap().unwrap();
        assert_eq!(session.seen, Timestamp(120_000));
        assert_eq!(office.settings().await.unwrap().len(), kept);
        let status = Command::new("mount").args(["-o", "remount,size=8m"]).arg(&folder).status().unwrap();
        assert!(status.success());
        office.set_setting("more", Some("room")).await.unwrap();
    });
}

#[test]
#[ignore = "run by a_disk_that_cannot_be_written_is_said"]
fn on_a_read_only_disk() {
    let Some(folder) = std::env::var_os("OFFICE_FOLDER").map(PathBuf::from) else { return };
    run(async {
        let told = SiteDb::open(folder.join("office.db")).await.unwrap_err().to_string();
        assert!(
            told.contains("cannot be written: ") && told.contains("\nhint: check the permissions"),
            "{told}"
        );
        let told = SiteDb::open(folder.join("new.db")).await.unwrap_err().to_string();
        assert!(told.contains("Read-only file system"), "{told}");
    });
}
