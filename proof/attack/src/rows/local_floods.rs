//! Rows 12c to 12e: lists and commands of one local user, and handshakes that never end.

use crate::attacker::{connections, pace};
use crate::forwarder::Settings;
use crate::innocents::{PREFIX, Way};
use crate::network::Host;
use crate::packets::{self, Template};
use crate::scene::{Cast, Scene, Testbed};
use crate::session::{Answer, LIFETIME, PATIENCE, Session};
use crate::verdict::{Check, Criteria, Line};
use crate::wire::{Stream, is_wait};
use hashlane_ndn::mgmt::ControlParameters;
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};

/// Routes in the list that is asked for.
const ROUTES: [u32; 2] = [16_000, 50_000];
const LISTS_A_SECOND: u32 = 5000;
/// More than the connection takes.
const COMMANDS_A_SECOND: u32 = 400_000;
/// Packets of one write.
const BURST: u64 = 16;
/// Half-open handshakes: more than there are places.
const HANDSHAKES: usize = 300;

fn lasting(bench: &Testbed) -> Duration {
    bench.pick(Duration::from_secs(2), Duration::from_secs(20))
}

pub(super) fn lists(bench: &Testbed, id: &str) -> Result<Line, String> {
    let routes = bench.pick(ROUTES[0], ROUTES[1]);
    let running = bench.start(Settings::default())?;
    let mut owner = Session::unix(&running.socket())?;
    owner.register_all("/route", routes)?;
    // The list that it asks for has many segments, too.
    let scene = Scene::around(bench, running, Cast { list: "rib/list", ..Cast::USUAL })?;
    let attacker = UnixStream::connect(scene.running.socket()).map_err(|error| error.to_string())?;
    let name = packets::name("/localhost/nfd/rib/list")?;
    // Interests for one name are one in the PIT; queries have names of their own.
    let (mut query, mut next) = (Template::face_query(4000)?, 1 << 60);
    scene.begin();
    let (sent, done, asked) = beside(
        || {
            flood(attacker, LISTS_A_SECOND, lasting(bench), || {
                next += 1;
                match next % 4 {
                    0 => packets::list_interest(&name, 4000),
                    _ => query.stamp(next).to_vec(),
                }
            })
        },
        || {
            let mut session = scene.session()?;
            Ok(matches!(session.dataset("rib/list"), Ok(Some(_))))
        },
    )?;
    scene.calm();
    let found = format!("{sent} lists asked for, `route list` complete in {done} of {asked}");
    let attack = format!("{LISTS_A_SECOND} requests a second for a list of {routes} routes, by a local user");
    scene.close(id, &attack, Criteria::USUAL, vec![Check::new(is_enough(done, asked), found)])
}

/// True if at most a hundredth got nothing, as of Interests.
fn is_enough(done: u32, asked: u32) -> bool {
    (asked - done) * 100 <= asked
}

pub(super) fn commands(bench: &Testbed, id: &str) -> Result<Line, String> {
    let scene = Scene::open(bench, Settings::default(), Cast::USUAL)?;
    let to = scene.running.tcp(bench.network.forwarder(Host::Forwarder));
    let connect = || TcpStream::connect(to).map_err(|error| error.to_string());
    let attacker = bench.network.inside(Host::Forwarder, connect)?;
    // Each has a different name, so that each takes a place in the queue.
    let (mut template, mut number) = (Template::new("/localhost/nfd/rib/unregister", 0, 4000)?, 0);
    let mut next = 0;
    let mut session = scene.session()?;
    scene.begin();
    let (sent, done, asked) = beside(
        || {
            flood(attacker, COMMANDS_A_SECOND, lasting(bench), || {
                next += 1;
                template.stamp(next).to_vec()
            })
        },
        || {
            number += 1;
            let name = Some(packets::name(&format!("/command/{number}"))?);
            let outcome =
                session.command("rib", "register", &ControlParameters { name, ..Default::default() })?;
            thread::sleep(Duration::from_millis(20));
            Ok(outcome.code() == Some(200))
        },
    )?;
    scene.calm();
    let found = format!("{sent} Interests sent, {done} of {asked} commands done");
    let attack = "Interests for the management over TCP from 127.0.0.1, beside commands of another user";
    scene.close(id, attack, Criteria::USUAL, vec![Check::new(is_enough(done, asked), found)])
}

pub(super) fn handshakes(bench: &Testbed, id: &str) -> Result<Line, String> {
    let attack = format!("{HANDSHAKES} WebSocket handshakes of one host that never end");
    if !bench.program.has_web_socket() {
        return Ok(Line::not_applicable(id, &attack, "no WebSocket in this build"));
    }
    let scene = Scene::open(bench, Settings::default(), Cast::USUAL)?;
    let to = scene.running.web_socket(bench.network.forwarder(Host::Attacker));
    scene.begin();
    let open =
        bench.attack(|| Ok(connections(bench.network.source(0), to, HANDSHAKES, Duration::from_secs(2))))?;
    let way = Way::WebSocket(scene.running.web_socket(bench.network.forwarder(Host::Neighbour)));
    let (mut served, mut asked) = (0, 0);
    let begun = Instant::now();
    while begun.elapsed() < lasting(bench) || asked == 0 {
        asked += 1;
        served += u32::from(bench.network.inside(Host::Neighbour, || Ok(is_served(&way, asked)))?);
        thread::sleep(Duration::from_millis(100));
    }
    let opened = open.len();
    drop(open);
    scene.calm();
    let found = format!("{opened} half open; {served} of {asked} new WebSocket neighbours served");
    scene.close(id, &attack, Criteria::USUAL, vec![Check::new(served == asked, found)])
}

fn is_served(way: &Way, number: u32) -> bool {
    let asked = || {
        let mut session = way.connect().map(Session::new).map_err(|error| error.to_string())?;
        let name = packets::name(&format!("{PREFIX}/websocket/new/{number}"))?;
        session.ask(&packets::interest(&name, LIFETIME), PATIENCE)
    };
    matches!(asked(), Ok(Answer::Data(_)))
}

/// Repeats `innocent` beside `attack` until that ends. Returns its result, and how often the innocent was
/// served and asked.
fn beside<T: Send>(
    attack: impl FnOnce() -> Result<T, String> + Send,
    mut innocent: impl FnMut() -> Result<bool, String>,
) -> Result<(T, u32, u32), String> {
    thread::scope(|scope| {
        let attack = scope.spawn(attack);
        let (mut done, mut asked) = (0, 0);
        while !attack.is_finished() || asked == 0 {
            asked += 1;
            // A connection that breaks serves nobody.
            done += u32::from(innocent().unwrap_or(false));
        }
        let result = attack.join().map_err(|_| "the attack has panicked".to_owned())??;
        Ok((result, done, asked))
    })
}

/// Sends packets at a rate, and drops all that comes back. Returns the number of packets.
fn flood<S: Stream>(
    mut stream: S,
    rate: u32,
    lasting: Duration,
    mut packet: impl FnMut() -> Vec<u8>,
) -> Result<u64, String> {
    let failed = |error: std::io::Error| format!("the attacker's connection: {error}");
    // A full connection blocks for a moment only, and the reader until the end.
    stream.limit(2 * lasting).map_err(failed)?;
    let mut reader = stream.twin().map_err(failed)?;
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut bytes = vec![0; 1 << 18];
            while matches!(reader.read(&mut bytes), Ok(1..)) {}
        });
        let (begun, mut sent) = (Instant::now(), 0);
        let mut unsent = Vec::new();
        while begun.elapsed() < lasting {
            if unsent.is_empty() {
                unsent.extend((0..BURST).flat_map(|_| packet()));
                sent += BURST;
            }
            match stream.write(&unsent) {
                Ok(count) => drop(unsent.drain(..count)),
                Err(error) if is_wait(&error) => {}
                // The forwarder has closed it.
                Err(_) => break,
            }
            pace(begun, usize::try_from(sent).unwrap_or(usize::MAX), rate);
        }
        // Fails if the forwarder has closed it.
        let _ = stream.close();
        Ok(sent)
    })
}
