//! Checks that a request that changes something comes from the site's own pages, or from no page at all.

use axum::http::{HeaderMap, StatusCode, header};

use crate::config::Config;
use crate::error::{ApiError, ApiResult};

/// Rejects a request that a browser sends for a page of another site. Programs send neither header.
pub fn check(config: &Config, headers: &HeaderMap) -> ApiResult<()> {
    let foreign = || {
        ApiError::new(StatusCode::FORBIDDEN, "cross_site", "the request comes from another site's page")
            .hint("open this site directly; if it is behind a proxy, start the server with --public-url")
    };
    if let Some(site) = headers.get("sec-fetch-site")
        && !matches!(site.as_bytes(), b"same-origin" | b"none")
    {
        return Err(foreign());
    }
    let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
    let origin = origin.to_str().map_err(|_| foreign())?;
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    if is_own_origin(config, origin, host) { Ok(()) } else { Err(foreign()) }
}

/// Whether the origin is the public URL, or the host the browser connected to. Another site's page cannot choose the latter.
fn is_own_origin(config: &Config, origin: &str, host: Option<&str>) -> bool {
    let ours = config.url();
    if origin.eq_ignore_ascii_case(origin_of(&ours)) {
        return true;
    }
    let Some((scheme, authority)) = origin.split_once("://") else { return false };
    matches!(scheme, "http" | "https") && host.is_some_and(|host| host.eq_ignore_ascii_case(authority))
}

/// Scheme and host of a URL.
fn origin_of(url: &str) -> &str {
    let from = url.find("://").map_or(0, |at| at + 3);
    url.get(from..).and_then(|rest| rest.find('/')).map_or(url, |end| &url[..from + end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(public: Option<&str>, sent: &[(&'static str, &str)]) -> bool {
        let mut config = Config::new("data");
        config.public_url = public.map(str::to_owned);
        let headers = sent.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        check(&config, &headers.collect()).is_ok()
    }

    #[test]
    fn check_rejects_requests_from_other_sites() {
        let host = ("host", "agon.test:8080");
        assert!(allowed(None, &[host]), "a program");
        assert!(allowed(
            None,
            &[host, ("origin", "http://agon.test:8080"), ("sec-fetch-site", "same-origin")]
        ));
        assert!(allowed(None, &[host, ("sec-fetch-site", "none")]));
        for foreign in [
            "http://evil.test",
            "null",
            "http://agon.test",
            "http://agon.test:8080.evil.test",
            "ftp://agon.test:8080",
        ] {
            assert!(!allowed(None, &[host, ("origin", foreign)]), "{foreign}");
        }
        for site in ["cross-site", "same-site", "nonsense"] {
            assert!(
                !allowed(None, &[host, ("origin", "http://agon.test:8080"), ("sec-fetch-site", site)]),
                "{site}"
            );
        }
        let public = Some("https://agon.example.org/");
        assert!(allowed(public, &[("host", "inside:1"), ("origin", "https://agon.example.org")]));
        assert!(!allowed(public, &[("host", "inside:1"), ("origin", "http://agon.example.org")]));
    }
}
