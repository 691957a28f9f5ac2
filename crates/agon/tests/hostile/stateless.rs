//! Attacks on statelessness succeed when their defence is off. This shows that each defence has something to prevent.

use crate::harness::{Harness, Who};
use crate::{judge, manifest};

/// Plays a bot with these defences off. It must reach something.
fn succeeds_without(name: &str, without: &'static str) {
    let bot = manifest::BOTS.iter().find(|bot| bot.name == name).expect("in the manifest");
    let who = Who::all()[0];
    let mut harness = Harness::new(bot, who).expect("a Python");
    harness.defences_off = Some(without);
    let outcome = harness.play(bot, "on");
    assert!(
        outcome.text.contains("REACHED"),
        "{name} reaches nothing without {without}: {}",
        judge::excerpt(&outcome)
    );
}

macro_rules! succeeds {
    ($($name:ident $without:literal;)*) => {
        $(#[test] fn $name() { succeeds_without(stringify!($name), $without); })*
    };
}

/// Largest memory of the engine in MiB while a bot floods its answer socket.
fn peak_beside_a_flood(without: Option<&'static str>) -> u64 {
    let bot = manifest::BOTS.iter().find(|bot| bot.name == "answer_flood").expect("in the manifest");
    let mut harness = Harness::new(bot, Who::all()[0]).expect("a Python");
    harness.defences_off = without;
    harness.play(bot, "on");
    harness.peak_kib.get() >> 10
}

/// The bot writes up to 240 MB in a call, as far as it gets in the time of a call: on a busy machine that is a part of it, and much more than
/// the engine keeps.
#[test]
fn engine_stays_small_beside_a_flood_of_answers() {
    let (bounded, unbounded) = (peak_beside_a_flood(None), peak_beside_a_flood(Some("packets")));
    assert!(bounded < 50, "{bounded} MiB");
    assert!(unbounded > bounded + 10, "{unbounded} MiB without the bound, {bounded} MiB with it");
}

succeeds! {
    state_socket_flags "fresh";
    state_socket_shutdown "fresh,shutdown";
    state_log_flags "flags";
    state_open_file "stale";
    state_signal_queue "signals";
}
