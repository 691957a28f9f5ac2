//! Where a request comes from.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::http::{Extensions, HeaderMap};

/// The other end of the connection.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub SocketAddr);

/// Who asks: the connection's other end, or what the proxies that are believed say of it. Each of them puts one address to the right of
/// the list, so the one that counts is as far from the right as there are proxies; what stands left of it anybody could have written.
pub fn address(proxies: usize, headers: &HeaderMap, extensions: &Extensions) -> IpAddr {
    let peer = extensions.get::<Peer>().map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |peer| peer.0.ip());
    if proxies == 0 {
        return peer;
    }
    let said: Vec<&str> = headers
        .get_all("x-forwarded-for")
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .collect();
    said.len().checked_sub(proxies).and_then(|at| ip(said.get(at)?)).unwrap_or(peer)
}

/// Some proxies write the port too.
fn ip(text: &str) -> Option<IpAddr> {
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    bare.parse().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|at| at.ip()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(proxies: usize, said: &[&str]) -> String {
        let (mut headers, mut extensions) = (HeaderMap::new(), Extensions::new());
        for value in said {
            headers.append("x-forwarded-for", value.parse().unwrap());
        }
        extensions.insert(Peer("10.0.0.1:5".parse().unwrap()));
        address(proxies, &headers, &extensions).to_string()
    }

    #[test]
    fn only_as_many_proxies_are_believed_as_there_are() {
        assert_eq!(from(0, &["1.1.1.1"]), "10.0.0.1");
        assert_eq!(from(1, &[]), "10.0.0.1");
        assert_eq!(
            from(1, &["6.6.6.6, 1.1.1.1"]),
            "1.1.1.1",
            "what is further left is the client's own word"
        );
        assert_eq!(from(2, &["6.6.6.6", "1.1.1.1, 10.0.0.2"]), "1.1.1.1");
        assert_eq!(from(2, &["1.1.1.1"]), "10.0.0.1", "not through both");
        assert_eq!(from(1, &["nonsense"]), "10.0.0.1");
        assert_eq!(from(1, &["[2001:db8::1]:443"]), "2001:db8::1");
        assert_eq!(from(1, &["192.0.2.7:443"]), "192.0.2.7");
    }
}
