//! A site in a separate folder, and its users. Requests go to the router without a port.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a benchmark uses it too")]
#![allow(dead_code, reason = "each test uses a part of it")]

pub mod competition;

use agon_server::config::RateLimits;
use agon_server::{AppState, Config, router};
use agon_site_db::{Account, NewAccount, NewSession, NewToken, Role, SecretString, SignUpGrant, token_hash};
use agon_store::Timestamp;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use serde_json::{Value, json};
use tempfile::TempDir;
use tower::ServiceExt as _;

/// A valid password.
pub const PASSWORD: &str = "a good long password";

/// A hash without a password.
const NO_PASSWORD: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// A test site.
pub struct Site {
    pub app: AppState,
    pub router: Router,
    pub folder: TempDir,
}

impl Site {
    /// A public site with very high limits.
    pub async fn new() -> Self {
        Self::with(|config| {
            config.limits = RateLimits::generous();
            config.sign_up = agon_server::SignUp::Open;
        })
        .await
    }

    /// A site with a changed configuration.
    pub async fn with(change: impl FnOnce(&mut Config)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::new(folder.path().join("data"));
        change(&mut config);
        let app = AppState::open(config).await.unwrap();
        Self { router: router(app.clone()), app, folder }
    }

    /// Creates an account without a usable password, because hashing is slow.
    pub async fn account(&self, name: &str, role: Role) -> Account {
        let new = NewAccount {
            name: name.to_owned(),
            password_hash: SecretString::new(NO_PASSWORD),
            grant: SignUpGrant::Open(role),
            at: Timestamp::now(),
        };
        self.app.site_db.create_account(&new).await.unwrap()
    }

    /// Creates an account and signs in.
    pub async fn person(&self, name: &str, role: Role) -> Client {
        let account = self.account(name, role).await;
        self.signed_in(&account).await
    }

    /// Signs in from another browser.
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
        self.app.site_db.create_session(&session).await.unwrap();
        let mut client = self.anonymous();
        client.cookie = Some(format!("agon_session={}", token.replace(' ', "-")));
        client.csrf = Some(csrf);
        client.id = account.id.0;
        client
    }

    /// A client with an API token of this account.
    pub async fn program(&self, account: &Account) -> Client {
        let text = format!("agon_token-of-{}", account.name);
        let new = NewToken {
            account: account.id,
            label: "tests".to_owned(),
            token: token_hash(&text),
            expires: None,
            at: Timestamp::now(),
        };
        self.app.site_db.create_token(&new).await.unwrap();
        let mut client = self.anonymous();
        client.token = Some(text);
        client.id = account.id.0;
        client
    }

    /// A client that is not signed in.
    pub fn anonymous(&self) -> Client {
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

/// A client of the site.
#[derive(Clone)]
pub struct Client {
    pub router: Router,
    pub cookie: Option<String>,
    pub csrf: Option<String>,
    pub token: Option<String>,
    /// Id of the account.
    pub id: i64,
    /// Additional headers of every request.
    pub headers: HeaderMap,
}

/// A response.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub bytes: Bytes,
    /// Null if it is not JSON.
    pub json: Value,
}

impl Answer {
    /// Error code of the response.
    pub fn code(&self) -> &str {
        self.json["error"]["code"].as_str().unwrap_or_default()
    }

    /// A header, or an empty text.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

impl Client {
    /// Adds a header to every request.
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

    /// Sends a request. A path that does not begin with `/` is a path of the API.
    pub async fn send(&self, method: &str, path: &str, body: Option<Value>) -> Answer {
        let mut request = self.request(method, path);
        if let Some(body) = body {
            request.headers_mut().insert(header::CONTENT_TYPE, "application/json".parse().unwrap());
            *request.body_mut() = Body::from(body.to_string());
        }
        self.ask(request).await
    }

    /// A request with this client's headers and no body.
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
        // A stream has no end to wait for.
        let streams = parts.headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream");
        let bytes =
            if streams { Bytes::new() } else { axum::body::to_bytes(body, usize::MAX).await.unwrap() };
        let json = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        Answer { status: parts.status, headers: parts.headers, bytes, json }
    }

    /// Submits a new bot with one file.
    pub async fn submit(&self, path: &str, name: &str, content: &[u8]) -> Answer {
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

    /// Signs in with a password. The client keeps the session.
    pub async fn sign_in(&mut self, name: &str, password: &str) -> Answer {
        let answer = self.post("session", json!({"name": name, "password": password})).await;
        self.remember(&answer);
        answer
    }

    /// Signs up. The client keeps the session.
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
