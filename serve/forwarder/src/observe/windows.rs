//! Sums and heavy hitters of the last hour, in twelve windows of five minutes.

use super::snapshot::Shares;
use crate::totals::{LOSSES, Totals};
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_ndn::tlv::write_element;
use hashlane_ndn::wire::NAME;
use hashlane_ndn_fw::forward::DropReason;
use hashlane_sketch::{HeavyHitters, Keys, Sketch as _};
use std::collections::VecDeque;
use std::time::Duration;

/// Length of a window, and their number, the current one included.
const WINDOW: Duration = Duration::from_secs(300);
const WINDOWS: usize = 12;

/// Counters of the heavy hitters of a window: whatever has more than 1/65 of its weight is found.
const COUNTERS: usize = 64;

/// Heavy hitters that are shown.
pub(super) const SHOWN: usize = 20;

/// Drops and losses by reason.
const REASONS: usize = DropReason::ALL.len() + LOSSES.len();

/// The windows.
#[derive(Default)]
pub(super) struct Windows {
    windows: VecDeque<Window>,
    /// Number of the newest one since the start.
    newest: u64,
    /// Drops and losses at the last sample.
    dropped: [u64; REASONS],
}

struct Window {
    number: u64,
    prefixes: Option<HeavyHitters>,
    peers: Option<HeavyHitters>,
    drops: [u64; REASONS],
}

impl Windows {
    /// Moves to the window of a time since the start.
    pub(super) fn turn(&mut self, since: Duration) {
        let number = since.as_secs() / WINDOW.as_secs();
        if self.windows.is_empty() || number > self.newest {
            self.newest = number;
            let sketch = || HeavyHitters::new(COUNTERS).ok();
            let window = Window { number, prefixes: sketch(), peers: sketch(), drops: [0; REASONS] };
            self.windows.push_back(window);
        }
        let oldest = (self.newest + 1).saturating_sub(WINDOWS as u64);
        self.windows.retain(|window| window.number >= oldest);
    }

    /// Adds packets whose names begin with these encoded components.
    pub(super) fn add_prefix(&mut self, prefix: &[u8], packets: u64) {
        add(self.windows.back_mut().and_then(|window| window.prefixes.as_mut()), prefix, packets);
    }

    /// Adds bytes of a peer.
    pub(super) fn add_peer(&mut self, peer: &str, bytes: u64) {
        if bytes > 0 {
            add(self.windows.back_mut().and_then(|window| window.peers.as_mut()), peer.as_bytes(), bytes);
        }
    }

    /// Adds the drops and losses since the last call.
    pub(super) fn add_drops(&mut self, counters: &Totals) {
        let mut now = counters.losses().map(|(_, count)| count);
        let dropped: [u64; REASONS] = std::array::from_fn(|_| now.next().unwrap_or_default());
        let before = std::mem::replace(&mut self.dropped, dropped);
        if let Some(window) = self.windows.back_mut() {
            for ((sum, now), before) in window.drops.iter_mut().zip(dropped).zip(before) {
                *sum += now.saturating_sub(before);
            }
        }
    }

    /// Packets by the first components of their names.
    pub(super) fn prefixes(&self) -> Shares {
        let name = |key: &[u8]| {
            let mut bytes = Vec::with_capacity(key.len() + 4);
            write_element(NAME, key, &mut bytes);
            NdnName::parse(&bytes)
                .map_or_else(|_| "?".to_owned(), |name| OwnedName::<Ndn>::from(&name).to_string())
        };
        shares(self.windows.iter().map(|window| window.prefixes.as_ref()), name)
    }

    /// Bytes by peer.
    pub(super) fn peers(&self) -> Shares {
        let text = |key: &[u8]| String::from_utf8_lossy(key).into_owned();
        shares(self.windows.iter().map(|window| window.peers.as_ref()), text)
    }

    /// Drops and losses by reason, those that occurred, most first.
    pub(super) fn drops(&self) -> Vec<(&'static str, u64)> {
        let sum = |at: usize| self.windows.iter().filter_map(|window| window.drops.get(at)).sum::<u64>();
        let names = DropReason::ALL.iter().map(|reason| reason.name()).chain(LOSSES.map(|(name, _)| name));
        let mut drops: Vec<_> = names.enumerate().map(|(at, name)| (name, sum(at))).collect();
        drops.retain(|(_, count)| *count > 0);
        drops.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        drops
    }
}

fn add(sketch: Option<&mut HeavyHitters>, key: &[u8], weight: u64) {
    let Some(sketch) = sketch else { return };
    let added = sketch.update(&Keys::slices(&[key]), Some(&[weight]));
    debug_assert!(added.is_ok(), "keys are short, and a window is too short for 2⁶³ packets or bytes");
}

/// The heaviest of all windows.
fn shares<'w>(
    windows: impl Iterator<Item = Option<&'w HeavyHitters>>,
    name: impl Fn(&[u8]) -> String,
) -> Shares {
    let Ok(mut all) = HeavyHitters::new(COUNTERS) else { return Shares::default() };
    for window in windows.flatten() {
        let merged = all.merge(window);
        debug_assert!(merged.is_ok(), "all windows have the same number of counters");
    }
    let result = all.result();
    let heaviest = result.hitters.iter().take(SHOWN).map(|hitter| (name(&hitter.key), hitter.least));
    Shares { heaviest: heaviest.collect(), total: result.total }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heaviest_are_found_among_many_and_forgotten_after_an_hour() {
        let mut windows = Windows::default();
        windows.turn(Duration::ZERO);
        for number in 0..20_000_u32 {
            windows.add_peer(&format!("192.0.2.{}", number % 2), 100);
            windows.add_peer(&format!("2001:db8::{number:x}"), 1);
        }
        let peers = windows.peers();
        assert_eq!(peers.total, 20_000 * 101);
        assert!(peers.heaviest.len() <= SHOWN);
        for (at, peer) in ["192.0.2.0", "192.0.2.1"].into_iter().enumerate() {
            assert_eq!(peers.heaviest[at].0, peer);
            assert!((1_000_000 - 2_020_000 / 65..=1_000_000).contains(&peers.heaviest[at].1));
        }
        assert!(peers.rest() <= 20_000 + 2 * 2_020_000 / 65);
        windows.turn(Duration::from_secs(1800));
        windows.add_peer("local", 5);
        assert_eq!(windows.peers().total, 20_000 * 101 + 5);
        windows.turn(Duration::from_secs(3600));
        assert_eq!(windows.peers().heaviest, [("local".to_owned(), 5)]);
        windows.turn(Duration::from_secs(90_000));
        assert_eq!(windows.peers(), Shares::default());
    }

    #[test]
    fn prefixes_are_shown_as_names() {
        let mut windows = Windows::default();
        windows.turn(Duration::ZERO);
        windows.add_prefix(b"\x08\x01a\x08\x03<b>", 256);
        windows.add_prefix(b"", 512);
        assert_eq!(windows.prefixes().heaviest, [("/".to_owned(), 512), ("/a/%3Cb%3E".to_owned(), 256)]);
    }

    #[test]
    fn drops_are_counted_from_one_sample_to_the_next() {
        let counters = Totals::default();
        let mut windows = Windows::default();
        windows.turn(Duration::ZERO);
        windows.add_drops(&counters);
        assert!(windows.drops().is_empty());
        counters.first().drops.count(DropReason::Loop);
        counters.first().queue_drops.add(7);
        windows.add_drops(&counters);
        windows.turn(Duration::from_secs(600));
        windows.add_drops(&counters);
        assert_eq!(windows.drops(), [("send-queue-full", 7), ("loop", 1)]);
    }
}
