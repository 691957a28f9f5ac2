//! Which network addresses webhooks may reach. Requests to the server's own network could read what only that network may see.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address belongs to the public Internet.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = matches!(
        (a, b, c),
        // This network, private, loopback.
        (0 | 10 | 127, _, _)
            // Shared address space of providers.
            | (100, 64..=127, _)
            // Link-local: metadata services of cloud machines.
            | (169, 254, _)
            // Private.
            | (172, 16..=31, _)
            | (192, 168, _)
            // Protocol assignments, documentation, relays of 6to4.
            | (192, 0, 0 | 2)
            | (192, 88, 99)
            // Benchmarks.
            | (198, 18 | 19, _)
            // Documentation.
            | (198, 51, 100)
            | (203, 0, 113)
            // Multicast, reserved, broadcast.
            | (224..=255, _, _)
    );
    !is_special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let embedded = |high: u16, low: u16| {
        let ([one, two], [three, four]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(one, two, three, four))
    };
    match (a, b, c, d, e, f) {
        // An IPv4 address in IPv6, and the translation to IPv4.
        (0, 0, 0, 0, 0, 0xffff) | (0x64, 0xff9b, 0, 0, 0, 0) => embedded(g, h),
        // 6to4.
        (0x2002, ..) => embedded(b, c),
        // Global unicast addresses without Teredo and documentation. All others are not public: unspecified, loopback, unique local,
        // link-local, multicast.
        (0x2000..=0x3fff, ..) => !matches!((a, b), (0x2001, 0 | 0x0db8)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_public_internet_are_public() {
        for public in [
            "1.1.1.1",
            "93.184.216.34",
            "2606:4700::1111",
            "::ffff:1.1.1.1",
            "64:ff9b::1.1.1.1",
            "172.32.0.1",
        ] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
        for private in [
            "127.0.0.1",
            "0.0.0.0",
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "192.0.2.1",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "fe80::1",
            "fd00::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::10.0.0.1",
            "2002:0a00:0001::",
            "2001:db8::1",
            "2001::1",
            "::127.0.0.1",
        ] {
            assert!(!is_public(private.parse().unwrap()), "{private}");
        }
    }
}
