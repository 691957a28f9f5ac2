//! `agon submit`: submits a bot and waits for the check result.

use std::thread;
use std::time::Duration;

use agon_bots::Diagnostic;
use agon_bots::check::{CheckResult, StepOutcome, StepResult};
use agon_core::ErrorKind;
use agon_core::sanitize::terminal_lines;
use agon_host::BotRejection;
use agon_site_db::SubmissionState;
use serde_json::Value as Json;

use crate::args::Submit;
use crate::output;
use crate::server_client::client::{Client, Form};
use crate::server_client::files;

const DEFAULT_SERVER: &str = "http://127.0.0.1:8080";
/// Interval between requests for the check result.
const POLL_INTERVAL: Duration = Duration::from_millis(400);

/// Submits the bot.
pub fn run(args: &Submit) -> Result<(), Diagnostic> {
    let (server, competition) = parse_target(args)?;
    let token = files::token()?;
    if let Some(host) = server.strip_prefix("http://")
        && !["127.", "localhost", "[::1]"].iter().any(|own| host.starts_with(own))
    {
        output::note("note: http does not protect your token; use https if the server supports it");
    }
    let client = Client::new(&server, token);
    let (file, content) = files::zip_bot(&args.path)?;
    let bot = match (&args.bot, &args.version_of) {
        (Some(bot), _) => Some(*bot),
        (None, Some(name)) => Some(find_bot_by_name(&client, &competition, name)?),
        (None, None) => None,
    };
    let stem = file.rsplit_once('.').map_or(&*file, |(stem, _)| stem);
    let mut form = Form::new(&file, &content).text("class", args.class.as_deref());
    for mark in &args.mark {
        form = form.text("mark", Some(mark));
    }
    let path = if let Some(bot) = bot {
        format!("competitions/{competition}/bots/{bot}/versions")
    } else {
        // Without a name, the bot's own is used, if it has one.
        form = match args.name.as_deref() {
            Some(name) => form.text("name", Some(name)),
            None => form.text("default_name", Some(stem)),
        };
        form = form.text("role", args.role.as_deref());
        if let Some(team) = &args.team {
            form = form.text("team", Some(&find_team(&client, team)?));
        }
        format!("competitions/{competition}/bots")
    };
    let answer = client.post_form(&path, &form)?;
    if answer.status == 422 && answer.json["error"]["field"] == "file" {
        // A negative result: the files are rejected.
        let failure = answer.to_failure();
        if args.json {
            output::print_json("submission", answer.json)?;
            return Err(Diagnostic::already_shown());
        }
        return Err(failure.of_kind(ErrorKind::Rejected));
    }
    let mut submission = answer.success()?;
    output::note(&format!("submitted {} bytes; waiting for the check", content.len()));
    while matches!(state_of(&submission)?, SubmissionState::Queued | SubmissionState::Checking) {
        thread::sleep(POLL_INTERVAL);
        let id = submission["id"].as_str().unwrap_or_default();
        submission = client.get(&format!("submissions/{id}"))?.success()?;
    }
    print_result(args, &server, submission)
}

/// Id of the caller's team with this name.
fn find_team(client: &Client, name: &str) -> Result<String, Diagnostic> {
    let mine = client.get("me/teams")?.success()?;
    let teams = mine["teams"].as_array().map(Vec::as_slice).unwrap_or_default();
    let found = teams.iter().find(|team| {
        team["name"].as_str().is_some_and(|own| own.to_lowercase() == name.to_lowercase())
    });
    if let Some(id) = found.and_then(|team| team["id"].as_i64()) {
        return Ok(id.to_string());
    }
    let names: Vec<&str> = teams.iter().filter_map(|team| team["name"].as_str()).collect();
    let hint = match names.as_slice() {
        [] => "create a team on your account page, or omit --team".to_owned(),
        names => format!("your teams: {}", names.join(", ")),
    };
    Err(Diagnostic::wrong_use(format!("--team: you have no team `{name}`"), hint))
}

/// Prints the check result.
fn print_result(args: &Submit, server: &str, submission: Json) -> Result<(), Diagnostic> {
    let state = state_of(&submission)?;
    if args.json {
        output::print_json("submission", without_version(submission))?;
    } else {
        if let Some(checked) = check_result(&submission)? {
            output::print(&checked.text())?;
        }
        let (name, id) = (&submission["name"], submission["competition"].as_str().unwrap_or_default());
        let name = terminal_lines(name.as_str().unwrap_or_default());
        if let Some(version) = submission["version"].as_u64() {
            output::note(&format!(
                "{name} was accepted, version {version}: {server}/c/{id}/bots/{}",
                submission["bot"]
            ));
        }
    }
    match state {
        SubmissionState::Accepted => Ok(()),
        // The result is already on stdout.
        SubmissionState::Refused => Err(Diagnostic::already_shown()),
        SubmissionState::CheckFailed | SubmissionState::Queued | SubmissionState::Checking => {
            Err(Diagnostic::internal("the check failed on the server").hint("submit the bot again"))
        }
    }
}

/// The submission with the bot's version as `bot_version`: `version` is that of the document.
fn without_version(mut submission: Json) -> Json {
    if let Some(fields) = submission.as_object_mut()
        && let Some(version) = fields.remove("version")
    {
        fields.insert("bot_version".to_owned(), version);
    }
    submission
}

/// State of a submission in the server's response.
fn state_of(submission: &Json) -> Result<SubmissionState, Diagnostic> {
    let name = submission["state"].as_str().unwrap_or_default();
    SubmissionState::by_name(name).ok_or_else(|| unknown_word("state of the check", name))
}

/// The server uses a word that this version does not know.
fn unknown_word(what: &str, word: &str) -> Diagnostic {
    Diagnostic::internal(format!("the server reports an unknown {what}: `{}`", terminal_lines(word)))
        .hint("use the same version of Agon as the server")
}

/// Server address and competition id.
fn parse_target(args: &Submit) -> Result<(String, String), Diagnostic> {
    let mut server = args.server.clone();
    let mut id = args.competition.trim_end_matches('/').to_owned();
    if let Some((origin, rest)) =
        args.competition.split_once("/c/").filter(|(origin, _)| origin.contains("://"))
    {
        server.get_or_insert_with(|| origin.to_owned());
        rest.split(['/', '?', '#']).next().unwrap_or_default().clone_into(&mut id);
    }
    let server = server.unwrap_or_else(|| DEFAULT_SERVER.to_owned());
    if !server.starts_with("http://") && !server.starts_with("https://") {
        let what = format!("--server: `{server}` is not a web address");
        return Err(Diagnostic::wrong_use(what, "write it as in a browser: https://agon.example.org"));
    }
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    if id.is_empty() || !id.bytes().all(plain) {
        let hint = "use the last part of the address of its page: .../c/COMPETITION";
        return Err(Diagnostic::wrong_use(format!("`{id}` is not a competition id"), hint));
    }
    Ok((server, id))
}

/// Finds the number of one of the user's bots by name.
fn find_bot_by_name(client: &Client, competition: &str, name: &str) -> Result<i64, Diagnostic> {
    let mine = client.get("me/bots")?.success()?;
    let own: Vec<&Json> = mine["items"].as_array().into_iter().flatten().collect();
    let here = |one: &&&Json| one["competition"] == competition && one["withdrawn"] == false;
    let same =
        |one: &&&Json| one["name"].as_str().is_some_and(|own| own.to_lowercase() == name.to_lowercase());
    let found = own.iter().filter(here).find(same).and_then(|one| one["bot"].as_i64());
    found.ok_or_else(|| {
        let names: Vec<String> = own
            .iter()
            .filter(here)
            .map(|one| terminal_lines(one["name"].as_str().unwrap_or_default()))
            .collect();
        let hint = match &names[..] {
            [] => "you have no bots there yet; submit a new one with --name NAME".to_owned(),
            names => format!("you have {}", names.join(", ")),
        };
        Diagnostic::wrong_use(format!("you have no bot {name} in {competition}"), hint)
    })
}

/// Converts the report of the server to the form of `agon check`.
fn check_result(submission: &Json) -> Result<Option<CheckResult>, Diagnostic> {
    let Some(report) = submission.get("report").filter(|report| !report.is_null()) else { return Ok(None) };
    let text = |value: &Json| terminal_lines(value.as_str().unwrap_or_default());
    let finding = |one: &Json| BotRejection {
        what: text(&one["what"]),
        file: one["file"].as_str().map(terminal_lines),
        line: one["line"].as_u64().map(|line| line as u32),
        hint: text(&one["hint"]),
        trace: text(&one["trace"]).into(),
        ..BotRejection::default()
    };
    let findings = |list: &Json| list.as_array().into_iter().flatten().map(finding).collect::<Vec<_>>();
    let step = |one: &Json| -> Result<StepResult, Diagnostic> {
        let outcome = one["outcome"].as_str().unwrap_or_default();
        Ok(StepResult {
            name: ["found", "source", "loads", "plays"]
                .into_iter()
                .find(|name| one["name"] == *name)
                .unwrap_or("check"),
            outcome: StepOutcome::by_name(outcome)
                .ok_or_else(|| unknown_word("outcome of a step", outcome))?,
            says: text(&one["says"]),
            bad: findings(&one["bad"]),
            advice: findings(&one["advice"]),
        })
    };
    let steps = report["steps"].as_array().into_iter().flatten().map(step);
    Ok(Some(CheckResult {
        game: String::new(),
        bot: String::new(),
        accepted: report["accepted"] == true,
        name: report["name"].as_str().map(terminal_lines),
        hash: report["hash"].as_str().map(terminal_lines),
        steps: steps.collect::<Result<_, _>>()?,
        trials: Json::Null,
        records: Vec::new(),
        logs: Vec::new(),
        printed_lines: 0,
        says: agon_core::SelfDescription::default(),
    }))
}
