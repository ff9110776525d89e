//! Applications of ndn-tools, NFD and ndnd between two nodes.

use super::pair::Pair;
use crate::interop::program::Program;
use std::time::Duration;

/// Timeout of a program that answers, and of one that asks.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Bytes of the object that is transferred.
const OBJECT: usize = 4_000_000;

/// An application: its programs, and a run over two nodes; the first has a route to the second for `/app`.
pub(super) struct App {
    pub(super) name: &'static str,
    pub(super) needs: &'static [&'static str],
    /// Returns what it did.
    pub(super) run: fn(&Pair<'_>) -> Result<String, String>,
}

pub(super) const APPS: [App; 8] = [
    App { name: "ndnpeek, ndnpoke", needs: &["ndnpeek", "ndnpoke"], run: peek },
    App { name: "ndnping, ndnpingserver", needs: &["ndnping", "ndnpingserver"], run: ping },
    App { name: "ndncatchunks, ndnputchunks", needs: &["ndncatchunks", "ndnputchunks"], run: chunks },
    App { name: "ndndump", needs: &["ndndump", "ndnping", "ndnpingserver"], run: dump },
    App {
        name: "nfd-status-http-server",
        needs: &["nfd-status-http-server", "nfdc", "curl"],
        run: status_page,
    },
    App { name: "nfd-autoreg", needs: &["nfd-autoreg", "nfdc"], run: autoreg },
    App { name: "ndnd ping, pingserver", needs: &["ndnd"], run: ndnd_ping },
    App { name: "ndnd cat, put", needs: &["ndnd"], run: ndnd_object },
];

/// Waits until the forwarder of `b` has a route for `prefix`.
pub(super) fn wait_for_route(pair: &Pair<'_>, prefix: &str, server: &mut Program) -> Result<(), String> {
    let line = format!("prefix={prefix} ");
    let has_route = || {
        pair.b
            .output(&["nfdc", "route", "list"])
            .is_ok_and(|text| text.lines().any(|route| route.starts_with(&line)))
    };
    server.wait_until(has_route, TIMEOUT)
}

/// Exit code of ndnpeek after a Nack.
const NACK: i32 = 4;

fn peek(pair: &Pair<'_>) -> Result<String, String> {
    let mut poke = pair.b.spawn(&["ndnpoke", "/app/poke", "-w", "30000"])?;
    poke.feed(b"a payload")?;
    wait_for_route(pair, "/app/poke", &mut poke)?;
    let said = pair.a.output(&["ndnpeek", "-p", "/app/poke"])?;
    if said != "a payload" {
        return Err(format!("ndnpeek printed {said:?}"));
    }
    poke.finish(TIMEOUT)?;
    let none = pair.a.run(&["ndnpeek", "/nowhere"], TIMEOUT)?;
    match none.code {
        Some(NACK) => Ok("payload, Nack without route".to_owned()),
        code => Err(format!("ndnpeek of a name without route: exit code {code:?}, not {NACK}")),
    }
}

fn ping(pair: &Pair<'_>) -> Result<String, String> {
    let mut server = pair.b.spawn(&["ndnpingserver", "/app"])?;
    wait_for_route(pair, "/app/ping", &mut server)?;
    let said = pair.a.output(&["ndnping", "-i", "20", "-c", "50", "/app"])?;
    match said.contains("50 packets transmitted, 50 received") {
        true => Ok("50 of 50".to_owned()),
        false => Err(format!("ndnping: {said}")),
    }
}

/// Identity that signs with a digest: the applications are no part of the comparison.
pub(super) const DIGEST: &str = "id:/localhost/identity/digest-sha256";

fn chunks(pair: &Pair<'_>) -> Result<String, String> {
    let object: Vec<u8> =
        (0..OBJECT).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let mut server = pair.b.spawn(&["ndnputchunks", "-S", DIGEST, "/app/object"])?;
    server.feed(&object)?;
    wait_for_route(pair, "/app/object", &mut server)?;
    let pipelines = ["fixed", "aimd", "cubic"];
    for pipeline in pipelines {
        // Not from the store: another version each time would need another producer.
        pair.a.output(&["nfdc", "cs", "erase", "/app/object"])?;
        let got = pair.a.run(&["ndncatchunks", "-p", pipeline, "/app/object"], TIMEOUT)?;
        if got.output != object {
            let (bytes, errors) = (got.output.len(), got.errors);
            return Err(format!("-p {pipeline}: {bytes} bytes, not {OBJECT}: {errors}"));
        }
    }
    Ok(format!("{} MB by {}", OBJECT / 1_000_000, pipelines.join(", ")))
}

fn dump(pair: &Pair<'_>) -> Result<String, String> {
    let mut server = pair.b.spawn(&["ndnpingserver", "/app"])?;
    wait_for_route(pair, "/app/ping", &mut server)?;
    let dump = pair.a.spawn(&["ndndump", "-i", &pair.link.interface])?;
    std::thread::sleep(Duration::from_secs(1));
    pair.a.output(&["ndnping", "-i", "20", "-c", "10", "/app"])?;
    std::thread::sleep(Duration::from_secs(1));
    let said = dump.said();
    let count =
        |kind: &str| said.lines().filter(|line| line.contains(kind) && line.contains("/app/ping")).count();
    let (interests, data) = (count("INTEREST"), count("DATA"));
    match interests >= 10 && data >= 10 {
        true => Ok(format!("{interests} Interests, {data} Data")),
        false => Err(format!("{interests} Interests and {data} Data of 10 pings:\n{said}")),
    }
}

fn status_page(pair: &Pair<'_>) -> Result<String, String> {
    let mut server = pair.a.spawn(&["nfd-status-http-server", "-p", "6380"])?;
    server.wait_for("Server started", TIMEOUT)?;
    let page = pair.a.output(&["curl", "--silent", "--fail", "http://127.0.0.1:6380/"])?;
    match page.contains("<nfdStatus") && page.contains("<faces>") {
        true => Ok(format!("{} bytes of XML", page.len())),
        false => Err(format!("the page has no nfdStatus: {page}")),
    }
}

/// Routes of new neighbours: `b` pings, and so has a face on demand at `a`.
fn autoreg(pair: &Pair<'_>) -> Result<String, String> {
    let mut program = pair.a.spawn(&["nfd-autoreg", "-a", "/all", "-i", "/new", "-w", "0.0.0.0/0"])?;
    let routes = || pair.a.output(&["nfdc", "route", "list"]).unwrap_or_default();
    program.wait_until(|| routes().contains("prefix=/all "), Duration::from_secs(10))?;
    Ok("route for all faces".to_owned())
}

fn ndnd_ping(pair: &Pair<'_>) -> Result<String, String> {
    let mut server = pair.b.spawn(&["ndnd", "pingserver", "/app/ndnd"])?;
    wait_for_route(pair, "/app/ndnd", &mut server)?;
    let said = pair.a.output(&["ndnd", "ping", "-c", "5", "-i", "100", "/app/ndnd"])?;
    match said.contains("5 interests transmitted, 5 received") {
        true => Ok("5 of 5".to_owned()),
        false => Err(format!("ndnd ping: {said}")),
    }
}

fn ndnd_object(pair: &Pair<'_>) -> Result<String, String> {
    let object: Vec<u8> = (0..20_000_u32).flat_map(|number| format!("{number}\n").into_bytes()).collect();
    let mut server = pair.b.spawn(&["ndnd", "put", "/app/put"])?;
    server.feed(&object)?;
    wait_for_route(pair, "/app/put", &mut server)?;
    let got = pair.a.run(&["ndnd", "cat", "/app/put"], TIMEOUT)?;
    match got.output == object {
        true => Ok(format!("{} bytes", object.len())),
        false => Err(format!("{} bytes, not {}: {}", got.output.len(), object.len(), got.errors)),
    }
}
