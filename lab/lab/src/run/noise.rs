//! Noise of the machine during a run: the load of other processes, and time taken by the hypervisor.

use std::time::Instant;

use serde::{Deserialize, Serialize};

/// Noise during a run. Facts that the system does not report are absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Noise {
    /// Load average of the last minute before the run.
    pub load: Option<f64>,
    /// Processors that other processes kept busy during the run, on average.
    pub others: Option<f64>,
    /// Share of the processors' time that the hypervisor gave to other guests (steal time), 0 to 1.
    pub steal: Option<f64>,
}

/// Counters of the system at one time: two of them give the [`Noise`] in between.
#[derive(Clone, Copy, Debug)]
pub struct Activity {
    at: Instant,
    system: Option<Cpu>,
    /// Ticks of this process and its children that have ended.
    own: Option<u64>,
    load: Option<f64>,
}

/// Ticks of all processors since the system started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cpu {
    busy: u64,
    steal: u64,
    all: u64,
}

/// Processors that other processes may keep busy on a quiet machine.
pub const QUIET_OTHERS: f64 = 0.1;

/// Share of stolen time on a quiet machine.
pub const QUIET_STEAL: f64 = 0.01;

impl Activity {
    /// The counters now. Reads `/proc`; without it nothing is known.
    pub fn now() -> Self {
        let read = |path: &str| std::fs::read_to_string(path).ok();
        Self {
            at: Instant::now(),
            system: read("/proc/stat").and_then(|text| Cpu::parse(&text)),
            own: read("/proc/self/stat").and_then(|text| own(&text)),
            load: read("/proc/loadavg").and_then(|text| text.split_whitespace().next()?.parse().ok()),
        }
    }

    /// Noise between this time and a later one.
    pub fn until(&self, end: &Self) -> Noise {
        let system = self.system.zip(end.system);
        let elapsed = |(a, b): (Cpu, Cpu)| Some(b.all.checked_sub(a.all)?).filter(|ticks| *ticks > 0);
        let share = system.and_then(|(a, b)| {
            let others = b.busy.checked_sub(a.busy)?.saturating_sub(end.own?.checked_sub(self.own?)?);
            Some(others as f64 / elapsed((a, b))? as f64)
        });
        let processors = std::thread::available_parallelism().ok().map(|n| n.get() as f64);
        Noise {
            load: self.load,
            others: share.zip(processors).map(|(share, processors)| share * processors),
            steal: system
                .and_then(|(a, b)| Some(b.steal.checked_sub(a.steal)? as f64 / elapsed((a, b))? as f64)),
        }
    }

    /// Seconds since then.
    pub fn seconds(&self) -> f64 {
        self.at.elapsed().as_secs_f64()
    }
}

impl Noise {
    /// `true` if nothing that is known disturbs a measurement.
    pub fn is_quiet(&self) -> bool {
        self.others.is_none_or(|others| others <= QUIET_OTHERS)
            && self.steal.is_none_or(|steal| steal <= QUIET_STEAL)
    }
}

impl Cpu {
    /// The first line of `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal (proc(5)).
    fn parse(text: &str) -> Option<Self> {
        let line = text.lines().next()?.strip_prefix("cpu ")?;
        let fields = line.split_whitespace().map(|field| field.parse().ok());
        let fields: Vec<u64> = fields.collect::<Option<_>>()?;
        let [user, nice, system, idle, iowait, irq, softirq, steal, ..] = *fields.as_slice() else {
            return None;
        };
        let busy = user + nice + system + irq + softirq;
        Some(Self { busy, steal, all: busy + idle + iowait + steal })
    }
}

/// Ticks in `/proc/self/stat`: utime, stime, cutime and cstime, fields 14 to 17 (proc(5)).
fn own(text: &str) -> Option<u64> {
    // The second field, the name in parentheses, may have spaces.
    let (_, after) = text.rsplit_once(')')?;
    let fields = after.split_whitespace().skip(11).take(4).map(|field| field.parse::<i64>().ok());
    let ticks: i64 = fields.collect::<Option<Vec<_>>>()?.iter().sum();
    u64::try_from(ticks).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn activity(system: [u64; 3], own: u64) -> Activity {
        let [busy, steal, all] = system;
        Activity {
            at: Instant::now(),
            system: Some(Cpu { busy, steal, all }),
            own: Some(own),
            load: Some(0.5),
        }
    }

    #[test]
    fn reads_the_kernels_counters() {
        let cpu = Cpu::parse("cpu  10 1 5 100 7 2 3 4 0 0\ncpu0 1 1").unwrap();
        assert_eq!(cpu, Cpu { busy: 21, steal: 4, all: 132 });
        assert_eq!(Cpu::parse("cpu 1 2"), None);
        assert_eq!(own("1 (a) b) S 2 3 4 5 6 7 8 9 10 11 100 20 3 4 0"), Some(127));
        assert_eq!(own("1 (a"), None);
    }

    #[test]
    fn tells_other_processes_from_this_one() {
        let noise = activity([100, 0, 1000], 50).until(&activity([200, 10, 1200], 130));
        let processors = std::thread::available_parallelism().unwrap().get() as f64;
        // 100 ticks of 200 were busy, 80 of them this process's own.
        assert!((noise.others.unwrap() - 0.1 * processors).abs() < 1e-9, "{noise:?}");
        assert_eq!((noise.steal, noise.load), (Some(0.05), Some(0.5)));
        assert!(!noise.is_quiet());
    }

    #[test]
    fn nothing_known_is_quiet() {
        assert!(Noise::default().is_quiet());
        let now = Activity::now();
        // No tick may lie between two calls.
        assert_eq!(now.until(&now).others, None);
    }
}
