//! Answer: packets per second and core, beside softflowd, and the memory of a flow.

use crate::metric;
use crate::workloads::{MEMORY, MIX_CPU, MODEL, OURS, SOFTFLOWD};
use hashlane_lab::definition::Definition;
use hashlane_lab::evidence::{Doubt, Evidence};
use hashlane_lab::report::{Answer, Block, Facts, Role, SchemeBars, Statement};
use hashlane_records::RecordSet;
use hashlane_stats::format::significant;

pub(crate) fn answer(definition: &Definition, records: &RecordSet) -> Answer {
    let evidence = Evidence::new(definition, records);
    Answer {
        sentence: sentence(evidence),
        chart: Facts::of(definition, records, MODEL).and_then(|facts| chart(&facts)),
        surprises: Vec::new(),
        limits: vec![
            "One capture of short frames; its file is in the page cache, so reading it is cheap.".to_owned(),
            "Meters write what they are made for: ours IPFIX to a file, softflowd NetFlow v9 to a socket."
                .to_owned(),
        ],
    }
}

fn sentence(evidence: Evidence<'_>) -> Result<Statement, Doubt> {
    let rate = evidence.figure(MIX_CPU, OURS, metric::RATE_CORE)?;
    let mut figures = vec![rate];
    let mut text = format!("{} M packets/s a core from a capture", significant(rate.value / 1e6));
    match evidence.ratio(MIX_CPU, SOFTFLOWD, OURS) {
        Ok(ratio) => {
            text += &format!("; softflowd takes {} × the CPU time", significant(ratio.value));
            figures.push(ratio);
        }
        Err(Doubt::NotMeasured { .. }) => text += "; softflowd not measured",
        Err(_) => text += "; softflowd undecided",
    }
    if let Ok(bytes) = evidence.figure(MEMORY, OURS, metric::BYTES_PER_FLOW) {
        text += &format!("; {} bytes a flow", significant(bytes.value));
        figures.push(bytes);
    }
    text.push('.');
    Ok(Statement { text, figures })
}

/// CPU time of all meters.
fn chart(facts: &Facts<'_>) -> Option<Block> {
    let bars = SchemeBars {
        workload: MIX_CPU,
        metric: metric::NS,
        unit: "ns",
        axis: "CPU time per packet (ns)",
        title: "CPU time per packet by meter",
    };
    bars.draw(facts, |id| if id.starts_with(OURS) { Role::Ours } else { Role::Peer })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{definition, records};

    fn sentence(figures: &[(&str, &str, &str, &str, f64)]) -> Result<String, Doubt> {
        answer(&definition(), &records(figures)).sentence.map(|statement| statement.text)
    }

    const RATE: (&str, &str, &str, &str, f64) = (MIX_CPU, OURS, metric::RATE_CORE, "1/s", 12e6);
    const CONTROL: (&str, &str, &str, &str, f64) = (MIX_CPU, "ours/again", metric::RATIO, OURS, 1.0);
    const PEER: (&str, &str, &str, &str, f64) = (MIX_CPU, SOFTFLOWD, metric::RATIO, OURS, 12.5);
    const BYTES: (&str, &str, &str, &str, f64) = (MEMORY, OURS, metric::BYTES_PER_FLOW, "bytes", 131.0);

    #[test]
    fn states_the_rate_softflowd_and_the_memory() {
        let text = sentence(&[RATE, CONTROL, PEER, BYTES]).unwrap();
        assert_eq!(
            text,
            "12.0 M packets/s a core from a capture; softflowd takes 12.5 × the CPU time; 131 bytes a flow."
        );
        let text = sentence(&[RATE, CONTROL]).unwrap();
        assert_eq!(text, "12.0 M packets/s a core from a capture; softflowd not measured.");
    }

    #[test]
    fn doubts_withhold_the_sentence() {
        assert!(matches!(sentence(&[]), Err(Doubt::NotMeasured { .. })));
        let off = (MIX_CPU, "ours/again", metric::RATIO, OURS, 1.2);
        assert!(matches!(sentence(&[RATE, off]), Err(Doubt::Control { .. })));
    }

    #[test]
    fn the_chart_has_all_meters() {
        let figures =
            [(MIX_CPU, OURS, metric::NS, "ns", 83.0), (MIX_CPU, SOFTFLOWD, metric::NS, "ns", 1_000.0)];
        let Some(Block::Bars(chart)) = answer(&definition(), &records(&figures)).chart else {
            panic!("no chart")
        };
        let labels: Vec<&str> = chart.plots[0].groups[0].bars.iter().map(|bar| bar.label.as_str()).collect();
        assert_eq!(labels, [OURS, SOFTFLOWD]);
    }
}
