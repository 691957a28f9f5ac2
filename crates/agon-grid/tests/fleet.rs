//! The coordinator against a real nats-server, with workers that do what each test says.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod scripted;

use agon_rig::Nats;
use agon_runner::{Ended, Stop};
use agon_store::Ledger as _;
use scripted::{Cup, Hand, LEAGUE, Led, options, runtime, tables};

#[test]
fn a_round_robin_ends_in_the_table_of_one_machine() {
    let (nats, runtime, cup) = (Nats::start(), runtime(), Cup::new(&[LEAGUE, LEAGUE]));
    let ledger = cup.ledger(&runtime);
    let fleet = cup.fleet(&nats, &runtime, &ledger, options());
    let work = async |name: &str| Hand::join(&nats, name).await.work().await;
    let led = Led { cup: &cup, runtime: &runtime, ledger: &ledger, fleet: &fleet };
    let (ended, told, _) = led.while_playing(&Stop::new(), async { tokio::join!(work("one"), work("two")) });
    assert_eq!(ended, Ok(Ended::Over));
    assert_eq!(told.matches, 24);
    let phases = runtime.block_on(ledger.phases()).unwrap();
    assert_eq!(tables(&phases), tables(&cup.alone(&runtime)));
}
