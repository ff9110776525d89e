//! `hashlane ndn trace`.

use crate::forwarder::{Folder, block_on, fetch, produce, until};
use hashlane_client::Client;
use hashlane_rig::children::{output, start};
use std::io::{BufRead as _, BufReader};
use std::process::Child;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Lines of a program's output, from now on.
fn lines(child: &mut Child) -> Receiver<String> {
    let (sender, lines) = channel();
    let out = BufReader::new(child.stdout.take().unwrap());
    std::thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    lines
}

fn follows_an_interest_to_its_data(shards: &str) {
    let folder = Folder::new();
    let forwarder = folder.forwarder(&["--shards", shards]);
    produce(&folder, "/a", |_| b"hello".to_vec());
    let mut trace = start(&mut folder.command(&["trace", "/a", "--seconds", "60", "--json"]));
    let traced = lines(&mut trace);
    block_on(async {
        let client = Client::connect(&folder.transport()).await.unwrap();
        // The trace begins at some time.
        let mut first = Vec::new();
        for number in 0.. {
            assert!(fetch(&client, &format!("/a/begin/{number}")).await);
            first.extend(traced.recv_timeout(Duration::from_millis(50)));
            if !first.is_empty() {
                break;
            }
        }
        assert!(fetch(&client, "/a/b/1").await);
        let found: Vec<String> = std::iter::from_fn(|| traced.recv_timeout(Duration::from_secs(5)).ok())
            .filter(|line| line.contains("/a/b/1"))
            .take(2)
            .collect();
        let [interest, data] = found.as_slice() else { panic!("{found:?}") };
        for part in [
            "\"step\":\"interest\"",
            "\"rule\":{\"prefix\":\"/a\",\"hops\":[{\"face\":",
            "\"strategy\":\"best-route\",\"choice\":\"/\"}",
            "\"decision\":\"forward\"",
            "\"packet\":\"interest\"",
        ] {
            assert!(interest.contains(part), "{part}: {interest}");
        }
        assert!(data.contains("\"step\":\"data\"") && data.contains("\"packet\":\"data\""), "{data}");
    });
    trace.kill().unwrap();
    trace.wait().unwrap();
    forwarder.process.signal("-TERM");
    assert_eq!(forwarder.process.end(), Some(0));
}

#[test]
fn a_trace_follows_an_interest_to_its_data() {
    follows_an_interest_to_its_data("1");
}

#[test]
fn a_trace_follows_an_interest_at_any_shard() {
    follows_an_interest_to_its_data("3");
}

#[test]
fn a_trace_ends_by_its_count_its_time_and_a_signal() {
    let folder = Folder::new();
    let _forwarder = folder.forwarder(&[]);
    produce(&folder, "/a", |_| b"hello".to_vec());
    let mut counted = start(&mut folder.command(&["trace", "/", "--count", "3"]));
    let traced = lines(&mut counted);
    block_on(async {
        let client = Client::connect(&folder.transport()).await.unwrap();
        let mut number = 0;
        while counted.try_wait().unwrap().is_none() {
            number += 1;
            assert!(fetch(&client, &format!("/a/{number}")).await);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    let text: Vec<_> = traced.iter().collect();
    assert_eq!(text.len(), 3, "{text:?}");
    assert!(text.iter().all(|line| line.contains("; sent ")), "{text:?}");

    let timed = output(&mut folder.command(&["trace", "/a", "--seconds", "1"]));
    assert_eq!((timed.status.code(), timed.stdout.as_slice()), (Some(0), &b""[..]));

    let mut stopped = start(&mut folder.command(&["trace", "/a"]));
    let mut told = BufReader::new(stopped.stderr.take().unwrap()).lines();
    assert!(told.next().unwrap().unwrap().contains("tracing /a for at most 60 s"));
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(stopped.id() as i32), nix::sys::signal::SIGTERM)
        .unwrap();
    let mut code = None;
    until(
        || {
            code = stopped.try_wait().unwrap();
            code.is_some()
        },
        || "the end of the command".to_owned(),
    );
    assert_eq!(code.and_then(|code| code.code()), Some(0));
}

#[test]
fn a_trace_needs_a_forwarder_a_name_and_a_share() {
    let folder = Folder::new();
    let refused = output(&mut folder.command(&["trace", "/a"]));
    assert_eq!(refused.status.code(), Some(1), "no forwarder");
    for arguments in
        [&["trace", "a"][..], &["trace", "/a", "--every", "0"], &["trace", "/a", "--seconds", "3601"]]
    {
        assert_eq!(output(&mut folder.command(arguments)).status.code(), Some(2), "{arguments:?}");
    }
}
