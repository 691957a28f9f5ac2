//! A site in a folder of its own, and people who use it: requests go to the router, no port is needed.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a benchmark uses it too")]
#![allow(dead_code, reason = "each test uses its part")]

pub mod cup;

use agon_server::config::Limits;
use agon_server::{AppState, Config, router};
use agon_site_db::{Account, NewAccount, NewSession, NewToken, Role, SecretString, SignUpGrant, token_hash};
use agon_store::Timestamp;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use serde_json::{Value, json};
use tempfile::TempDir;
use tower::ServiceExt as _;

/// A password that fits the rules.
pub const PASSWORD: &str = "a good long password";

/// The hash of no password.
const NO_PASSWORD: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// A site.
pub struct Site {
    pub app: AppState,
    pub router: Router,
    pub folder: TempDir,
}

impl Site {
    /// Open to all, with no limits to speak of.
    pub async fn new() -> Self {
        Self::with(|config| {
            config.limits = Limits::generous();
            config.sign_up = agon_server::SignUp::Open;
        })
        .await
    }

    /// Set up otherwise.
    pub async fn with(change: impl FnOnce(&mut Config)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::new(folder.path().join("data"));
        change(&mut config);
        let app = AppState::open(config).await.unwrap();
        Self { router: router(app.clone()), app, folder }
    }

    /// An account without a password that works: nothing slow is hashed for it.
    pub async fn account(&self, name: &str, role: Role) -> Account {
        let new = NewAccount {
            name: name.to_owned(),
            password_hash: SecretString::new(NO_PASSWORD),
            grant: SignUpGrant::Open(role),
            at: Timestamp::now(),
        };
        self.app.office.create_account(&new).await.unwrap()
    }

    /// Somebody new who is signed in.
    pub async fn person(&self, name: &str, role: Role) -> Client {
        let account = self.account(name, role).await;
        self.signed_in(&account).await
    }

    /// Somebody who is signed in from another browser.
    pub async fn signed_in(&self, account: &Account) -> Client {
        let (token, csrf) = (
            format!("session of {} {:?}", account.name, Timestamp::now()),
            format!("csrf of {}", account.name),
        );
        let session = NewSession {
            token: token_hash(&token.replace(' ', "-")),
            account: account.id,
            csrf: SecretString::new(csrf.clone()),
            agent: "tests".to_owned(),
            at: Timestamp::now(),
        };
        self.app.office.create_session(&session).await.unwrap();
        let mut client = self.nobody();
        client.cookie = Some(format!("agon_session={}", token.replace(' ', "-")));
        client.csrf = Some(csrf);
        client.id = account.id.0;
        client
    }

    /// A program with a token of this account.
    pub async fn program(&self, account: &Account) -> Client {
        let text = format!("agon_token-of-{}", account.name);
        let new = NewToken {
            account: account.id,
            label: "tests".to_owned(),
            token: token_hash(&text),
            expires: None,
            at: Timestamp::now(),
        };
        self.app.office.create_token(&new).await.unwrap();
        let mut client = self.nobody();
        client.token = Some(text);
        client.id = account.id.0;
        client
    }

    /// Somebody who is not signed in.
    pub fn nobody(&self) -> Client {
        Client {
            router: self.router.clone(),
            cookie: None,
            csrf: None,
            token: None,
            id: 0,
            headers: HeaderMap::new(),
        }
    }
}

/// Somebody who uses a site.
#[derive(Clone)]
pub struct Client {
    pub router: Router,
    pub cookie: Option<String>,
    pub csrf: Option<String>,
    pub token: Option<String>,
    /// The account's number.
    pub id: i64,
    /// What every request carries besides.
    pub headers: HeaderMap,
}

/// What came back.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub bytes: Bytes,
    /// Null if it is no JSON.
    pub json: Value,
}

impl Answer {
    /// The refusal's code.
    pub fn code(&self) -> &str {
        self.json["error"]["code"].as_str().unwrap_or_default()
    }

    /// A header, or nothing.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

impl Client {
    /// With a header that every request carries.
    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.insert(name, value.parse().unwrap());
        self
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, None).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.send("POST", path, Some(body)).await
    }

    pub async fn put(&self, path: &str, body: Value) -> Answer {
        self.send("PUT", path, Some(body)).await
    }

    pub async fn patch(&self, path: &str, body: Value) -> Answer {
        self.send("PATCH", path, Some(body)).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.send("DELETE", path, None).await
    }

    /// Any request; a path that does not begin with `/` is one of the API.
    pub async fn send(&self, method: &str, path: &str, body: Option<Value>) -> Answer {
        let mut request = self.request(method, path);
        if let Some(body) = body {
            request.headers_mut().insert(header::CONTENT_TYPE, "application/json".parse().unwrap());
            *request.body_mut() = Body::from(body.to_string());
        }
        self.ask(request).await
    }

    /// A request with what this client carries, and no body.
    pub fn request(&self, method: &str, path: &str) -> Request<Body> {
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/api/v1/{path}") };
        let method: Method = method.parse().unwrap();
        let mut request = Request::new(Body::empty());
        *request.uri_mut() = path.parse().unwrap();
        let headers = request.headers_mut();
        headers.extend(self.headers.clone());
        let mut put = |name: &'static str, value: &Option<String>| {
            if let Some(value) = value {
                headers.insert(name, value.parse().unwrap());
            }
        };
        put("cookie", &self.cookie);
        put("authorization", &self.token.as_ref().map(|token| format!("Bearer {token}")));
        if !method.is_safe() {
            put("x-csrf-token", &self.csrf);
        }
        *request.method_mut() = method;
        request
    }

    pub async fn ask(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        // A stream has no end that could be waited for.
        let streams = parts.headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream");
        let bytes =
            if streams { Bytes::new() } else { axum::body::to_bytes(body, usize::MAX).await.unwrap() };
        let json = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        Answer { status: parts.status, headers: parts.headers, bytes, json }
    }

    /// Hands a new bot in, one file.
    pub async fn hand_in(&self, path: &str, name: &str, content: &[u8]) -> Answer {
        let part = |head: &str| format!("--a-boundary\r\nContent-Disposition: form-data; {head}\r\n\r\n");
        let mut body = format!("{}{name}\r\n", part("name=\"name\"")).into_bytes();
        body.extend_from_slice(part(&format!("name=\"file\"; filename=\"{name}.py\"")).as_bytes());
        body.extend_from_slice(content);
        body.extend_from_slice(b"\r\n--a-boundary--\r\n");
        let mut request = self.request("POST", path);
        let kind = "multipart/form-data; boundary=a-boundary";
        request.headers_mut().insert(header::CONTENT_TYPE, kind.parse().unwrap());
        *request.body_mut() = Body::from(body);
        self.ask(request).await
    }

    /// Signs in with a password; the client is that somebody from then on.
    pub async fn sign_in(&mut self, name: &str, password: &str) -> Answer {
        let answer = self.post("session", json!({"name": name, "password": password})).await;
        self.remember(&answer);
        answer
    }

    /// Signs up; the client is that somebody from then on.
    pub async fn sign_up(&mut self, name: &str, invitation: Option<&str>) -> Answer {
        let body = json!({"name": name, "password": PASSWORD, "invitation": invitation});
        let answer = self.post("accounts", body).await;
        self.remember(&answer);
        answer
    }

    fn remember(&mut self, answer: &Answer) {
        if !answer.status.is_success() {
            return;
        }
        self.cookie = answer.header("set-cookie").split(';').next().map(str::to_owned);
        self.csrf = answer.json["csrf"].as_str().map(str::to_owned);
        self.id = answer.json["me"]["id"].as_i64().unwrap_or_default();
    }
}
