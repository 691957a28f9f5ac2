//! The API, described: `/api/openapi.json`.

use utoipa::openapi::path::{Operation, ParameterIn, PathItem};
use utoipa::openapi::security::{
    ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme,
};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    Content, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, Ref, RefOr, Response, ResponseBuilder,
    Server,
};

const TAGS: [(&str, &str); 9] = [
    ("site", "The site, and who is signed in"),
    ("accounts", "Accounts, passwords, API tokens, invitations"),
    ("games", "The games: rules, bot APIs, starters"),
    ("competitions", "Competitions, their phases, tables and matches"),
    ("live", "What is played just now: server-sent events"),
    ("bots", "Bots: their pages, faults, logs and capsules"),
    ("submissions", "Handing bots in"),
    ("desk", "For organisers: making and running competitions"),
    ("audit", "For organisers: what was done, by whom and why"),
];

/// What holds for the whole API, before its routes are added.
pub fn frame() -> OpenApi {
    let about = "Everything the pages of an Agon server use. Times are milliseconds since 1970 (UTC), fields in `_us` microseconds; \
        phases, stages, matches and games count from 1. Every refusal has a body of the shape `ErrorBody`, with a `code` that never \
        changes its meaning. Lists come in pages: `next` of one goes into `after` of the next request. What changes something needs \
        the session's cookie and its CSRF token in `X-CSRF-Token`, or an API token.";
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

/// Adds what every operation has because it passes the gate: how one says who one is, and how the gate refuses.
pub fn finish(mut api: OpenApi) -> OpenApi {
    let components = api.components.get_or_insert_default();
    let key = |name: &str, about: &str| ApiKeyValue::with_description(name, about);
    components.add_security_scheme(
        "session",
        SecurityScheme::ApiKey(ApiKey::Cookie(key(
            "agon_session",
            "A session (`__Host-agon_session` behind TLS).",
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
            passes_the_gate(path, method, operation);
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

fn passes_the_gate(path: &str, method: &str, operation: &mut Operation) {
    let named = |name: &str| SecurityRequirement::new(name, Vec::<String>::new());
    let nobody = SecurityRequirement::default();
    let comes_in = method == "post" && matches!(path, "/api/v1/session" | "/api/v1/accounts");
    operation.security = Some(if method == "get" {
        vec![nobody, named("session"), named("token")]
    } else if comes_in {
        vec![nobody]
    } else {
        vec![named("session").add("csrf", Vec::<String>::new()), named("token")]
    });
    let mut add = |status: &str, about: &str| {
        operation.responses.responses.entry(status.to_owned()).or_insert_with(|| RefOr::T(refusal(about)));
    };
    add(
        "401",
        "Nobody is signed in (on a private site every request needs it), or the API token is no good.",
    );
    add("500", "Something broke.");
    add("503", "Not now: too many at once, or it took too long. `Retry-After` says when.");
    if method != "get" {
        add(
            "403",
            "It is not for the caller, another site's page asked for it, or the CSRF token is missing.",
        );
        add("429", "Too often. `Retry-After` says when.");
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
        operation.responses.responses.entry(status.to_owned()).or_insert_with(|| RefOr::T(refusal(about)));
    };
    if in_path {
        add("404", "There is no such thing, or not for the caller.");
    }
    if in_query || body {
        add("422", "A field of the request is wrong: `field` says which.");
    }
    if body {
        add("400", "The body cannot be read.");
        add("413", "The body is too long.");
        add("415", "The body is of another type.");
    }
}

fn refusal(about: &str) -> Response {
    let schema = RefOr::Ref(Ref::from_schema_name("ErrorBody"));
    ResponseBuilder::new().description(about).content("application/json", Content::new(Some(schema))).build()
}
