//! Records of several launches of one study, combined into one run's.

use super::prediction::over_launches;
use super::set::{Record, RecordSet};

impl RecordSet {
    /// Records of a run from its launches' records: each figure is the median over the launches that have it,
    /// with bounds [between](over_launches) them. A figure that is exact and alike in all of them stays as it
    /// is, and so does one that a single launch has, which holds within that launch.
    pub fn from_launches(launches: &[Self]) -> Self {
        let mut all = Self::new();
        for record in launches.iter().flat_map(Self::iter) {
            let key = record.key();
            if all.find(&key).is_none() {
                let of_key: Vec<&Record> = launches.iter().filter_map(|set| set.find(&key)).collect();
                // Refused only if its key is there.
                let _ = all.insert(of_launches(record, &of_key));
            }
        }
        all
    }
}

fn of_launches(first: &Record, launches: &[&Record]) -> Record {
    let is_exact =
        |record: &&Record| (record.low, record.value, record.high) == (first.value, first.value, first.value);
    let figures: Vec<f64> = launches.iter().map(|record| record.value).collect();
    match over_launches(&figures) {
        Some(interval) if !launches.iter().all(is_exact) => Record {
            value: interval.value,
            low: interval.low,
            high: interval.high,
            samples: launches.iter().map(|record| record.samples).sum(),
            launches: launches.len() as u64,
            ..first.clone()
        },
        _ => first.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A launch with these schemes, each with its figure and the distance of its bounds.
    fn launch(figures: &[(&str, f64, f64)]) -> RecordSet {
        let mut set = RecordSet::new();
        for &(scheme, value, width) in figures {
            let columns = ["s", "m", "w", scheme, "p", "ns", "ns"];
            set.insert(Record::new(columns, [value, value - width, value + width], 10, 1)).unwrap();
        }
        set
    }

    #[test]
    fn takes_medians_and_bounds_between_launches() {
        let launches = [
            launch(&[("timed", 100.0, 0.1), ("exact", 7.0, 0.0), ("once", 3.0, 0.1)]),
            launch(&[("timed", 104.0, 0.1), ("exact", 7.0, 0.0)]),
            launch(&[("timed", 98.0, 0.1), ("exact", 7.0, 0.0), ("late", 1.0, 0.0)]),
        ];
        let run = RecordSet::from_launches(&launches);
        assert_eq!(run.schemes("s"), ["timed", "exact", "once", "late"]);
        let of = |scheme: &str| run.metric("s", "w", scheme, "ns").unwrap();
        let timed = of("timed");
        assert_eq!((timed.value, timed.samples, timed.launches), (100.0, 30, 3));
        assert!(timed.low < 98.0 && timed.high > 104.0 && !timed.interval().one_launch);
        assert_eq!(of("exact"), launches[0].metric("s", "w", "exact", "ns").unwrap());
        assert_eq!(of("once"), launches[0].metric("s", "w", "once", "ns").unwrap());
        assert!(of("once").interval().one_launch);
    }

    #[test]
    fn one_launch_is_a_run_within_it() {
        let one = launch(&[("timed", 100.0, 0.1)]);
        assert_eq!(RecordSet::from_launches(std::slice::from_ref(&one)), one);
        assert!(RecordSet::from_launches(&[]).is_empty());
    }
}
