//! Names in the study file and records of a cluster.

/// Model of all records.
pub(super) const MODEL: &str = "python-cluster";

/// All keys.
pub(super) const SPREAD: &str = "spread";

/// All keys, and one worker that is killed.
pub(super) const ONCE: &str = "killed/once";

/// 20 runs with a killed worker each.
pub(super) const TWENTY: &str = "killed/20";

/// All workloads.
pub(super) const WORKLOADS: [&str; 3] = [SPREAD, ONCE, TWENTY];

/// Ray with two workers, the scheme whose workers are killed.
pub(super) const TWO: &str = "ray/2";
