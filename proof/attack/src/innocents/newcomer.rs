//! Consumers that connect for the first time: each asks one question, as often as an application would.

use super::{Clock, PREFIX, Way};
use crate::network::{Host, Network};
use crate::packets;
use crate::session::{Answer, LIFETIME, PATIENCE, Session};
use crate::stats::Tally;
use crate::verdict::{Phase, Service};
use std::thread;
use std::time::{Duration, Instant};

/// Pause between two newcomers.
const PAUSE: Duration = Duration::from_millis(300);
/// Time after which a newcomer asks again.
const AGAIN: Duration = Duration::from_secs(1);

pub(super) fn run(who: &'static str, place: Host, way: &Way, network: &Network, clock: &Clock) -> Service {
    let entered = network.enter(place);
    debug_assert!(entered.is_ok(), "the namespace was entered before");
    let mut tallies: [Tally; Phase::COUNT] = Default::default();
    for number in 0_u64.. {
        let Some(tally) = tallies.get_mut(clock.phase() as usize) else { break };
        tally.sent += 1;
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            if is_served(way, &format!("{PREFIX}/{}/{number}", who.replace(' ', "-"))) {
                tally.add_answer(begun.elapsed());
                break;
            }
            thread::sleep(Duration::from_millis(10));
        }
        thread::sleep(PAUSE);
    }
    Service { who, tallies }
}

/// Connects, asks once, and waits for Data.
fn is_served(way: &Way, uri: &str) -> bool {
    let asked = || {
        let name = packets::name(uri)?;
        let mut session = way.connect().map(Session::new).map_err(|error| error.to_string())?;
        session.ask(&packets::interest(&name, LIFETIME), AGAIN)
    };
    matches!(asked(), Ok(Answer::Data(_)))
}
