//! Rules that are replaced while other threads look names up.
#![allow(clippy::unwrap_used, reason = "a helper that cannot do its work fails the test")]

use arc_swap::{ArcSwap, Cache};
use hashlane_name_map::{Builder, Burst, Key, Rules, Target};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

const RULES: usize = 2_000;
const VERSIONS: u64 = 40;

/// All names have one rule in the lists whose bits are in `version`.
fn rules(version: u64) -> Rules {
    let mut builder = Builder::new(&Key::VECTOR);
    for number in 0..RULES {
        for list in (0..6).filter(|list| version >> list & 1 == 1) {
            builder.block(list, Target::Subtree, format!("n{number}.example").as_bytes()).unwrap();
        }
    }
    builder.build().unwrap()
}

#[test]
fn a_burst_sees_one_version_and_no_reader_sees_an_older_one_again() {
    let current = Arc::new(ArcSwap::from_pointee(rules(1)));
    let (published, seen) = (AtomicU64::new(1), AtomicU64::new(0));
    thread::scope(|scope| {
        for thread in 0..2_usize {
            let (current, published, seen) = (Arc::clone(&current), &published, &seen);
            scope.spawn(move || {
                let (mut reader, mut burst) = (Cache::new(current), Burst::new());
                let (mut last, mut number) = (1, thread);
                while last < VERSIONS {
                    let before = published.load(Ordering::Acquire);
                    burst.clear();
                    while !burst.is_full() {
                        number = (number + 7) % RULES;
                        burst.push(format!("www.n{number}.example").as_bytes()).unwrap();
                    }
                    let verdicts = reader.load().verdicts(&mut burst);
                    let version = verdicts[0].lists();
                    assert!(verdicts.iter().all(|verdict| verdict.lists() == version));
                    assert!(version >= last.max(before), "{version} after {last}, published {before}");
                    seen.fetch_add(u64::from(version > last), Ordering::Relaxed);
                    last = version;
                }
            });
        }
        for version in 2..=VERSIONS {
            current.store(Arc::new(rules(version)));
            published.store(version, Ordering::Release);
        }
    });
    assert!(seen.into_inner() >= 2);
}

#[test]
fn replaced_rules_are_freed_when_the_last_reader_has_left_them() {
    let first = Arc::new(rules(1));
    let weak = Arc::downgrade(&first);
    let current = Arc::new(ArcSwap::new(first));
    let mut readers = [0; 2].map(|_| Cache::new(Arc::clone(&current)));
    readers.iter_mut().for_each(|reader| assert_eq!(reader.load().len(), RULES));
    current.store(Arc::new(rules(2)));
    let [one, other] = &mut readers;
    let _new = one.load();
    assert!(weak.upgrade().is_some());
    let _new = other.load();
    assert!(weak.upgrade().is_none());
}
