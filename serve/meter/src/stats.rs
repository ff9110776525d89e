//! Counters of a meter, and their text for Prometheus.

use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// Counters of a meter, or of one of its workers, since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeterStats {
    /// Packets received, metered or not.
    pub packets: u64,
    /// Bytes of these packets on the wire.
    pub bytes: u64,
    /// Flows in the table now.
    pub flows_open: u64,
    /// Flows that were ever opened.
    pub flows_opened: u64,
    /// Records handed to exporters.
    pub flows_exported: u64,
    /// Flows that ended early as the table was full; they are exported, with that reason.
    pub flows_evicted: u64,
    /// Records that an exporter lost: queues full, files not writable.
    pub flows_lost: u64,
    /// Packets received and not metered, by cause.
    pub dropped: Dropped,
}

/// Packets that were not metered, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dropped {
    /// The kernel or the ring had no room: the meter was too slow.
    pub ring: u64,
    /// Left out by sampling.
    pub sampled: u64,
    /// Neither IPv4 nor IPv6.
    pub not_ip: u64,
    /// Shorter than their headers say, or headers that contradict each other.
    pub malformed: u64,
    /// Later fragments whose first fragment was not seen.
    pub fragments: u64,
    /// The flow table was full, and nothing could be evicted.
    pub table: u64,
}

impl Dropped {
    /// Causes with the names that metrics and summaries use.
    #[must_use]
    pub const fn by_cause(&self) -> [(&'static str, u64); 6] {
        [
            ("ring", self.ring),
            ("sampled", self.sampled),
            ("not_ip", self.not_ip),
            ("malformed", self.malformed),
            ("fragments", self.fragments),
            ("table", self.table),
        ]
    }

    /// Sum over all causes.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.by_cause().iter().fold(0, |sum, (_, count)| sum.saturating_add(*count))
    }
}

impl MeterStats {
    /// Adds the counters of another worker.
    pub fn add(&mut self, other: &Self) {
        let Self {
            packets,
            bytes,
            flows_open,
            flows_opened,
            flows_exported,
            flows_evicted,
            flows_lost,
            dropped,
        } = other;
        let Dropped { ring, sampled, not_ip, malformed, fragments, table } = dropped;
        for (sum, count) in [
            (&mut self.packets, packets),
            (&mut self.bytes, bytes),
            (&mut self.flows_open, flows_open),
            (&mut self.flows_opened, flows_opened),
            (&mut self.flows_exported, flows_exported),
            (&mut self.flows_evicted, flows_evicted),
            (&mut self.flows_lost, flows_lost),
            (&mut self.dropped.ring, ring),
            (&mut self.dropped.sampled, sampled),
            (&mut self.dropped.not_ip, not_ip),
            (&mut self.dropped.malformed, malformed),
            (&mut self.dropped.fragments, fragments),
            (&mut self.dropped.table, table),
        ] {
            *sum = sum.saturating_add(*count);
        }
    }
}

/// Writes the counters of all workers in the text format of Prometheus, version 0.0.4.
///
/// Each counter has the label `worker`, the observation domain of its records.
#[must_use]
pub fn prometheus(workers: &[(u32, MeterStats)]) -> String {
    type Value = fn(&MeterStats) -> u64;
    const METRICS: [(&str, &str, &str, Value); 7] = [
        ("packets_total", "counter", "Packets received, metered or not.", |stats| stats.packets),
        ("bytes_total", "counter", "Bytes of the packets received, on the wire.", |stats| stats.bytes),
        ("flows_open", "gauge", "Flows in the table.", |stats| stats.flows_open),
        ("flows_opened_total", "counter", "Flows that were opened.", |stats| stats.flows_opened),
        ("flows_exported_total", "counter", "Records handed to exporters.", |stats| stats.flows_exported),
        ("flows_evicted_total", "counter", "Flows evicted from a full table.", |stats| stats.flows_evicted),
        ("flows_lost_total", "counter", "Records that exporters lost.", |stats| stats.flows_lost),
    ];
    let mut text = String::new();
    for (name, kind, help, value) in METRICS {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "# HELP hashlane_flow_{name} {help}\n# TYPE hashlane_flow_{name} {kind}");
        for (worker, stats) in workers {
            let _ = writeln!(text, "hashlane_flow_{name}{{worker=\"{worker}\"}} {}", value(stats));
        }
    }
    let name = "hashlane_flow_packets_dropped_total";
    let _ = writeln!(text, "# HELP {name} Packets that were not metered, by cause.\n# TYPE {name} counter");
    for (worker, stats) in workers {
        for (cause, count) in stats.dropped.by_cause() {
            let _ = writeln!(text, "{name}{{worker=\"{worker}\",cause=\"{cause}\"}} {count}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_has_its_type_before_its_samples() {
        let stats = MeterStats {
            packets: 7,
            dropped: Dropped { malformed: 3, ..Dropped::default() },
            ..MeterStats::default()
        };
        let text = prometheus(&[(0, stats), (1, MeterStats::default())]);
        assert!(text.contains("hashlane_flow_packets_total{worker=\"0\"} 7\n"));
        assert!(text.contains("hashlane_flow_packets_dropped_total{worker=\"0\",cause=\"malformed\"} 3\n"));
        let mut typed = "";
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# TYPE ") {
                typed = rest.split(' ').next().unwrap();
            } else if !line.starts_with('#') {
                assert!(line.starts_with(&format!("{typed}{{")), "{line} after the type of {typed}");
            }
        }
        assert_eq!(text.lines().filter(|line| !line.starts_with('#')).count(), 2 * (7 + 6));
    }

    #[test]
    fn sums_stop_at_the_largest_number() {
        let full = MeterStats { packets: u64::MAX, flows_open: 2, ..MeterStats::default() };
        let mut sum = full;
        sum.add(&full);
        assert_eq!((sum.packets, sum.flows_open), (u64::MAX, 4));
    }
}
