//! IP address of the client.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::http::{Extensions, HeaderMap};

/// Remote address of the TCP connection.
#[derive(Clone, Copy, Debug)]
pub struct PeerAddr(pub SocketAddr);

/// IP address of the client: the peer of the connection, or the one that trusted proxies report. Each proxy appends one address to
/// `X-Forwarded-For`, so the client's is as far from the right as there are proxies. Anything left of it can be forged by the client.
pub fn client_ip(proxies: usize, headers: &HeaderMap, extensions: &Extensions) -> IpAddr {
    let peer = extensions.get::<PeerAddr>().map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |peer| peer.0.ip());
    if proxies == 0 {
        return peer;
    }
    let forwarded: Vec<&str> = headers
        .get_all("x-forwarded-for")
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .collect();
    forwarded.len().checked_sub(proxies).and_then(|at| parse_ip(forwarded.get(at)?)).unwrap_or(peer)
}

/// Parses an address with or without a port: some proxies add it.
fn parse_ip(text: &str) -> Option<IpAddr> {
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    bare.parse().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|at| at.ip()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(proxies: usize, forwarded: &[&str]) -> String {
        let (mut headers, mut extensions) = (HeaderMap::new(), Extensions::new());
        for value in forwarded {
            headers.append("x-forwarded-for", value.parse().unwrap());
        }
        extensions.insert(PeerAddr("10.0.0.1:5".parse().unwrap()));
        client_ip(proxies, &headers, &extensions).to_string()
    }

    #[test]
    fn client_ip_trusts_only_the_configured_number_of_proxies() {
        assert_eq!(from(0, &["1.1.1.1"]), "10.0.0.1");
        assert_eq!(from(1, &[]), "10.0.0.1");
        assert_eq!(from(1, &["6.6.6.6, 1.1.1.1"]), "1.1.1.1", "addresses further left can be forged");
        assert_eq!(from(2, &["6.6.6.6", "1.1.1.1, 10.0.0.2"]), "1.1.1.1");
        assert_eq!(from(2, &["1.1.1.1"]), "10.0.0.1", "passed only one proxy");
        assert_eq!(from(1, &["nonsense"]), "10.0.0.1");
        assert_eq!(from(1, &["[2001:db8::1]:443"]), "2001:db8::1");
        assert_eq!(from(1, &["192.0.2.7:443"]), "192.0.2.7");
    }
}
