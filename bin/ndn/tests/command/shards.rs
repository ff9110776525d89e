//! A forwarder with several forwarding threads.

use crate::forwarder::{Folder, block_on, fetch, parse, produce, until};
use hashlane_client::{Client, Express};
use hashlane_ndn::wire::InterestBuilder;
use hashlane_rig::children::output;
use std::fs;

/// Asks for the newest packet below a name.
async fn find_below(client: &Client, uri: &str) -> bool {
    let name = parse(uri);
    let asked = InterestBuilder { can_be_prefix: true, ..InterestBuilder::new(name.view()) };
    client.express(&asked, &Express::default()).await.is_ok()
}

/// Packets that the content stores hold, by the status.
fn stored(folder: &Folder) -> u64 {
    let info = String::from_utf8(folder.run(&["cs", "info", "--json"]).stdout).unwrap();
    let entries = info.split("\"entries\":").nth(1).expect("the number of entries");
    entries.trim_start().split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
}

#[test]
fn several_threads_forward_as_one_forwarder() {
    let folder = Folder::new();
    let forwarder = folder.forwarder(&["--shards", "4"]);
    let tasks = format!("/proc/{}/task", forwarder.process.child.id());
    // A thread takes its name once it runs.
    let has_all = || {
        let comm =
            |task: std::io::Result<fs::DirEntry>| fs::read_to_string(task.unwrap().path().join("comm"));
        let names: Vec<_> = fs::read_dir(&tasks).unwrap().filter_map(|task| comm(task).ok()).collect();
        let threads = ["forward\n", "forward-1\n", "forward-2\n", "forward-3\n"];
        threads.iter().all(|thread| names.iter().any(|name| name == thread))
    };
    until(has_all, || format!("the threads of four shards in {tasks}"));
    produce(&folder, "/a", |_| b"hello".to_vec());
    produce(&folder, "/b", |_| vec![7; 8000]);
    block_on(async {
        let client = Client::connect(&folder.transport()).await.unwrap();
        for number in 0..50 {
            assert!(fetch(&client, &format!("/a/{number}/x")).await, "{number}");
            assert!(fetch(&client, &format!("/b/{number}/x")).await, "{number}");
        }
        // In the store of one shard, and from the producer.
        assert!(find_below(&client, "/a").await && find_below(&client, "/b/3").await);
        assert!(fetch(&client, "/a").await);
    });
    let before = stored(&folder);
    assert!(before >= 101, "{before}");
    let erased = folder.run(&["cs", "erase", "/a"]);
    assert!(erased.status.success(), "{erased:?}");
    let text = String::from_utf8_lossy(&erased.stdout).into_owned();
    assert!(text.contains("51"), "all shards erase: {text}");
    assert!(stored(&folder) >= 50);
    forwarder.process.signal("-TERM");
    assert_eq!(forwarder.process.end(), Some(0));
}

#[test]
fn numbers_of_shards_that_make_no_sense_are_refused_with_the_range() {
    let folder = Folder::new();
    for wrong in ["0", "65", "many"] {
        let refused = output(&mut folder.command(&["run", "--shards", wrong]));
        assert_eq!(refused.status.code(), Some(2));
        let text = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(text.contains("1 to 64, or `auto`"), "{text}");
    }
    let config = folder.path("forwarder.toml");
    fs::write(&config, "[threads]\nshards = 0\n").unwrap();
    let refused = folder.run(&["check-config", config.to_str().unwrap()]);
    assert!(!refused.status.success());
    let text = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(text.contains("threads.shards") && text.contains("\"auto\""), "{text}");
    fs::write(&config, "[threads]\nshards = \"auto\"\n").unwrap();
    assert!(folder.run(&["check-config", config.to_str().unwrap()]).status.success());
}
