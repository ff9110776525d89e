//! Row 12j: an object without an end, fetched by our client.

use crate::cleanup;
use crate::forwarder::Settings;
use crate::innocents::Producer;
use crate::scene::Testbed;
use crate::verdict::{Check, Line};
use hashlane_rig::program::Program;
use std::io::Read;
use std::process::{ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Bytes and time after which this test ends the client.
const MOST_BYTES: u64 = 1200 << 20;
const MOST_TIME: Duration = Duration::from_secs(60);

pub(super) fn run(bench: &Testbed, id: &str) -> Result<Line, String> {
    let attack = "`hashlane ndn get` of Data without FinalBlockId";
    if !bench.program.is_ours() {
        return Ok(Line::not_applicable(id, attack, "a client of ours"));
    }
    let running = bench.start(Settings::toml("cs.admit = false\n"))?;
    let _producer = Producer::of(&running.socket(), "/endless", 8000)?;
    let mut command = Command::new(&bench.hashlane.path);
    command.args(["ndn", "get", "/endless/v=1", "--quiet", "--connect"]);
    command.arg(format!("unix://{}", running.socket().display()));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut client = Program::start(&mut command)
        .map_err(|error| format!("{}: {error}", bench.hashlane.path.display()))?;
    cleanup::add_process(client.id());
    let counted = Arc::new(AtomicU64::new(0));
    let counter = client.child().stdout.take().map(|output| count(output, Arc::clone(&counted)));
    let begun = Instant::now();
    let size = || counted.load(Ordering::Relaxed);
    let ended = loop {
        if let Some(status) = client.ended().map_err(|error| error.to_string())? {
            break Some(status);
        }
        if size() > MOST_BYTES || begun.elapsed() > MOST_TIME {
            break None;
        }
        thread::sleep(Duration::from_millis(20));
    };
    cleanup::forget_process(client.id());
    client.kill();
    if let Some(counter) = counter {
        // Ends with the client.
        let _ = counter.join();
    }
    let megabytes = size() / 1_000_000;
    let found = match ended {
        Some(status) => format!("ended after {megabytes} MB: {status}"),
        None => format!("still fetching after {megabytes} MB and {} s", begun.elapsed().as_secs()),
    };
    Ok(Line::of(id, attack, vec![Check::new(ended.is_some_and(|status| !status.success()), found)]))
}

/// Counts the bytes of an output until its end.
fn count(mut output: ChildStdout, counted: Arc<AtomicU64>) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut bytes = vec![0; 1 << 16];
        while let Ok(len @ 1..) = output.read(&mut bytes) {
            counted.fetch_add(len as u64, Ordering::Relaxed);
        }
    })
}
