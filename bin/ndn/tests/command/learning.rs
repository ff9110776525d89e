//! Forwarders that learn the way to a producer from its announcement.

use crate::announce::{Peer, TRUSTED, announcement, command, configure, operator};
use crate::forwarder::{Folder, Forwarder, block_on, fetch, until};
use hashlane_client::Client;
use hashlane_ndn::security::Signer;
use hashlane_ndn::wire::{DataBuilder, Interest};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// A forwarder with the strategy self-learning, in its folder.
struct Node {
    folder: Folder,
    forwarder: Forwarder,
}

impl Node {
    fn start(more: &[&str]) -> Self {
        let folder = Folder::new();
        configure(&folder, TRUSTED);
        let forwarder = folder.forwarder(&[&["--config", "f.toml"], more].concat());
        let node = Self { folder, forwarder };
        node.done(&["strategy", "set", "/net", "self-learning"]);
        node
    }

    /// Output of a command that succeeds.
    #[track_caller]
    fn done(&self, arguments: &[&str]) -> String {
        let output = self.folder.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn uri(&self) -> String {
        format!("udp4://{}", self.forwarder.udp)
    }

    /// Line of the route of a prefix.
    fn route(&self, prefix: &str) -> Option<String> {
        let routes = self.done(&["route", "list"]);
        routes.lines().find(|line| line.contains(prefix)).map(str::to_owned)
    }

    #[track_caller]
    fn learns(&self, prefix: &str) {
        let learned = || self.route(prefix).is_some_and(|line| line.contains("prefixann"));
        until(learned, || format!("a route of {prefix}: {}", self.done(&["route", "list"])));
    }

    /// Fetches a name by one Interest.
    fn fetches(&self, uri: &str) -> bool {
        block_on(async {
            let client = Client::connect(&self.folder.transport()).await.unwrap();
            fetch(&client, uri).await
        })
    }
}

/// Makes the faces of a link between two forwarders.
fn join(a: &Node, b: &Node) {
    a.done(&["face", "create", &b.uri()]);
    b.done(&["face", "create", &a.uri()]);
}

/// Announces a prefix to a forwarder, and answers each Interest. Returns the number of them.
fn produce(node: &Node, prefix: &str, signer: &Signer) -> Arc<AtomicUsize> {
    let mut peer = Peer::application(&node.folder);
    assert_eq!(peer.asks(&command("localhost", &announcement(prefix, signer))), (200, "OK".into()));
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    thread::spawn(move || {
        loop {
            let packet = peer.receive();
            // The forwarder has ended.
            let Ok(interest) = Interest::parse(&packet) else { return };
            count.fetch_add(1, Ordering::Relaxed);
            peer.send(&DataBuilder::new(interest.name(), b"hello").build());
        }
    });
    asked
}

fn a_line_learns_the_route(more: &[&str]) {
    let line = [(); 3].map(|()| Node::start(more));
    let [near, middle, far] = &line;
    join(near, middle);
    join(middle, far);
    let asked = produce(far, "/net/app", &operator());
    assert_eq!(near.route("/net/app"), None);
    assert!(near.fetches("/net/app/1"));
    near.learns("/net/app");
    middle.learns("/net/app");
    // Another neighbour of the middle learns from the announcement that it keeps.
    let other = Node::start(more);
    join(&other, middle);
    assert!(other.fetches("/net/app/2"));
    other.learns("/net/app");
    assert!(near.fetches("/net/app/3"));
    assert_eq!(asked.load(Ordering::Relaxed), 3, "each Interest comes once");
    // Nobody has this one.
    assert!(!near.fetches("/net/none/1"));
}

#[test]
fn a_line_of_forwarders_learns_the_route_to_a_producer() {
    a_line_learns_the_route(&[]);
}

#[test]
fn a_line_of_forwarders_with_several_threads_learns_the_route_to_a_producer() {
    a_line_learns_the_route(&["--shards", "2"]);
}

#[test]
fn a_ring_finds_another_way_when_a_link_is_gone() {
    let ring = [(); 4].map(|()| Node::start(&[]));
    let [near, left, far, right] = &ring;
    for (a, b) in [(near, left), (left, far), (near, right), (right, far)] {
        join(a, b);
    }
    produce(far, "/net/app", &operator());
    assert!(near.fetches("/net/app/1"));
    near.learns("/net/app");
    // The neighbour that answered first.
    let faces = near.done(&["face", "list"]);
    let route = near.route("/net/app").unwrap();
    let is_over = |node: &&&Node| {
        let line = faces.lines().find(|line| line.contains(&node.uri())).unwrap();
        let id = line.split(|c: char| !c.is_ascii_digit()).find(|part| !part.is_empty()).unwrap();
        route.split(|c: char| !c.is_ascii_digit()).any(|part| part == id)
    };
    let over = [left, right].iter().find(is_over).copied().unwrap_or_else(|| panic!("{route}: {faces}"));
    over.learns("/net/app");
    over.done(&["face", "destroy", &far.uri()]);
    until(|| over.route("/net/app").is_none(), || "the route goes with its face".into());
    assert!(near.fetches("/net/app/2"), "the first Interest already finds the other way");
    let is_other = || near.route("/net/app").is_some_and(|line| line != route);
    until(is_other, || format!("{route}: {}", near.done(&["route", "list"])));
    assert!(near.fetches("/net/app/3"));
}

#[test]
fn a_forwarder_without_the_trusted_key_learns_nothing_and_still_fetches() {
    let (near, far) = (Node::start(&[]), Node::start(&[]));
    std::fs::write(near.folder.path("f.toml"), "").unwrap();
    near.forwarder.process.signal("-HUP");
    near.forwarder.process.wait_for("configuration read again", 1);
    join(&near, &far);
    produce(&far, "/net/app", &operator());
    for number in 0..3 {
        assert!(near.fetches(&format!("/net/app/{number}")));
    }
    near.forwarder.process.wait_for("no route from an announcement", 1);
    assert_eq!(near.route("/net/app"), None);
}
