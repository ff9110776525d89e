//! A zone that changes at random, as text.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Name of the zone.
pub(crate) const APEX: &str = "changes.example";

/// Sets of records: their owners and types, the TTL and the data of each.
type Sets = BTreeMap<(String, &'static str), (u32, Vec<String>)>;

/// The zone.
pub(crate) struct Zone {
    draw: SplitMix64,
    sets: Sets,
    pub(crate) serial: u32,
    /// Refresh, retry, expire and negative TTL of the SOA record.
    timers: &'static str,
}

impl Zone {
    pub(crate) fn new(seed: u64, names: usize) -> Self {
        let (draw, sets, serial) = (SplitMix64::seed_from_u64(seed), Sets::new(), 1);
        let mut zone = Self { draw, sets, serial, timers: "3600 600 864000 60" };
        while zone.sets.len() < names {
            zone.set();
        }
        zone
    }

    /// The zone with other SOA timers.
    pub(crate) fn with_timers(self, timers: &'static str) -> Self {
        Self { timers, ..self }
    }

    fn below(&mut self, end: usize) -> usize {
        (self.draw.next_u64() >> 33) as usize % end
    }

    /// Makes a set of records of a random name, in place of one that it has.
    fn set(&mut self) {
        let number = self.below(500);
        // Aliases have nothing beside them; delegations have glue alone below them.
        let (owner, rtype) = match number % 10 {
            0 => (format!("alias{number}"), "CNAME"),
            1 => (format!("sub{number}"), "NS"),
            2 => (format!("ns.sub{}", number - 1), "A"),
            3 => (format!("*.wild{number}"), "TXT"),
            4 => (format!("Mail{number}"), "MX"),
            5 => (format!("_sip._tcp.host{number}"), "SRV"),
            6 => (format!("deep.er.host{number}"), "AAAA"),
            7 => (format!("own{number}"), "TYPE65280"),
            _ => (format!("host{number}"), "A"),
        };
        let count = if rtype == "CNAME" { 1 } else { 1 + self.below(4) };
        let records = (0..count).map(|_| self.data(rtype)).collect();
        let ttl = [60, 300, 3600][self.below(3)];
        self.sets.insert((owner, rtype), (ttl, records));
    }

    fn data(&mut self, rtype: &str) -> String {
        let (a, b) = (self.below(256), self.below(256));
        match rtype {
            "A" => format!("10.0.{a}.{b}"),
            "AAAA" => format!("2001:db8::{a:x}:{b:x}"),
            "MX" => format!("{a} host{b}"),
            "SRV" => format!("{a} {b} 5060 host{b}.{APEX}."),
            "TXT" => format!("\"{}\" \"{a} {b}\"", "text ".repeat(b / 8)),
            "NS" => format!("ns.sub{}", b / 10 * 10 + 1),
            "CNAME" => format!("host{b}.Elsewhere.example."),
            _ => format!("\\# 4 {a:02x}{b:02x}0000"),
        }
    }

    /// Changes some sets, and raises the serial number.
    pub(crate) fn change(&mut self) {
        for _ in 0..=self.below(6) {
            match self.below(3) {
                0 if self.sets.len() > 20 => {
                    let at = self.below(self.sets.len());
                    let key = self.sets.keys().nth(at).cloned();
                    key.map(|key| self.sets.remove(&key));
                }
                _ => self.set(),
            }
        }
        self.serial += 1;
    }

    /// The zone file.
    pub(crate) fn text(&self) -> String {
        let Self { serial, timers, .. } = self;
        let mut text = format!(
            "$ORIGIN {APEX}.\n$TTL 300\n@ IN SOA ns1 hostmaster {serial} {timers}\n@ IN NS ns1\n\
             ns1 IN A 127.0.0.1\n"
        );
        for ((owner, rtype), (ttl, records)) in &self.sets {
            let mut records = records.clone();
            records.sort();
            records.dedup();
            for data in records {
                let _ = writeln!(text, "{owner} {ttl} IN {rtype} {data}");
            }
        }
        text
    }
}
