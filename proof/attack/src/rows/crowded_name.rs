//! Row 7: many ports ask for a name before a local client does.

use crate::attacker::Ports;
use crate::forwarder::Settings;
use crate::network::Host;
use crate::packets::{self, HOUR};
use crate::scene::{Cast, Scene, Testbed};
use crate::session::{Answer, LIFETIME, PATIENCE, Session};
use crate::verdict::{Check, Criteria, Line};
use hashlane_ndn::wire::Interest;
use std::thread;
use std::time::Duration;

const PORTS: usize = 1024;
const NAME: &str = "/slow/headline";
/// Time that the producer takes to answer the local client.
const SLOWNESS: Duration = Duration::from_millis(500);

pub(super) fn run(bench: &Testbed) -> Result<Vec<Line>, String> {
    let scene = Scene::open(bench, Settings::default(), Cast::USUAL)?;
    let mut producer = scene.session()?;
    producer.register("/slow")?;
    let mut producer = producer.into_wire();
    let name = packets::name(NAME)?;
    scene.begin();
    let to = scene.running.udp(bench.network.forwarder(Host::Attacker));
    let mut ports = bench.attack(|| Ports::from_one_host(&bench.network, PORTS, to))?;
    ports.send_each(2000, |_, packet| packet.extend(packets::interest(&name, HOUR)))?;
    let question = packets::interest(&name, LIFETIME);
    let answer = thread::scope(|scope| {
        let mut local: Session = scene.session()?;
        let asking = scope.spawn(move || local.ask(&question, PATIENCE));
        thread::sleep(SLOWNESS);
        // All that wait get this Data.
        let asked = packets::interest(&name, 1000);
        let asked = Interest::parse(&asked).map_err(|error| error.to_string())?;
        producer.send(&packets::answer(&asked, b"news")).map_err(|error| error.to_string())?;
        asking.join().map_err(|_| "the local client has panicked".to_owned())?
    })?;
    scene.calm();
    let found = Check::new(!matches!(answer, Answer::Nothing), format!("the local client got {answer}"));
    drop(ports);
    let attack = format!("{PORTS} ports ask for one name, then a local client does");
    scene.close("7", &attack, Criteria::USUAL, vec![found]).map(|line| vec![line])
}
