//! The OpenAPI document: `/api/openapi.json`.

use utoipa::openapi::path::{Operation, ParameterIn, PathItem};
use utoipa::openapi::security::{
    ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme,
};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    Content, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, Ref, RefOr, Response, ResponseBuilder,
    Server,
};

const TAGS: [(&str, &str); 14] = [
    ("site", "The site and the signed-in user"),
    ("accounts", "Accounts, passwords, API tokens, invitations"),
    ("people", "Profiles, teams, notifications, webhooks, comments, search"),
    ("games", "The games: rules, bot APIs, starters"),
    ("competitions", "Competitions, their phases, tables and matches"),
    ("live", "Live games: server-sent events"),
    ("play", "Games that persons play in the browser"),
    ("bots", "Bots: their pages, faults, output and repro bundles"),
    ("submissions", "Submitting bots"),
    ("practice", "Practice ladders and challenges"),
    ("played", "Games outside of competitions: of persons, of challenges, of practice ladders"),
    ("sharing", "Pictures, GIFs and embedding for other sites"),
    ("desk", "For organisers: creating and running competitions"),
    ("audit", "For organisers: the audit log"),
];

/// The parts of the document that hold for the whole API, before the routes are added.
pub fn base() -> OpenApi {
    let about = "The API that the pages of an Agon server use. Times are milliseconds since 1970 (UTC); fields ending in `_us` are microseconds. \
        Phases, stages, matches and games are numbered from 1. Every error has a body of type `ErrorBody`, with a stable `code`. \
        Lists are paged: send `next` of a page as `after` of the next request. Requests that change something need \
        the session cookie and its CSRF token in `X-CSRF-Token`, or an API token.";
    OpenApiBuilder::new()
        .info(
            InfoBuilder::new()
                .title("Agon")
                .version(env!("CARGO_PKG_VERSION"))
                .description(Some(about))
                .license(Some(LicenseBuilder::new().name("MIT").identifier(Some("MIT")).build()))
                .build(),
        )
        .servers(Some([Server::new("/")]))
        .tags(Some(TAGS.map(|(name, about)| TagBuilder::new().name(name).description(Some(about)).build())))
        .build()
}

/// Adds to every operation what the middleware does: the ways to authenticate, and the error responses.
pub fn add_common_responses(mut api: OpenApi) -> OpenApi {
    let components = api.components.get_or_insert_default();
    let key = |name: &str, about: &str| ApiKeyValue::with_description(name, about);
    components.add_security_scheme(
        "session",
        SecurityScheme::ApiKey(ApiKey::Cookie(key(
            "agon_session",
            "Session cookie (`__Host-agon_session` with TLS).",
        ))),
    );
    components.add_security_scheme(
        "csrf",
        SecurityScheme::ApiKey(ApiKey::Header(key("X-CSRF-Token", "`csrf` of GET /api/v1/site."))),
    );
    components.add_security_scheme(
        "token",
        SecurityScheme::Http(
            HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some("An API token.")).build(),
        ),
    );
    for (path, item) in &mut api.paths.paths {
        for (method, operation) in operations(item) {
            describe_middleware(path, method, operation);
        }
    }
    api
}

/// The operations of a path, each with its method.
fn operations(item: &mut PathItem) -> impl Iterator<Item = (&'static str, &mut Operation)> {
    [
        ("get", &mut item.get),
        ("put", &mut item.put),
        ("post", &mut item.post),
        ("delete", &mut item.delete),
        ("patch", &mut item.patch),
    ]
    .into_iter()
    .filter_map(|(method, operation)| operation.as_mut().map(|operation| (method, operation)))
}

fn describe_middleware(path: &str, method: &str, operation: &mut Operation) {
    let requirement = |name: &str| SecurityRequirement::new(name, Vec::<String>::new());
    let anonymous = SecurityRequirement::default();
    let is_sign_in_or_up = method == "post" && matches!(path, "/api/v1/session" | "/api/v1/accounts");
    // A person may play without an account, with the key of the seat.
    let is_play = path == "/api/v1/play" || path.starts_with("/api/v1/play/");
    operation.security = Some(if is_play && method != "get" {
        let session = requirement("session").add("csrf", Vec::<String>::new());
        vec![anonymous, session, requirement("token")]
    } else if method == "get" {
        vec![anonymous, requirement("session"), requirement("token")]
    } else if is_sign_in_or_up {
        vec![anonymous]
    } else {
        vec![requirement("session").add("csrf", Vec::<String>::new()), requirement("token")]
    });
    let mut add = |status: &str, about: &str| {
        operation
            .responses
            .responses
            .entry(status.to_owned())
            .or_insert_with(|| RefOr::T(error_response(about)));
    };
    add(
        "401",
        "The caller is not signed in (required for every request on a private site), or the API token is invalid.",
    );
    add("500", "Internal error.");
    add("503", "The server is busy, or the request took too long. `Retry-After` gives the delay.");
    if method != "get" {
        add(
            "403",
            "The caller does not have permission, the request comes from another site's page, or the CSRF token is missing.",
        );
        add("429", "Rate limit exceeded. `Retry-After` gives the delay.");
    }
    let has = |place: ParameterIn, operation: &Operation| {
        operation
            .parameters
            .iter()
            .flatten()
            .any(|one| matches!(one, RefOr::T(one) if one.parameter_in == place))
    };
    let (in_path, in_query) = (has(ParameterIn::Path, operation), has(ParameterIn::Query, operation));
    let body = operation.request_body.is_some();
    let mut add = |status: &str, about: &str| {
        operation
            .responses
            .responses
            .entry(status.to_owned())
            .or_insert_with(|| RefOr::T(error_response(about)));
    };
    if in_path {
        add("404", "It does not exist, or the caller may not see it.");
    }
    if in_query || body {
        add("422", "A field of the request is invalid: `field` names it.");
    }
    if body {
        add("400", "The body cannot be read.");
        add("413", "The body is too long.");
        add("415", "The body has the wrong content type.");
    }
}

fn error_response(about: &str) -> Response {
    let schema = RefOr::Ref(Ref::from_schema_name("ErrorBody"));
    ResponseBuilder::new().description(about).content("application/json", Content::new(Some(schema))).build()
}
