//! Limits of sign-ins: they stop guessing from one address, from many and from IPv6 networks, and never lock out a person who knows the
//! password.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::time::{Duration, Instant};

use agon_server::SignUp;
use agon_server::config::{Rate, RateLimits};
use common::{Client, PASSWORD, Site};
use serde_json::json;

const WRONG: &str = "wrong wrong wrong";
/// Where the owner of the account has signed in before.
const HOME: &str = "192.0.2.1";
/// Where the owner has never been.
const HOTEL: &str = "203.0.113.9";

/// A rate whose bucket does not refill during a test.
const fn burst(burst: u32) -> Rate {
    Rate { burst, every: Duration::from_hours(1_000) }
}

/// A site with one account, created at [`HOME`].
async fn site(limits: RateLimits) -> (Site, Client) {
    let site = Site::with(|config| {
        config.limits = limits;
        config.sign_up = SignUp::Open;
        config.proxies = 1;
    })
    .await;
    let mut owner = from(&site, HOME);
    let answer = owner.sign_up("Organiser", None).await;
    assert_eq!(answer.status, 201, "{}", answer.json);
    let cookies: Vec<&str> =
        answer.headers.get_all("set-cookie").iter().map(|one| one.to_str().unwrap()).collect();
    let browser = cookies.iter().find(|cookie| cookie.starts_with("agon_browser=")).unwrap();
    for part in ["; HttpOnly", "; SameSite=Lax", "; Path=/"] {
        assert!(browser.contains(part), "{browser}");
    }
    // Signed out: only the mark of the browser is left.
    owner.cookie = browser.split(';').next().map(str::to_owned);
    (site, owner)
}

fn from(site: &Site, address: &str) -> Client {
    site.anonymous().header("x-forwarded-for", address)
}

async fn status(client: &Client, name: &str, password: &str) -> u16 {
    client.post("session", json!({"name": name, "password": password})).await.status.as_u16()
}

/// Guesses from an address. Returns how many were checked before one was refused.
async fn guesses(site: &Site, address: &str, most: usize) -> usize {
    for count in 0..most {
        match status(&from(site, address), "Organiser", WRONG).await {
            401 => {}
            429 => return count,
            other => panic!("{other}"),
        }
    }
    most
}

#[tokio::test]
async fn six_wrong_sign_ins_from_another_address_do_not_lock_out_the_owner() {
    let (site, browser) = site(RateLimits::default()).await;
    assert_eq!(guesses(&site, "198.51.100.7", 6).await, 5);
    for address in [HOTEL, HOME] {
        assert_eq!(status(&from(&site, address), "Organiser", PASSWORD).await, 200, "from {address}");
    }
    assert_eq!(status(&browser, "Organiser", PASSWORD).await, 200);
    let refused = from(&site, "198.51.100.7").sign_in("organiser", PASSWORD).await;
    assert_eq!((refused.status.as_u16(), refused.code()), (429, "too_often"));
    let wait: u64 = refused.header("retry-after").parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    assert!(refused.json["error"]["hint"].as_str().unwrap().contains("signed in before"), "{}", refused.json);
}

#[tokio::test]
async fn guesses_from_many_addresses_do_not_lock_out_the_owner() {
    let limits = RateLimits { sign_in_account: burst(3), ..RateLimits::default() };
    let (site, browser) = site(limits).await;
    let mut checked = 0;
    for number in 0..12 {
        checked += guesses(&site, &format!("198.{number}.100.7"), 2).await;
    }
    // Three use up the limit of the account: two of the first address, and one of the second. Then each address has one.
    assert_eq!(checked, 3 + 11, "guesses of 12 addresses");
    assert_eq!(status(&from(&site, HOTEL), "Organiser", PASSWORD).await, 200, "from a new address");
    assert_eq!(status(&from(&site, HOME), "Organiser", PASSWORD).await, 200, "from a known address");
    let at_an_attacker = browser.header("x-forwarded-for", "198.0.100.7");
    assert_eq!(status(&at_an_attacker, "Organiser", PASSWORD).await, 200, "with a known browser");
}

#[tokio::test]
async fn without_the_first_attempt_of_an_address_strangers_would_be_locked_out() {
    let limits = RateLimits { sign_in_account: burst(3), sign_in_first: burst(0), ..RateLimits::default() };
    let (site, browser) = site(limits).await;
    assert_eq!(guesses(&site, "198.51.100.7", 4).await, 3);
    assert_eq!(status(&from(&site, HOTEL), "Organiser", PASSWORD).await, 429, "the defence is off");
    assert_eq!(status(&from(&site, HOME), "Organiser", PASSWORD).await, 200, "a known address");
    let at_the_hotel = browser.header("x-forwarded-for", HOTEL);
    assert_eq!(status(&at_the_hotel, "Organiser", PASSWORD).await, 200, "a known browser");
    // The hotel is known now.
    assert_eq!(status(&from(&site, HOTEL), "Organiser", PASSWORD).await, 200);
}

#[tokio::test]
async fn ipv6_networks_are_limited_as_a_whole() {
    let limits = RateLimits {
        sign_in_pair: burst(2),
        sign_in_address: burst(1_000),
        sign_in_account: burst(1_000),
        ..RateLimits::default()
    };
    let (site, _) = site(limits).await;
    assert_eq!(guesses(&site, "2001:db8:1:1::1", 9).await, 2);
    assert_eq!(guesses(&site, "2001:db8:1:1:ffff::2", 9).await, 0, "the same /64");
    let mut checked = 2;
    for subnet in 2..16 {
        checked += guesses(&site, &format!("2001:db8:1:{subnet}::1"), 1).await;
    }
    assert_eq!(checked, 8, "one /48 has four times the limit of a /64");
    for network in 2..32 {
        checked += guesses(&site, &format!("2001:db8:{network}::1"), 1).await;
    }
    assert_eq!(checked, 32, "one /32 has sixteen times the limit of a /64");
    assert_eq!(status(&from(&site, "2001:db9::1"), "Organiser", PASSWORD).await, 200, "another provider");
}

#[tokio::test]
async fn one_address_cannot_guess_many_accounts() {
    let limits = RateLimits { sign_in_address: burst(4), ..RateLimits::default() };
    let (site, _) = site(limits).await;
    for name in ["a", "b", "c", "d"] {
        assert_eq!(status(&from(&site, "192.0.2.5"), name, WRONG).await, 401);
    }
    assert_eq!(status(&from(&site, "192.0.2.5"), "e", WRONG).await, 429);
    assert_eq!(
        status(&from(&site, "6.6.6.6, 192.0.2.5"), "e", WRONG).await,
        429,
        "a longer X-Forwarded-For avoids the limit"
    );
    assert_eq!(status(&from(&site, "192.0.2.6"), "e", WRONG).await, 401);
}

#[tokio::test]
async fn right_passwords_do_not_count_and_spellings_share_a_limit() {
    let limits = RateLimits {
        sign_in_pair: burst(2),
        sign_in_account: burst(2),
        sign_in_first: burst(0),
        ..RateLimits::default()
    };
    let (site, _) = site(limits).await;
    for number in 0..4 {
        let address = format!("203.0.{number}.1");
        assert_eq!(status(&from(&site, &address), "Organiser", PASSWORD).await, 200);
    }
    let spellings = ["ORGANISER", " organiser ", "Organi\u{17f}er", "\u{ff2f}rganiser"];
    let mut checked = 0;
    for (number, name) in spellings.into_iter().enumerate() {
        let code = status(&from(&site, &format!("198.{number}.0.1")), name, WRONG).await;
        checked += usize::from(code == 401);
    }
    assert_eq!(checked, 2, "each spelling of the name has a limit of its own");
}

#[tokio::test]
async fn attempt_from_a_known_address_is_delayed_and_not_refused() {
    let every = Duration::from_secs(1);
    let limits = RateLimits {
        sign_in_known_address: Rate { burst: 1, every },
        sign_in_pair: burst(0),
        ..RateLimits::default()
    };
    let (site, _) = site(limits).await;
    let (start, home) = (Instant::now(), from(&site, HOME));
    // A neighbour behind the same address guesses.
    let guess = || status(&home, "Organiser", WRONG);
    let guessed = tokio::join!(guess(), guess(), guess());
    assert_eq!(guessed, (401, 401, 401));
    assert_eq!(status(&home, "Organiser", PASSWORD).await, 200);
    assert!(start.elapsed() >= 3 * every, "{:?}: not delayed", start.elapsed());
    let text = String::from_utf8(site.anonymous().get("/metrics").await.bytes.to_vec()).unwrap();
    assert!(text.contains("agon_sign_ins_total{outcome=\"delayed\"}"), "{text}");
}

#[tokio::test]
async fn mark_of_a_browser_is_worth_nothing_for_other_accounts() {
    let limits = RateLimits { sign_in_account: burst(0), sign_in_first: burst(0), ..RateLimits::default() };
    let (site, browser) = site(limits).await;
    let mut other = from(&site, "192.0.2.77");
    assert_eq!(other.sign_up("Mallory", None).await.status, 201);
    other.cookie = browser.cookie.map(|cookie| cookie.replace("agon_browser=", "agon_browser=0"));
    assert_eq!(status(&other, "Organiser", PASSWORD).await, 429, "a forged mark");
    let answer = from(&site, "192.0.2.77").sign_in("Mallory", PASSWORD).await;
    let cookies = answer.headers.get_all("set-cookie").iter().map(|one| one.to_str().unwrap());
    let own = cookies.into_iter().find(|cookie| cookie.starts_with("agon_browser=")).unwrap();
    other.cookie = own.split(';').next().map(str::to_owned);
    assert_eq!(status(&other, "Organiser", PASSWORD).await, 429, "the mark of another account");
    assert_eq!(status(&other, "Mallory", PASSWORD).await, 200);
}

#[tokio::test]
async fn other_requests_from_an_address_do_not_use_up_its_sign_ins() {
    let limits = RateLimits { changes: burst(3), ..RateLimits::default() };
    let (site, _) = site(limits).await;
    for _ in 0..2 {
        assert_eq!(from(&site, HOME).delete("session").await.status, 200);
    }
    assert_eq!(from(&site, HOME).delete("session").await.status, 429);
    assert_eq!(status(&from(&site, HOME), "Organiser", PASSWORD).await, 200);
}

#[tokio::test]
async fn wrong_old_passwords_are_limited_by_session() {
    let limits = RateLimits { password_change: burst(2), ..RateLimits::default() };
    let (site, _) = site(limits).await;
    let (mut owner, mut thief) = (from(&site, HOME), from(&site, HOME));
    owner.sign_in("Organiser", PASSWORD).await;
    thief.sign_in("Organiser", PASSWORD).await;
    let body = |old: &str| json!({"old": old, "new": "another long one"});
    for expected in [403, 403, 429] {
        assert_eq!(thief.put("me/password", body(WRONG)).await.status, expected);
    }
    assert_eq!(owner.put("me/password", body(PASSWORD)).await.status, 200);
}
