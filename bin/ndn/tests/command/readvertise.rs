//! Prefixes that a forwarder asks NLSR to advertise.

use crate::forwarder::{Folder, block_on, parse};
use hashlane_client::Client;
use hashlane_ndn::mgmt::values::RouteOrigin;
use hashlane_ndn::mgmt::{ControlParameters, ControlResponse, Record};
use hashlane_ndn::wire::DataBuilder;
use std::fs;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Acts as NLSR for a number of commands, and then ends. Returns verb and prefix of each.
fn nlsr(folder: &Folder, commands: usize) -> Receiver<String> {
    let transport = folder.transport();
    let (sender, received) = channel();
    std::thread::spawn(move || {
        block_on(async {
            let client = Client::connect(&transport).await.unwrap();
            let prefix = parse("/localhost/nlsr");
            let mut registration = client.register(prefix.view()).await.unwrap();
            for _ in 0..commands {
                let incoming = registration.next().await.expect("a command");
                let interest = incoming.interest();
                let parts: Vec<_> = interest.name().components().map(|part| part.value.to_vec()).collect();
                let name = ControlParameters::parse(&parts[4]).unwrap().name.unwrap();
                sender.send(format!("{} {name}", String::from_utf8_lossy(&parts[3]))).unwrap();
                let content = ControlResponse::new(200, "OK").to_bytes();
                let data = DataBuilder::new(interest.name(), &content).build();
                incoming.reply(&data).await.unwrap();
            }
        });
    });
    received
}

fn check(shards: &str) {
    let folder = Folder::new();
    fs::write(folder.path("f.toml"), "[rib]\nreadvertise_nlsr = true\n").unwrap();
    let _forwarder = folder.forwarder(&["--config", "f.toml", "--shards", shards]);
    let next = |received: &Receiver<String>| received.recv_timeout(Duration::from_secs(30)).unwrap();
    block_on(async {
        let client = Client::connect(&folder.transport()).await.unwrap();
        let of = |prefix: &str, origin| ControlParameters {
            name: Some(parse(prefix)),
            origin: Some(origin),
            ..ControlParameters::default()
        };
        client.command("rib", "register", &of("/a", RouteOrigin::CLIENT)).await.unwrap();
        client.command("rib", "register", &of("/app", RouteOrigin::APP)).await.unwrap();
        let received = nlsr(&folder, 3);
        assert_eq!(next(&received), "register /a");
        client.command("rib", "register", &of("/b", RouteOrigin::CLIENT)).await.unwrap();
        assert_eq!(next(&received), "register /b");
        client.command("rib", "unregister", &of("/a", RouteOrigin::CLIENT)).await.unwrap();
        assert_eq!(next(&received), "unregister /a");
        // NLSR ends, and starts again.
        assert!(received.recv_timeout(Duration::from_secs(30)).is_err());
        let received = nlsr(&folder, 3);
        let mut said = next(&received);
        if said == "unregister /a" {
            // Its last answer was lost with its connection.
            said = next(&received);
        }
        assert_eq!(said, "register /b");
        client.command("rib", "unregister", &of("/b", RouteOrigin::CLIENT)).await.unwrap();
        assert_eq!(next(&received), "unregister /b");
    });
}

#[test]
fn nlsr_is_asked_to_advertise_the_prefixes_of_clients() {
    check("1");
}

#[test]
fn nlsr_is_asked_by_a_forwarder_of_two_shards() {
    check("2");
}
