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

/// How many addresses are counted together. One client usually has one IPv4 address, or one IPv6 /64. Who can use many addresses mostly
/// has them in one network, so wider networks are limited too.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum NetworkWidth {
    /// One IPv4 address, or one IPv6 /64.
    Host,
    /// An IPv4 /24, or an IPv6 /48: an organisation.
    Site,
    /// An IPv4 /16, or an IPv6 /32: a provider.
    Provider,
}

impl NetworkWidth {
    /// All widths, the narrowest first.
    pub const ALL: [Self; 3] = [Self::Host, Self::Site, Self::Provider];

    /// How many times the limit of one host the network has.
    pub const fn factor(self) -> u32 {
        match self {
            Self::Host => 1,
            Self::Site => 4,
            Self::Provider => 16,
        }
    }

    /// The first address of the network that contains an address.
    pub fn network(self, address: IpAddr) -> IpAddr {
        let (v4_bits, v6_bits) = match self {
            Self::Host => (32, 64),
            Self::Site => (24, 48),
            Self::Provider => (16, 32),
        };
        match address.to_canonical() {
            IpAddr::V4(whole) => IpAddr::V4((u32::from(whole) & (u32::MAX << (32 - v4_bits))).into()),
            IpAddr::V6(whole) => IpAddr::V6((u128::from(whole) & (u128::MAX << (128 - v6_bits))).into()),
        }
    }
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
    fn networks_contain_the_addresses_that_one_client_can_use() {
        let network = |width: NetworkWidth, text: &str| width.network(text.parse().unwrap()).to_string();
        assert_eq!(network(NetworkWidth::Host, "2001:db8:1:2:3::1"), "2001:db8:1:2::");
        assert_eq!(network(NetworkWidth::Site, "2001:db8:1:2:3::1"), "2001:db8:1::");
        assert_eq!(network(NetworkWidth::Provider, "2001:db8:1:2:3::1"), "2001:db8::");
        assert_eq!(network(NetworkWidth::Host, "::ffff:192.0.2.7"), "192.0.2.7");
        assert_eq!(network(NetworkWidth::Site, "192.0.2.7"), "192.0.2.0");
        assert_eq!(network(NetworkWidth::Provider, "192.0.2.7"), "192.0.0.0");
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
