//! A thread in simulated time, under loads that are known exactly.

use super::*;
use proptest::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const SETTINGS: Settings = Settings { pause: us(50), poll: us(10) };

const fn us(us: u64) -> Duration {
    Duration::from_micros(us)
}

/// Times at which packets are due, the next one on top; true for a reply.
type Queue = BinaryHeap<Reverse<(Duration, bool)>>;

/// A thread that receives packets when they are due.
struct Thread {
    moderation: Moderation,
    now: Duration,
    waits: usize,
    pauses: usize,
    polls: usize,
    packets: usize,
}

impl Thread {
    fn new(settings: Settings) -> Self {
        Self {
            moderation: Moderation::new(settings),
            now: Duration::ZERO,
            waits: 0,
            pauses: 0,
            polls: 0,
            packets: 0,
        }
    }

    /// Sets the counts to zero.
    fn reset(&mut self) {
        (self.waits, self.pauses, self.polls, self.packets) = (0, 0, 0, 0);
    }

    /// Runs until `end`. A packet is forwarded, and has its reply `reply` later; without it, the packet is
    /// answered. `again` is the time from an answer to the next packet of its sender.
    fn run(&mut self, mut queue: Queue, reply: Option<Duration>, again: Option<Duration>, end: Duration) {
        let mut step = Step::Wait;
        while self.now < end {
            match step {
                Step::Wait => {
                    let Some(Reverse((due, _))) = queue.peek() else { return };
                    self.waits += 1;
                    // A wake-up takes time.
                    self.now = self.now.max(*due) + us(15);
                }
                Step::Pause(pause) => {
                    self.pauses += 1;
                    self.now += pause + us(10);
                }
                Step::Poll => {
                    self.polls += 1;
                    self.now += us(1);
                }
            }
            let (look, mut turn) = (self.now, Turn::default());
            while queue.peek().is_some_and(|Reverse((due, _))| *due <= look) {
                let Some(Reverse((_, is_reply))) = queue.pop() else { break };
                turn.packets += 1;
                self.now += us(3);
                if is_reply {
                    turn.answered += 1;
                    queue.extend(again.map(|again| Reverse((self.now + again, false))));
                } else if let Some(reply) = reply {
                    turn.asked += 1;
                    queue.push(Reverse((self.now + reply, true)));
                } else {
                    queue.extend(again.map(|again| Reverse((self.now + again, false))));
                }
            }
            self.packets += turn.packets;
            step = self.moderation.next(self.now, turn);
        }
    }
}

/// Packets at a rate for a time.
fn paced(rate: u64, from: Duration, end: Duration) -> Queue {
    let nanos = 1_000_000_000 / rate;
    let count = (end - from).as_nanos() as u64 / nanos;
    (0..count).map(|number| Reverse((from + Duration::from_nanos(number * nanos), false))).collect()
}

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn at_a_rate_that_pauses_gather_from_a_wake_up_takes_several_packets() {
    let mut thread = Thread::new(SETTINGS);
    thread.run(paced(60_000, Duration::ZERO, SECOND), None, None, SECOND);
    assert!(thread.packets > 59_000, "{}", thread.packets);
    assert!(3 * (thread.waits + thread.pauses) < 2 * thread.packets, "{} {}", thread.waits, thread.pauses);
    // The first window, and looks after pauses that found nothing.
    assert!(thread.waits < thread.packets / 20, "{}", thread.waits);
}

#[test]
fn at_a_low_rate_each_packet_is_waited_for_and_there_is_no_pause() {
    for rate in [100, 1_000, 9_000] {
        let mut thread = Thread::new(SETTINGS);
        thread.run(paced(rate, Duration::ZERO, SECOND), None, None, SECOND);
        assert_eq!((thread.pauses, thread.waits), (0, thread.packets), "{rate}");
    }
}

#[test]
fn a_rate_at_which_pauses_gather_too_little_is_rarely_tried() {
    let mut thread = Thread::new(Settings { pause: us(20), ..SETTINGS });
    let end = 10 * SECOND;
    thread.run(paced(26_000, Duration::ZERO, end), None, None, end);
    assert!(thread.pauses > 0 && thread.pauses < thread.packets / 100, "{}", thread.pauses);
}

#[test]
fn senders_that_wait_for_replies_are_not_slowed_down() {
    for senders in [1, 2, 8] {
        let mut free = Thread::new(Settings::default());
        let mut thread = Thread::new(SETTINGS);
        let end = 10 * SECOND;
        for thread in [&mut free, &mut thread] {
            let queue = (0..senders).map(|at| Reverse((us(at), false))).collect();
            thread.run(queue, None, Some(us(12)), end);
        }
        assert!(thread.packets * 100 > free.packets * 97, "{senders}: {} {}", thread.packets, free.packets);
    }
}

#[test]
fn pauses_end_with_the_load() {
    let mut thread = Thread::new(SETTINGS);
    thread.run(paced(60_000, Duration::ZERO, SECOND), None, None, SECOND);
    thread.reset();
    thread.run(paced(100, SECOND, 3 * SECOND), None, None, 3 * SECOND);
    // Those until the window ends.
    assert!(thread.packets > 190 && thread.pauses <= 3, "{}", thread.pauses);
}

#[test]
fn a_reply_that_comes_soon_takes_no_wait() {
    let mut thread = Thread::new(SETTINGS);
    thread.run(paced(1_000, Duration::ZERO, SECOND), Some(us(5)), None, SECOND);
    assert!(thread.packets >= 1_990, "{}", thread.packets);
    assert!(2 * thread.waits <= thread.packets + 10, "{}", thread.waits);
    assert!(thread.polls <= 6 * thread.waits, "{}", thread.polls);
}

#[test]
fn a_reply_that_comes_late_is_rarely_polled_for() {
    let mut thread = Thread::new(SETTINGS);
    let end = 5 * SECOND;
    thread.run(paced(1_000, Duration::ZERO, end), Some(us(200)), None, end);
    // A poll takes ten looks; in the end, one in 256 turns has one.
    assert!(thread.polls < thread.packets / 10, "{}", thread.polls);
    assert_eq!(thread.waits, thread.packets);
}

#[test]
fn many_packets_of_a_turn_are_followed_by_no_poll() {
    let mut moderation = Moderation::new(SETTINGS);
    let turn = Turn { packets: 16, asked: 16, answered: 0 };
    assert_eq!(moderation.next(us(5), turn), Step::Wait);
}

#[test]
fn under_full_load_a_small_turn_among_large_ones_is_followed_by_no_poll() {
    let mut moderation = Moderation::new(SETTINGS);
    let turn = |packets| Turn { packets, asked: packets, answered: 0 };
    for number in 0..16 {
        moderation.next(us(number), turn(12));
    }
    for number in 16..100 {
        let packets = if number % 4 == 3 { 1 } else { 12 };
        assert_eq!(moderation.next(us(number), turn(packets)), Step::Wait, "{number}");
    }
    // Once packets come alone, there are polls again.
    assert!((100..150).any(|number| moderation.next(us(number), turn(1)) == Step::Poll));
}

#[test]
fn sleeps_are_precise_once_asked_for() {
    let slack = || nix::sys::prctl::get_timerslack().expect("Linux has it");
    let changed = std::thread::spawn(move || {
        sleep_precisely().expect("every thread may");
        slack()
    });
    assert_eq!(changed.join().expect("no panic"), 1);
}

proptest! {
    #[test]
    fn steps_keep_their_limits_whatever_arrives(
        pause in 0..200_u64,
        poll in 0..50_u64,
        turns in prop::collection::vec((0..30_000_u64, 0..80_usize, 0..80_usize, 0..80_usize), 0..3000),
    ) {
        let mut moderation = Moderation::new(Settings { pause: us(pause), poll: us(poll) });
        let (mut now, mut last) = (Duration::ZERO, Duration::ZERO);
        for (gap, packets, asked, answered) in turns {
            // Short gaps for the most part.
            now += us(if gap > 29_900 { gap } else { gap % 60 });
            if packets > 0 {
                last = now;
            }
            match moderation.next(now, Turn { packets, asked, answered }) {
                Step::Wait => {}
                Step::Poll => prop_assert!(poll > 0 && now - last < us(poll)),
                Step::Pause(length) => prop_assert!(
                    packets > 0 && !length.is_zero() && length <= us(pause),
                    "{length:?}"
                ),
            }
        }
    }
}
