//! Random requests generated from the API description (valid, nearly valid and invalid), by all kinds of users, against a site
//! with data of every kind: every response must be described. `AGON_SOAK=1` sends many more.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::expect_used, reason = "tests fail by panicking")]

#[path = "generated/chance.rs"]
mod chance;
mod common;
#[path = "generated/mutate.rs"]
mod mutate;
#[path = "generated/schema.rs"]
mod schema;
#[path = "generated/world.rs"]
mod world;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderName, HeaderValue};
use chance::Chance;
use common::Answer;
use schema::Schemas;
use serde_json::Value;
use world::{CLIENT_NAMES, SECRET, World};

/// An operation of the description.
struct Operation<'a> {
    method: String,
    path: String,
    about: &'a Value,
}

/// A request, printed when its response is wrong.
struct SentRequest {
    operation: usize,
    who: usize,
    method: String,
    path: String,
    kind: Option<String>,
    body: Vec<u8>,
    header: Option<(&'static str, &'static str)>,
}

impl SentRequest {
    fn told(&self) -> String {
        let body: String = String::from_utf8_lossy(&self.body).chars().take(300).collect();
        let path: String = self.path.chars().take(300).collect();
        format!(
            "{} {path} by {} {:?} {:?}\n    {body}",
            self.method, CLIENT_NAMES[self.who], self.kind, self.header
        )
    }
}

fn operations(api: &Value) -> Vec<Operation<'_>> {
    let mut all = Vec::new();
    for (path, item) in api["paths"].as_object().unwrap() {
        for (method, about) in item.as_object().unwrap() {
            if matches!(method.as_str(), "get" | "put" | "post" | "patch" | "delete") {
                all.push(Operation { method: method.to_uppercase(), path: path.clone(), about });
            }
        }
    }
    all
}

/// A path with a value for each parameter.
fn path(operation: &Operation<'_>, world: &World, good: bool, chance: &mut Chance) -> String {
    let whole = world.addresses.get(operation.path.as_str()).filter(|_| good);
    if let Some(whole) = whole.filter(|_| chance.percent(80)) {
        return chance.pick(whole).clone();
    }
    let mut parts: Vec<String> = Vec::new();
    for part in operation.path.trim_start_matches('/').split('/') {
        if !part.starts_with('{') {
            parts.push(part.to_owned());
            continue;
        }
        let before = parts.last().map_or("", String::as_str);
        let word = match part {
            "{game}" if before != "games" || operation.path.contains("competitions") => "n",
            "{match}" => "matches",
            "{phase}" => "phases",
            "{n}" => "n",
            _ => before,
        };
        // A bot belongs to its competition.
        let within = parts.len().checked_sub(2).map(|at| format!("{}/{word}", parts[at]));
        let own = within.and_then(|word| world.known.get(&word));
        let known = own.or_else(|| world.known.get(word));
        let value = match known {
            Some(known) if good || chance.percent(80) => chance.pick(known).clone(),
            _ if chance.percent(3) => "x".repeat(3_000),
            _ => (*chance.pick(mutate::ODD_PARTS)).to_owned(),
        };
        parts.push(value);
    }
    format!("/{}", parts.join("/"))
}

fn query(api: &Schemas<'_>, about: &Value, good: bool, chance: &mut Chance) -> String {
    let mut words = Vec::new();
    for one in about["parameters"].as_array().into_iter().flatten().filter(|one| one["in"] == "query") {
        let name = one["name"].as_str().unwrap();
        if chance.percent(60) {
            continue;
        }
        if good || chance.percent(40) {
            let value = api.at(&one["schema"]);
            let number = value.to_string().contains("integer");
            words.push(format!(
                "{name}={}",
                if number {
                    "2"
                } else if value.to_string().contains("boolean") {
                    "true"
                } else {
                    "1"
                }
            ));
        } else {
            words.push(mutate::odd_query(name, chance));
        }
    }
    if !good && chance.percent(5) {
        words.push(mutate::odd_query("unknown", chance));
    }
    if words.is_empty() { String::new() } else { format!("?{}", words.join("&")) }
}

/// A random request for an operation.
fn ask(
    api: &Schemas<'_>,
    all: &[Operation<'_>],
    at: usize,
    world: &World,
    chance: &mut Chance,
) -> SentRequest {
    const HEADERS: &[(&str, &str)] = &[
        ("if-none-match", "*"),
        ("if-none-match", "\"x\", W/\"y\""),
        ("range", "bytes=0-1"),
        ("accept", "application/xml"),
        ("accept-encoding", "br;q=1, gzip;q=0"),
        ("origin", "https://evil.example"),
        ("sec-fetch-site", "cross-site"),
        ("authorization", "Bearer agon_nothing"),
        ("authorization", "Basic YTpi"),
        ("cookie", "agon_session=; agon_session=\"x"),
        ("x-csrf-token", "wrong"),
        ("x-forwarded-for", "not an address, 1.2.3.4"),
        ("last-event-id", "99999999999999999999"),
        ("expect", "nothing"),
    ];
    let operation = &all[at];
    let good = chance.percent(45);
    let mut asked = SentRequest {
        operation: at,
        // Organisers and authors more often, because only they may do some operations.
        who: *chance.pick(&[4, 4, 4, 2, 2, 0, 1, 2, 3, 4, 5, 6]),
        method: operation.method.clone(),
        path: path(operation, world, good, chance) + &query(api, operation.about, good, chance),
        kind: None,
        body: Vec::new(),
        header: (chance.percent(10)).then(|| *chance.pick(HEADERS)),
    };
    let content = &operation.about["requestBody"]["content"];
    if content["multipart/form-data"].is_object() {
        let name = format!("bot {}", chance.below(10_000));
        let named = !operation.path.ends_with("/versions");
        let (kind, body) = if good { mutate::good_form(&name, named) } else { mutate::form(chance, &name) };
        (asked.kind, asked.body) = (Some(kind), body);
    } else if content["application/json"].is_object() {
        let value = match mutate::known_body(operation.about["operationId"].as_str().unwrap(), chance) {
            Some(known) if chance.percent(50) => known,
            _ => api.fitting(&content["application/json"]["schema"], "", chance),
        };
        asked.kind = Some("application/json".to_owned());
        asked.body = match (good, chance.below(10)) {
            (true, _) => value.to_string().into_bytes(),
            (_, 0..6) => mutate::nearly(value, chance).to_string().into_bytes(),
            (_, 6) => {
                asked.kind = Some((*chance.pick(mutate::ODD_KINDS)).to_owned());
                value.to_string().into_bytes()
            }
            _ => mutate::no_json(&value, chance),
        };
    } else if content["application/octet-stream"].is_object() {
        asked.kind = Some("application/octet-stream".to_owned());
        asked.body = if good { mutate::WORDS.to_vec() } else { mutate::no_json(&Value::Null, chance) };
    } else if !good && chance.percent(10) {
        asked.kind = Some("application/json".to_owned());
        asked.body = b"{\"a\": 1}".to_vec();
    }
    asked
}

async fn send(world: &World, asked: &SentRequest) -> Option<Answer> {
    let client = &world.clients[asked.who];
    // An invalid URI would be rejected before it reaches the router.
    asked.path.parse::<axum::http::Uri>().ok()?;
    let mut request = client.request(&asked.method, &asked.path);
    let headers = request.headers_mut();
    if let Some((name, value)) = asked.header {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    if let Some(kind) = asked.kind.as_ref().filter(|kind| !kind.is_empty()) {
        headers.insert(CONTENT_TYPE, kind.parse().unwrap());
    }
    *request.body_mut() = Body::from(asked.body.clone());
    Some(client.ask(request).await)
}

/// Whether the request body matches the description; true if only the handler can know.
fn body_fits(api: &Schemas<'_>, about: &Value, asked: &SentRequest) -> bool {
    let content = &about["requestBody"]["content"]["application/json"];
    if !content.is_object() {
        return true;
    }
    let Ok(value) = serde_json::from_slice::<Value>(&asked.body) else { return false };
    let mut violations = Vec::new();
    api.violations(&content["schema"], &value, "", &mut violations);
    violations.is_empty()
}

/// Problems of a response.
fn wrong(
    api: &Schemas<'_>,
    about: &Value,
    asked: &SentRequest,
    answer: &Answer,
    folder: &str,
) -> Vec<String> {
    let mut found = Vec::new();
    if answer.status.is_server_error() {
        found.push("internal server error".to_owned());
    }
    let text = String::from_utf8_lossy(&answer.bytes);
    for secret in [folder, SECRET] {
        // Organisers wrote the file that contains the seed.
        let own = secret == SECRET && matches!(CLIENT_NAMES[asked.who], "organiser" | "organiser's program");
        if text.contains(secret) && !own {
            found.push(format!("it contains the secret `{secret}`"));
        }
    }
    if answer.header("x-content-type-options") != "nosniff"
        || answer.header("content-security-policy").is_empty()
    {
        found.push("security headers are missing".to_owned());
    }
    if answer.status.is_success() && !body_fits(api, about, asked) {
        found.push("an invalid body was accepted".to_owned());
    }
    let Some(response) = about["responses"].get(answer.status.as_str()) else {
        found.push("the status is not described".to_owned());
        return found;
    };
    let kind = answer.header("content-type").split(';').next().unwrap_or_default().trim().to_owned();
    let Some(content) = response["content"].as_object().filter(|content| !content.is_empty()) else {
        if !answer.bytes.is_empty() {
            found.push(format!("a body ({kind}) although none is described"));
        }
        return found;
    };
    let Some(described) = content.get(&kind) else {
        found.push(format!("it is {kind:?}; {:?} is described", content.keys().collect::<Vec<_>>()));
        return found;
    };
    if kind == "application/json" {
        match serde_json::from_slice(&answer.bytes) {
            Ok(value) => {
                let value: Value = value;
                api.violations(&described["schema"], &value, "", &mut found);
            }
            Err(error) => found.push(format!("invalid JSON: {error}")),
        }
    }
    found.truncate(5);
    found
}

/// Counts of the responses.
#[derive(Default)]
struct Count {
    requests: usize,
    by_class: BTreeMap<u16, usize>,
    done: BTreeSet<usize>,
    findings: BTreeMap<String, (usize, String)>,
}

impl Count {
    fn find(&mut self, operation: &Operation<'_>, asked: &SentRequest, answer: &Answer, wrong: Vec<String>) {
        for what in wrong {
            let body: String = String::from_utf8_lossy(&answer.bytes).chars().take(300).collect();
            // Indices of lists are replaced, so that equal problems are counted together.
            let what: String = what.split(|c: char| c.is_ascii_digit()).collect::<Vec<_>>().join("#");
            let key = format!("{} {}: {} {what}", operation.method, operation.path, answer.status.as_u16());
            let entry =
                self.findings.entry(key).or_insert_with(|| (0, format!("{}\n    -> {body}", asked.told())));
            entry.0 += 1;
        }
    }
}

async fn run(seed: u64, rounds: usize) {
    let description = serde_json::to_value(agon_server::description()).unwrap();
    let api = Schemas(&description);
    let all = operations(&description);
    let mut world = World::new().await;
    let folder = world.site.app.config.data.display().to_string();
    let mut chance = Chance::new(seed);
    let mut count = Count::default();
    let begin = Instant::now();
    // Every operation is requested equally often. The number of rounds does not depend on the speed of the machine.
    for _ in 0..rounds {
        let (mut changed, mut signs) = (false, false);
        for (at, operation) in all.iter().enumerate() {
            for _ in 0..6 {
                let asked = ask(&api, &all, at, &world, &mut chance);
                let Some(answer) = send(&world, &asked).await else { continue };
                count.requests += 1;
                *count.by_class.entry(answer.status.as_u16()).or_default() += 1;
                if answer.status.is_success() {
                    count.done.insert(asked.operation);
                    changed |= operation.method != "GET";
                    signs |= operation.method != "GET";
                }
                count.find(
                    operation,
                    &asked,
                    &answer,
                    wrong(&api, operation.about, &asked, &answer, &folder),
                );
                if std::mem::take(&mut signs) {
                    world.restore_accounts().await;
                }
            }
        }
        if changed {
            world.refresh_parameters().await;
        }
    }
    told(&count, &all, begin.elapsed());
}

fn told(count: &Count, all: &[Operation<'_>], took: Duration) {
    println!("{} requests for {} operations in {took:.1?}: {:?}", count.requests, all.len(), count.by_class);
    // These operations need a running game, a checked submission, a worker, a mail server or the code of a mail or a link, which the site
    // does not have, or numbers that random values hardly ever find; `people.rs` and `mails.rs` test the latter.
    let needless = [
        "/api/v1/challenges",
        "/api/v1/competitions/{id}/boards/{board}/watch",
        // Sessions, and keys of their seats: `play.rs` tests them.
        "/api/v1/play",
        "/api/v1/play/opponents",
        "/api/v1/play/{id}",
        "/api/v1/play/{id}/answers",
        "/api/v1/play/{id}/events",
        "/api/v1/play/{id}/seats/{seat}",
        "/api/v1/submissions/{id}/trials/{n}",
        "/api/v1/workers/{name}/drain",
        "/api/v1/mail/verify",
        "/api/v1/mail/unsubscribe/{code}",
        "/api/v1/me/mail",
        "/api/v1/password-resets",
        "/api/v1/password-resets/use",
        "/api/v1/team-links/{code}",
        "/api/v1/team-links/{code}/accept",
        "/api/v1/team-invitations/{id}",
        "/api/v1/teams/{id}",
        "/api/v1/teams/{id}/invitations",
        "/api/v1/teams/{id}/members/{account}",
        "/api/v1/teams/{id}/owner",
        "/api/v1/me/webhooks/{id}",
        "/api/v1/me/webhooks/{id}/enable",
        "/api/v1/me/webhooks/{id}/test",
        "/api/v1/comments/{id}",
        "/api/v1/comments/{id}/reports",
        "/api/v1/comments/{id}/hidden",
    ];
    let never: Vec<String> = all
        .iter()
        .enumerate()
        .filter(|(at, one)| !count.done.contains(at) && !needless.contains(&one.path.as_str()))
        .map(|(_, one)| format!("{} {}", one.method, one.path))
        .collect();
    let lines: Vec<String> = count
        .findings
        .iter()
        .map(|(what, (times, example))| format!("{what} ({times} times)\n    {example}"))
        .collect();
    assert!(lines.is_empty(), "{} findings\n{}", lines.len(), lines.join("\n"));
    assert_eq!(never, Vec::<String>::new(), "these operations never succeeded");
}

fn soaks() -> bool {
    std::env::var_os("AGON_SOAK").is_some()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_response_to_random_requests_is_described() {
    run(20_261_115, if soaks() { 1_000 } else { 60 }).await;
}
