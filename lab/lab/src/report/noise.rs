//! Noise of a run in one line, as a reader needs it before any figure.

use super::part::Part;
use crate::evidence::is_off;
use crate::run::noise::{QUIET_OTHERS, QUIET_STEAL};
use crate::run::{Machine, Noise};
use hashlane_stats::format::ratio;

/// Change of the core's clock during the run, as a share, above which it is reported.
const DRIFT: f64 = 0.02;

/// Share of outliers among the samples above which it is reported.
const MANY_OUTLIERS: f64 = 0.10;

/// Noise of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct NoiseLine {
    /// `true` if nothing that is known disturbs the figures.
    pub low: bool,
    /// `noise low: A/A holds on 63 workloads, load 0.2 before the run, no steal`.
    pub text: String,
}

/// Noise of the run that measured these parts.
pub fn noise(parts: &[Part<'_>]) -> NoiseLine {
    let mut facts = Vec::new();
    let mut low = control(parts, &mut facts);
    if let Some(part) = parts.first() {
        low &= machine(part.machine, &mut facts);
    }
    let (samples, outliers) = parts
        .iter()
        .filter_map(|part| part.run)
        .fold((0, 0), |(samples, outliers), run| (samples + run.samples, outliers + run.outliers));
    let share = outliers as f64 / samples.max(1) as f64;
    if share > MANY_OUTLIERS {
        low = false;
        facts.push(format!("{:.0} % of the samples are outliers", 100.0 * share));
    }
    let level = if low { "low" } else { "high" };
    if facts.is_empty() {
        facts.push("nothing is known about it".to_owned());
    }
    NoiseLine { low, text: format!("noise {level}: {}", facts.join(", ")) }
}

/// Adds the A/A controls; `true` if none is off.
fn control(parts: &[Part<'_>], facts: &mut Vec<String>) -> bool {
    let controls: Vec<_> = parts.iter().flat_map(|part| part.evidence().controls()).collect();
    if controls.is_empty() {
        return true;
    }
    let distance = |value: f64| (value - 1.0).abs();
    let off: Vec<_> = controls.iter().filter(|(_, control)| is_off(*control)).collect();
    let worst = off.iter().max_by(|a, b| distance(a.1.value).total_cmp(&distance(b.1.value)));
    match worst {
        Some((workload, worst)) => {
            let bounds = format!("{} to {}", ratio(worst.low), ratio(worst.high));
            facts.push(format!(
                "A/A off on {} of {} workloads (worst: {bounds}, {workload})",
                off.len(),
                controls.len()
            ));
            false
        }
        None => {
            let workloads = if controls.len() == 1 { "workload" } else { "workloads" };
            facts.push(format!("A/A holds on {} {workloads}", controls.len()));
            true
        }
    }
}

/// Adds the facts of the machine; `true` if they disturb nothing.
fn machine(machine: &Machine, facts: &mut Vec<String>) -> bool {
    let Noise { load, others, steal } = machine.run.noise;
    let mut low = machine.run.noise.is_quiet();
    if let Some(others) = others.filter(|others| *others > QUIET_OTHERS) {
        facts.push(format!("other processes took {others:.1} cores"));
    }
    if let Some(load) = load {
        facts.push(format!("load {load:.1} before the run"));
    }
    match steal {
        Some(steal) if steal > QUIET_STEAL => facts.push(format!("steal {:.0} %", 100.0 * steal)),
        Some(_) => facts.push("no steal".to_owned()),
        None => {}
    }
    let drift = machine.run.core_ghz_before.zip(machine.run.core_ghz_after);
    if let Some(drift) = drift.map(|(before, after)| (after / before - 1.0).abs()).filter(|d| *d > DRIFT) {
        low = false;
        facts.push(format!("core clock changed by {:.0} %", 100.0 * drift));
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::Definition;
    use crate::report::sample;
    use crate::run::RunStudy;
    use hashlane_records::{RecordSet, metric};

    fn line(records: &RecordSet, machine: &Machine, run: Option<&RunStudy>) -> NoiseLine {
        let definition: Definition = sample::definition();
        let (answer, sections) = (None, Vec::new());
        noise(&[Part { definition: &definition, records, machine, run, answer, sections }])
    }

    #[test]
    fn a_quiet_run_has_low_noise() {
        let records = sample::records(&sample::definition(), &[]);
        let mut machine = sample::machine();
        machine.run.noise = Noise { load: Some(0.21), others: Some(0.02), steal: Some(0.0) };
        let noise = line(&records, &machine, None);
        assert_eq!(noise.text, "noise low: A/A holds on 2 workloads, load 0.2 before the run, no steal");
        assert!(noise.low);
    }

    #[test]
    fn each_disturbance_is_named() {
        let records = sample::changed(&[], |record| {
            if record.metric == metric::RATIO && record.scheme.ends_with("/again") {
                (record.value, record.low, record.high) = (1.4, 1.2, 1.64);
            }
        });
        let mut machine = sample::machine();
        machine.run.noise = Noise { load: Some(4.0), others: Some(1.5), steal: Some(0.1) };
        machine.run.core_ghz_after = Some(3.0);
        let run = RunStudy {
            slug: "sample".into(),
            seconds: 1.0,
            samples: 100,
            outliers: 20,
            definition: String::new(),
        };
        let noise = line(&records, &machine, Some(&run));
        assert!(!noise.low);
        for part in [
            "noise high: A/A off on 2 of 2 workloads (worst: 1.200 to 1.640, ",
            "other processes took 1.5 cores",
            "load 4.0",
            "steal 10 %",
            "core clock changed by 12 %",
            "20 % of the samples are outliers",
        ] {
            assert!(noise.text.contains(part), "{}", noise.text);
        }
    }

    #[test]
    fn an_unknown_machine_is_said_to_be_unknown() {
        let noise = line(&RecordSet::new(), &Machine::default(), None);
        assert_eq!(noise.text, "noise low: nothing is known about it");
    }
}
