//! Strategies of a forwarder with real producers.

use crate::forwarder::{Folder, block_on, fetch, produce_some};
use hashlane_client::Client;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A producer that counts its Interests and may be silent.
#[derive(Clone, Default)]
struct Producer {
    asked: Arc<AtomicUsize>,
    is_silent: Arc<AtomicBool>,
}

impl Producer {
    fn start(folder: &Folder, is_silent: bool) -> Self {
        let producer = Self::default();
        producer.set_silent(is_silent);
        let Self { asked, is_silent } = producer.clone();
        produce_some(folder, "/a", move |_| {
            asked.fetch_add(1, Ordering::Relaxed);
            (!is_silent.load(Ordering::Relaxed)).then(|| b"hello".to_vec())
        });
        producer
    }

    fn set_silent(&self, is_silent: bool) {
        self.is_silent.store(is_silent, Ordering::Relaxed);
    }

    /// Number of Interests since the last call, once it has settled.
    fn take_asked(&self) -> usize {
        std::thread::sleep(Duration::from_millis(100));
        self.asked.swap(0, Ordering::Relaxed)
    }
}

fn access_prefers_the_producer_that_answers(shards: &str) {
    let folder = Folder::new();
    let _forwarder = folder.forwarder(&["--shards", shards]);
    let set = folder.run(&["strategy", "set", "/a", "access"]);
    assert!(set.status.success(), "{set:?}");
    let [first, second] = [false, true].map(|is_silent| Producer::start(&folder, is_silent));
    block_on(async {
        let client = Client::connect(&folder.transport()).await.unwrap();
        assert!(fetch(&client, "/a/x/0").await);
        assert_eq!((first.take_asked(), second.take_asked()), (1, 1), "nothing is known");
        for number in 1..10 {
            assert!(fetch(&client, &format!("/a/x/{number}")).await);
        }
        assert_eq!((first.take_asked(), second.take_asked()), (9, 0));
        first.set_silent(true);
        second.set_silent(false);
        let start = Instant::now();
        assert!(fetch(&client, "/a/x/10").await, "from the other one");
        let passed = start.elapsed();
        assert!((150..3000).contains(&passed.as_millis()), "{passed:?}");
        assert_eq!((first.take_asked(), second.take_asked()), (1, 1));
        assert!(fetch(&client, "/a/x/11").await);
        assert_eq!((first.take_asked(), second.take_asked()), (0, 1));
    });
}

#[test]
fn access_prefers_the_producer_that_answers_in_one_thread() {
    access_prefers_the_producer_that_answers("1");
}

#[test]
fn access_prefers_the_producer_that_answers_in_several_threads() {
    access_prefers_the_producer_that_answers("3");
}
