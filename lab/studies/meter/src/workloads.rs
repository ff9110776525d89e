//! Names in the study files and records of meters.

/// Model of all records.
pub(crate) const MODEL: &str = "meter";

/// A capture of a mix: CPU time and time on the clock, both of the same turns.
pub(crate) const MIX_CPU: &str = "mix/cpu";
pub(crate) const MIX_WALL: &str = "mix/wall";

/// Flows of one packet on standard input, all of them in the table.
pub(crate) const MEMORY: &str = "memory";

/// SYNs of ten times as many ends as the table takes, on standard input.
pub(crate) const FLOOD: &str = "flood/pcap";

/// Packets on an interface at growing rates.
pub(crate) const LIVE_LOSS: &str = "live/loss";

/// SYNs on an interface.
pub(crate) const LIVE_FLOOD: &str = "live/flood";

/// All workloads.
pub(crate) const WORKLOADS: [&str; 6] = [MIX_CPU, MIX_WALL, MEMORY, FLOOD, LIVE_LOSS, LIVE_FLOOD];

/// Our meter with one worker, in records.
pub(crate) const OURS: &str = "ours";

/// The meter of other people that criteria name.
pub(crate) const SOFTFLOWD: &str = "softflowd";
