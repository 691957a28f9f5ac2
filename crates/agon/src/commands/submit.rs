//! `agon submit`: hands a bot in and waits for the answer.

use std::thread;
use std::time::Duration;

use agon_bots::Failure;
use agon_bots::check::{CheckResult, StepOutcome, StepResult};
use agon_core::ErrorKind;
use agon_host::BotRejection;
use serde_json::Value as Json;

use crate::output;
use crate::server_client::cli::Submit;
use crate::server_client::client::{Client, Form, tame};
use crate::server_client::files;

const SERVER: &str = "http://127.0.0.1:8080";
/// How often it is asked for the answer.
const EVERY: Duration = Duration::from_millis(400);

/// Hands it in.
pub fn run(args: &Submit) -> Result<(), Failure> {
    let (server, competition) = whither(args)?;
    let token = files::token()?;
    if let Some(host) = server.strip_prefix("http://")
        && !["127.", "localhost", "[::1]"].iter().any(|own| host.starts_with(own))
    {
        output::note("note: over http anybody on the way can read your token; use https where there is one");
    }
    let client = Client::new(&server, token);
    let (file, content) = files::zip_bot(&args.path)?;
    let bot = match (&args.bot, &args.version_of) {
        (Some(bot), _) => Some(*bot),
        (None, Some(name)) => Some(by_name(&client, &competition, name)?),
        (None, None) => None,
    };
    let stem = file.rsplit_once('.').map_or(&*file, |(stem, _)| stem);
    let mut form = Form::new(&file, &content).text("class", args.class.as_deref());
    let path = if let Some(bot) = bot {
        format!("competitions/{competition}/bots/{bot}/versions")
    } else {
        let name = args.name.as_deref().unwrap_or(stem);
        form = form.text("name", Some(name)).text("role", args.role.as_deref());
        format!("competitions/{competition}/bots")
    };
    let answer = client.post_form(&path, &form)?;
    if answer.status == 422 && answer.json["error"]["field"] == "file" {
        // The answer is no: it is the files that are wrong.
        let failure = answer.refusal();
        if args.json {
            output::print_json("submission", answer.json)?;
            return Err(Failure { kind: ErrorKind::Rejected, message: String::new() });
        }
        return Err(Failure { kind: ErrorKind::Rejected, ..failure });
    }
    let mut submission = answer.good()?;
    output::note(&format!("{} bytes were handed in; waiting for the check", content.len()));
    while matches!(submission["state"].as_str(), Some("queued" | "checking")) {
        thread::sleep(EVERY);
        let id = submission["id"].as_str().unwrap_or_default();
        submission = client.get(&format!("submissions/{id}"))?.good()?;
    }
    told(args, &server, submission)
}

/// Prints what came of it.
fn told(args: &Submit, server: &str, submission: Json) -> Result<(), Failure> {
    let state = submission["state"].as_str().unwrap_or_default().to_owned();
    if args.json {
        output::print_json("submission", submission)?;
    } else {
        if let Some(checked) = checked(&submission) {
            output::print(&checked.text())?;
        }
        let (name, id) = (&submission["name"], submission["competition"].as_str().unwrap_or_default());
        let name = tame(name.as_str().unwrap_or_default());
        if let Some(version) = submission["version"].as_u64() {
            output::note(&format!(
                "{name} is in, version {version}: {server}/c/{id}/bots/{}",
                submission["bot"]
            ));
        }
    }
    match state.as_str() {
        "accepted" => Ok(()),
        // The answer is on stdout already.
        "refused" => Err(Failure { kind: ErrorKind::Rejected, message: String::new() }),
        _ => Err(Failure {
            kind: ErrorKind::Internal,
            message: "the check itself broke\nhint: hand it in again".to_owned(),
        }),
    }
}

/// The server and the competition's id.
fn whither(args: &Submit) -> Result<(String, String), Failure> {
    let mut server = args.server.clone();
    let mut id = args.competition.trim_end_matches('/').to_owned();
    if let Some((origin, rest)) =
        args.competition.split_once("/c/").filter(|(origin, _)| origin.contains("://"))
    {
        server.get_or_insert_with(|| origin.to_owned());
        rest.split(['/', '?', '#']).next().unwrap_or_default().clone_into(&mut id);
    }
    let server = server.unwrap_or_else(|| SERVER.to_owned());
    if !server.starts_with("http://") && !server.starts_with("https://") {
        let what = format!("--server: `{server}` is no address");
        return Err(Failure::wrong_use(what, "write it as in a browser: https://agon.example.org"));
    }
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    if id.is_empty() || !id.bytes().all(plain) {
        let hint = "it is the last part of its page's address: .../c/COMPETITION";
        return Err(Failure::wrong_use(format!("`{id}` is no competition"), hint));
    }
    Ok((server, id))
}

/// The number of a bot of one's own.
fn by_name(client: &Client, competition: &str, name: &str) -> Result<i64, Failure> {
    let mine = client.get("me/bots")?.good()?;
    let own: Vec<&Json> = mine["items"].as_array().into_iter().flatten().collect();
    let here = |one: &&&Json| one["competition"] == competition && one["withdrawn"] == false;
    let same =
        |one: &&&Json| one["name"].as_str().is_some_and(|own| own.to_lowercase() == name.to_lowercase());
    let found = own.iter().filter(here).find(same).and_then(|one| one["bot"].as_i64());
    found.ok_or_else(|| {
        let names: Vec<String> =
            own.iter().filter(here).map(|one| tame(one["name"].as_str().unwrap_or_default())).collect();
        let hint = match &names[..] {
            [] => "you have none there yet: --name NAME hands in a new one".to_owned(),
            names => format!("you have {}", names.join(", ")),
        };
        Failure::wrong_use(format!("you have no bot {name} in {competition}"), hint)
    })
}

/// The report, as `agon check` has it.
fn checked(submission: &Json) -> Option<CheckResult> {
    let report = submission.get("report").filter(|report| !report.is_null())?;
    let text = |value: &Json| tame(value.as_str().unwrap_or_default());
    let finding = |one: &Json| BotRejection {
        what: text(&one["what"]),
        file: one["file"].as_str().map(tame),
        line: one["line"].as_u64().map(|line| line as u32),
        hint: text(&one["hint"]),
        trace: text(&one["trace"]),
        ..BotRejection::default()
    };
    let findings = |list: &Json| list.as_array().into_iter().flatten().map(finding).collect::<Vec<_>>();
    let step = |one: &Json| StepResult {
        name: ["found", "source", "loads", "plays"]
            .into_iter()
            .find(|name| one["name"] == *name)
            .unwrap_or("check"),
        outcome: match one["outcome"].as_str() {
            Some("yes") => StepOutcome::Yes,
            Some("no") => StepOutcome::No,
            _ => StepOutcome::Skipped,
        },
        says: text(&one["says"]),
        bad: findings(&one["bad"]),
        advice: findings(&one["advice"]),
    };
    Some(CheckResult {
        game: String::new(),
        bot: String::new(),
        accepted: report["accepted"] == true,
        name: report["name"].as_str().map(tame),
        hash: report["hash"].as_str().map(tame),
        steps: report["steps"].as_array().into_iter().flatten().map(step).collect(),
        trials: Json::Null,
        records: Vec::new(),
        logs: Vec::new(),
    })
}
