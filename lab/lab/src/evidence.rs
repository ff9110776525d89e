//! Records from which a sentence may be drawn, and reasons for which it may not.

use crate::definition::Definition;
use hashlane_records::{Record, RecordSet, metric};
use hashlane_stats::Interval;
use hashlane_stats::format::{plain, ratio};

/// Largest deviation from 1 of an A/A control's nearer bound: beyond it the machine was too noisy for a
/// sentence about the workload.
pub const CONTROL_MARGIN: f64 = 0.03;

/// Largest quotient of the bounds of a figure in a sentence.
pub const WIDEST: f64 = 1.5;

/// Smallest share of an offered load at which figures describe that load, and not its queues.
pub const CARRIED: f64 = 0.99;

/// Reason for which a sentence is withheld.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Doubt {
    /// A figure was not measured.
    #[error("not measured: {}", plain(.figure))]
    NotMeasured {
        /// The figure, such as `ours / new, positive`.
        figure: String,
    },
    /// Too few rounds bound the figure at 95 %.
    #[error("undecided: {} has {rounds} rounds, and bounds at 95 % take 6", plain(.figure))]
    FewRounds {
        /// The figure.
        figure: String,
        /// Number of rounds.
        rounds: u64,
    },
    /// The A/A control of the workload differs from 1.
    #[error("undecided: A/A {} on {}", bounds(.ratio), plain(.workload))]
    Control {
        /// The workload.
        workload: String,
        /// Ratio of the control to itself.
        ratio: Interval,
    },
    /// The bounds of a figure are too far apart.
    #[error("undecided: {} is {}", plain(.figure), bounds(.interval))]
    Wide {
        /// The figure.
        figure: String,
        /// Its bounds.
        interval: Interval,
    },
    /// The offered load was not carried, so that the figures describe queues.
    #[error("undecided: the offered load was not carried ({})", plain(.load))]
    NotCarried {
        /// The workload and the share that was carried, such as `paced/udp/4: 50 %`.
        load: String,
    },
    /// The figures of several workloads or schemes point in different directions.
    #[error("undecided: {}", plain(.figures))]
    Mixed {
        /// The figures.
        figures: String,
    },
}

fn bounds(interval: &Interval) -> String {
    format!("{} to {}", ratio(interval.low), ratio(interval.high))
}

impl Doubt {
    /// `true` if another run, on a quiet machine, may give the sentence.
    pub fn is_noise(&self) -> bool {
        matches!(self, Self::Control { .. } | Self::Wide { .. } | Self::NotCarried { .. })
    }
}

/// The records of one study, with the checks that a sentence needs.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// The study.
    pub definition: &'a Definition,
    /// All records.
    pub records: &'a RecordSet,
}

impl<'a> Evidence<'a> {
    /// The records of a study.
    pub fn new(definition: &'a Definition, records: &'a RecordSet) -> Self {
        Self { definition, records }
    }

    /// The ratio of two schemes on a workload, as measured pair by pair; `metric` names it.
    ///
    /// # Errors
    /// The reason for which no sentence may state it.
    pub fn ratio_in(&self, metric: &str, workload: &str, of: &str, to: &str) -> Result<Interval, Doubt> {
        let record = self.records.metric_in(&self.definition.slug, workload, of, metric, to);
        self.checked(workload, record, || format!("{of} / {to}, {workload}"))
    }

    /// A figure of a scheme on a workload.
    ///
    /// # Errors
    /// The reason for which no sentence may state it.
    pub fn figure(&self, workload: &str, scheme: &str, metric: &str) -> Result<Interval, Doubt> {
        let record = self.records.metric(&self.definition.slug, workload, scheme, metric);
        self.checked(workload, record, || format!("{metric} of {scheme}, {workload}"))
    }

    /// The difference of two schemes' figures of `metric` on a workload, as measured pair by pair. Its bounds
    /// are narrow enough if they are when added to the figure of `to`.
    ///
    /// # Errors
    /// The reason for which no sentence may state it.
    pub fn difference(&self, metric: &str, workload: &str, of: &str, to: &str) -> Result<Interval, Doubt> {
        let figure = || format!("{of} − {to}, {workload}");
        let base = self.records.metric(&self.definition.slug, workload, to, metric);
        let more = self.records.metric_in(&self.definition.slug, workload, of, metric::MORE, to);
        let (Some(base), Some(more)) = (base, more) else {
            return Err(Doubt::NotMeasured { figure: figure() });
        };
        self.carried(workload, &[of, to])?;
        let Interval { value, low, high, .. } = more.interval();
        let [value, low, high] = [value, low, high].map(|bound| base.value + bound);
        // The width of a difference is judged beside the figure that it is added to.
        match self.check(workload, Interval { value, low, high, ..more.interval() }, more.samples, figure) {
            Err(Doubt::Wide { figure, .. }) => Err(Doubt::Wide { figure, interval: more.interval() }),
            Err(doubt) => Err(doubt),
            Ok(_) => Ok(more.interval()),
        }
    }

    /// Ratio of the A/A control to itself on a workload; `None` if there is no control there.
    pub fn control(&self, workload: &str) -> Option<Interval> {
        let (of, to) = self.definition.control.as_ref()?;
        Some(self.records.ratio(&self.definition.slug, workload, of, to)?.interval())
    }

    /// Ratios of the A/A control to itself, by workload.
    pub fn controls(&self) -> Vec<(&'a str, Interval)> {
        let Some((of, to)) = &self.definition.control else { return Vec::new() };
        let of = |r: &&Record| {
            r.study == self.definition.slug && r.metric == metric::RATIO && r.scheme == *of && r.unit == *to
        };
        self.records.iter().filter(of).map(|r| (r.workload.as_str(), r.interval())).collect()
    }

    fn checked(
        &self,
        workload: &str,
        record: Option<&Record>,
        figure: impl Fn() -> String,
    ) -> Result<Interval, Doubt> {
        let Some(record) = record else { return Err(Doubt::NotMeasured { figure: figure() }) };
        // The unit of a ratio is the other scheme.
        self.carried(workload, &[&record.scheme, &record.unit])?;
        self.check(workload, record.interval(), record.samples, figure)
    }

    /// Checks that each of the schemes carried the load that it was offered.
    fn carried(&self, workload: &str, schemes: &[&str]) -> Result<(), Doubt> {
        for scheme in schemes {
            let carried = self.records.metric(&self.definition.slug, workload, scheme, metric::CARRIED);
            if let Some(record) = carried.filter(|record| record.value < CARRIED) {
                let load = format!("{workload}: {:.1} % by {scheme}", 100.0 * record.value);
                return Err(Doubt::NotCarried { load });
            }
        }
        Ok(())
    }

    fn check(
        &self,
        workload: &str,
        interval: Interval,
        rounds: u64,
        figure: impl Fn() -> String,
    ) -> Result<Interval, Doubt> {
        if let Some(ratio) = self.control(workload).filter(|ratio| is_off(*ratio)) {
            return Err(Doubt::Control { workload: workload.to_owned(), ratio });
        }
        if !interval.is_conclusive() {
            return Err(Doubt::FewRounds { figure: figure(), rounds });
        }
        if interval.low > 0.0 && interval.high > WIDEST * interval.low {
            return Err(Doubt::Wide { figure: figure(), interval });
        }
        Ok(interval)
    }
}

/// Tests if an A/A ratio excludes 1 by more than [`CONTROL_MARGIN`].
pub fn is_off(control: Interval) -> bool {
    control.low > 1.0 + CONTROL_MARGIN || control.high < 1.0 - CONTROL_MARGIN
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    const REFERENCE: &str = "foo/by-element/summed";

    /// The sample records, with the bounds of one ratio replaced.
    fn with(of: &str, low: f64, high: f64) -> RecordSet {
        sample::changed(&[], |record| {
            if record.metric == metric::RATIO && record.scheme == of && record.unit == REFERENCE {
                (record.value, record.low, record.high) = ((low + high) / 2.0, low, high);
            }
        })
    }

    fn doubt(records: &RecordSet) -> Option<Doubt> {
        let definition = sample::definition();
        let evidence = Evidence::new(&definition, records);
        evidence.ratio_in(metric::RATIO, "12Bx5", "foo/straight/summed", REFERENCE).err()
    }

    #[test]
    fn a_ratio_between_narrow_bounds_holds() {
        assert_eq!(doubt(&with("foo/straight/summed", 0.3, 0.44)), None);
    }

    #[test]
    fn a_wide_ratio_gives_no_sentence() {
        let doubt = doubt(&with("foo/straight/summed", 0.3, 0.46)).unwrap();
        assert!(matches!(doubt, Doubt::Wide { .. }) && doubt.is_noise(), "{doubt}");
    }

    #[test]
    fn a_control_that_differs_from_1_withholds_the_sentence() {
        let control = format!("{REFERENCE}/again");
        for (low, high, off) in
            [(1.031, 1.2, true), (0.8, 0.969, true), (1.01, 1.2, false), (0.8, 0.98, false)]
        {
            let doubt = doubt(&with(&control, low, high));
            assert_eq!(matches!(doubt, Some(Doubt::Control { .. })), off, "{low} {high}: {doubt:?}");
        }
    }

    /// The sample records with one of another metric.
    fn with_record(scheme: &str, metric: &str, unit: &str, (value, low, high): (f64, f64, f64)) -> RecordSet {
        let mut records = with("foo/straight/summed", 0.4, 0.41);
        let mut record = records.iter().next().unwrap().clone();
        record.workload = "12Bx5".into();
        (record.scheme, record.metric, record.unit) = (scheme.into(), metric.into(), unit.into());
        (record.value, record.low, record.high) = (value, low, high);
        records.insert(record).unwrap();
        records
    }

    #[test]
    fn a_load_that_was_not_carried_withholds_the_sentence() {
        for scheme in ["foo/straight/summed", REFERENCE] {
            let share = |share| with_record(scheme, metric::CARRIED, "share", (share, share, share));
            let doubt = doubt(&share(0.5)).unwrap();
            assert_eq!(
                doubt.to_string(),
                format!("undecided: the offered load was not carried (12Bx5: 50.0 % by {scheme})")
            );
            assert_eq!(super::tests::doubt(&share(0.995)), None);
        }
    }

    #[test]
    fn a_difference_is_as_narrow_as_the_figures_that_it_is_of() {
        let definition = sample::definition();
        let of = |value, low, high| {
            let records = with_record("foo/straight/summed", metric::MORE, REFERENCE, (value, low, high));
            Evidence::new(&definition, &records).difference(
                metric::CYCLES_MEAN,
                "12Bx5",
                "foo/straight/summed",
                REFERENCE,
            )
        };
        // The reference takes 269 cycles.
        assert_eq!(of(-0.1, -20.0, 20.0).unwrap().low, -20.0);
        assert!(matches!(of(0.0, -80.0, 80.0), Err(Doubt::Wide { .. })));
        let records = sample::records(&definition, &[]);
        let missing = Evidence::new(&definition, &records).difference("ns", "12Bx5", "a", "b");
        assert_eq!(missing.unwrap_err().to_string(), "not measured: a − b, 12Bx5");
    }

    #[test]
    fn a_missing_ratio_is_not_measured() {
        let doubt = doubt(&RecordSet::new()).unwrap();
        assert_eq!(doubt.to_string(), format!("not measured: foo/straight/summed / {REFERENCE}, 12Bx5"));
        assert!(!doubt.is_noise());
    }

    #[test]
    fn lists_the_controls_by_workload() {
        let definition = sample::definition();
        let records = sample::records(&definition, &[]);
        let controls = Evidence::new(&definition, &records).controls();
        assert_eq!(controls.iter().map(|c| c.0).collect::<Vec<_>>(), ["12Bx5", "6Bx10"]);
    }
}
