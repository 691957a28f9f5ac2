//! HTTP client for a server's API.

use std::time::Duration;

use agon_bots::error::Diagnostic;
use agon_core::ErrorKind;
use agon_core::sanitize::terminal_lines;
use serde_json::Value as Json;

/// Maximum duration of a request.
const HTTP_TIMEOUT: Duration = Duration::from_mins(5);
/// Maximum size of a response in bytes.
const MAX_RESPONSE_BYTES: u64 = 16 << 20;

/// A server and the user's token.
pub struct Client {
    agent: ureq::Agent,
    /// Such as `https://agon.example.org`.
    server: String,
    token: String,
}

/// A response of the server.
pub struct ApiResponse {
    pub status: u16,
    pub json: Json,
}

impl Client {
    pub fn new(server: &str, token: String) -> Self {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(HTTP_TIMEOUT))
            // No redirects: the token must not be sent to another server.
            .max_redirects(0)
            .user_agent(concat!("agon/", env!("CARGO_PKG_VERSION")))
            .build();
        Self { agent: config.into(), server: server.trim_end_matches('/').to_owned(), token }
    }

    pub fn get(&self, path: &str) -> Result<ApiResponse, Diagnostic> {
        let request = self.agent.get(self.address(path)).header("Authorization", self.bearer());
        self.answer(request.call())
    }

    /// Sends a form.
    pub fn post_form(&self, path: &str, form: &Form) -> Result<ApiResponse, Diagnostic> {
        let request = self
            .agent
            .post(self.address(path))
            .header("Authorization", self.bearer())
            .header("Content-Type", form.content_type());
        self.answer(request.send(&form.body()[..]))
    }

    fn address(&self, path: &str) -> String {
        format!("{}/api/v1/{path}", self.server)
    }

    fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }

    fn answer(
        &self,
        got: Result<ureq::http::Response<ureq::Body>, ureq::Error>,
    ) -> Result<ApiResponse, Diagnostic> {
        let mut response = got.map_err(|error| {
            let hint = "check that the server is running and that --server is its address";
            Diagnostic::internal(error).about(&self.server).hint(hint)
        })?;
        let status = response.status().as_u16();
        let bytes = response.body_mut().with_config().limit(MAX_RESPONSE_BYTES).read_to_vec();
        let bytes = bytes.map_err(|error| self.unexpected_response(&error.to_string()))?;
        let json = serde_json::from_slice(&bytes).unwrap_or(Json::Null);
        if json.is_null() && !(200..300).contains(&status) {
            return Err(
                self.unexpected_response(&format!("it responds with {status}, but not like an Agon server"))
            );
        }
        Ok(ApiResponse { status, json })
    }

    fn unexpected_response(&self, what: &str) -> Diagnostic {
        let hint = "check that this is the address of an Agon server";
        Diagnostic::internal(what).about(&self.server).hint(hint)
    }
}

impl ApiResponse {
    /// The content of a successful response, or the server's error.
    pub fn success(self) -> Result<Json, Diagnostic> {
        if (200..300).contains(&self.status) {
            return Ok(self.json);
        }
        Err(self.to_failure())
    }

    /// The server's error.
    pub fn to_failure(&self) -> Diagnostic {
        let error = &self.json["error"];
        let message = terminal_lines(error["message"].as_str().unwrap_or("the server rejected the request"));
        let hint = terminal_lines(error["hint"].as_str().unwrap_or_default());
        Diagnostic::new(ErrorKind::usage_if(self.status < 500), message).hint(hint)
    }
}

/// A form with text fields and a file.
pub struct Form {
    boundary: String,
    bytes: Vec<u8>,
}

impl Form {
    pub fn new(file: &str, content: &[u8]) -> Self {
        // The boundary must not occur in the content.
        let mut boundary = "agon-form-boundary".to_owned();
        while content.windows(boundary.len()).any(|part| part == boundary.as_bytes()) {
            boundary.push('x');
        }
        let mut form = Self { boundary, bytes: Vec::new() };
        let plain = |c: char| if c == '"' || c == '\\' || c.is_control() { '_' } else { c };
        let file: String = file.chars().map(plain).collect();
        form.part(&format!("name=\"file\"; filename=\"{file}\""), content);
        form
    }

    /// Adds a text field, if there is a value.
    pub fn text(mut self, name: &str, value: Option<&str>) -> Self {
        if let Some(value) = value {
            self.part(&format!("name=\"{name}\""), value.as_bytes());
        }
        self
    }

    fn part(&mut self, head: &str, content: &[u8]) {
        let head = format!("--{}\r\nContent-Disposition: form-data; {head}\r\n\r\n", self.boundary);
        self.bytes.extend_from_slice(head.as_bytes());
        self.bytes.extend_from_slice(content);
        self.bytes.extend_from_slice(b"\r\n");
    }

    fn content_type(&self) -> String {
        format!("multipart/form-data; boundary={}", self.boundary)
    }

    fn body(&self) -> Vec<u8> {
        let mut body = self.bytes.clone();
        body.extend_from_slice(format!("--{}--\r\n", self.boundary).as_bytes());
        body
    }
}
