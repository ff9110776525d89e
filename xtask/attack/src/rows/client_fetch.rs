//! Row 12j: an object without an end, fetched by our client.

use crate::cleanup;
use crate::forwarder::Settings;
use crate::innocents::Producer;
use crate::scene::Bench;
use crate::verdict::{Check, Line};
use std::fs::{self, File};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes and time after which this test ends the client.
const MOST_BYTES: u64 = 1200 << 20;
const MOST_TIME: Duration = Duration::from_secs(20);

pub(super) fn run(bench: &Bench, id: &str) -> Result<Line, String> {
    let attack = "`hashlane ndn get` of Data without FinalBlockId";
    if !bench.program.is_ours() {
        return Ok(Line::not_applicable(id, attack, "a client of ours"));
    }
    let running = bench.start(Settings::toml("cs.admit = false\n"))?;
    let _producer = Producer::of(&running.socket(), "/endless", 8000)?;
    let file = running.folder().join("object");
    let output = File::create(&file).map_err(|error| error.to_string())?;
    let mut command = Command::new(&bench.hashlane.path);
    command.args(["ndn", "get", "/endless/v=1", "--quiet", "--connect"]);
    command.arg(format!("unix://{}", running.socket().display()));
    command.stdin(Stdio::null()).stdout(output).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("{}: {error}", bench.hashlane.path.display()))?;
    cleanup::add_process(child.id());
    let begun = Instant::now();
    let size = || fs::metadata(&file).map_or(0, |data| data.len());
    let ended = loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            break Some(status);
        }
        if size() > MOST_BYTES || begun.elapsed() > MOST_TIME {
            break None;
        }
        thread::sleep(Duration::from_millis(20));
    };
    cleanup::forget_process(child.id());
    // Fails if it has ended.
    let _ = child.kill();
    let _ = child.wait();
    let megabytes = size() / 1_000_000;
    let found = match ended {
        Some(status) => format!("ended after {megabytes} MB: {status}"),
        None => format!("still fetching after {megabytes} MB and {} s", begun.elapsed().as_secs()),
    };
    Ok(Line::of(id, attack, vec![Check::new(ended.is_some_and(|status| !status.success()), found)]))
}
