//! Answer: CPU time of an answer, beside NSD, and the memory of a record.

use crate::metric;
use crate::workloads::{MEMORY, MODEL, NSD, OURS};
use hashlane_lab::definition::Definition;
use hashlane_lab::evidence::{Doubt, Evidence};
use hashlane_lab::report::{Answer, Block, Facts, Role, SchemeBars, Statement};
use hashlane_records::RecordSet;
use hashlane_stats::format::significant;

/// Workload of the sentence and the chart.
const SHOWN: &str = "165k/mix";

pub(crate) fn answer(definition: &Definition, records: &RecordSet) -> Answer {
    let evidence = Evidence::new(definition, records);
    Answer {
        sentence: sentence(evidence),
        chart: Facts::of(definition, records, MODEL).and_then(|facts| chart(&facts)),
        surprises: Vec::new(),
        limits: vec![
            "Datagrams cross the loopback interface: a network card and its driver cost more or less."
                .to_owned(),
            "One socket and one thread or process; queries have EDNS and no cookie.".to_owned(),
        ],
    }
}

fn sentence(evidence: Evidence<'_>) -> Result<Statement, Doubt> {
    let cpu = evidence.figure(SHOWN, OURS, metric::CPU_US)?;
    let mut figures = vec![cpu];
    let mut text = format!("{} µs of CPU time an answer of 165,000 records", significant(cpu.value));
    match evidence.ratio(SHOWN, OURS, NSD) {
        Ok(ratio) => {
            text += &format!(", {} × NSD's", significant(ratio.value));
            figures.push(ratio);
        }
        Err(Doubt::NotMeasured { .. }) => text += "; NSD not measured",
        Err(_) => text += "; NSD undecided",
    }
    if let Ok(bytes) = evidence.figure(MEMORY, OURS, metric::BYTES_PER_RECORD) {
        text += &format!("; {} bytes a record", significant(bytes.value));
        figures.push(bytes);
    }
    text.push('.');
    Ok(Statement { text, figures })
}

/// CPU time of all servers.
fn chart(facts: &Facts<'_>) -> Option<Block> {
    let bars = SchemeBars {
        workload: SHOWN,
        metric: metric::CPU_US,
        unit: "µs",
        axis: "CPU time per answer (µs)",
        title: &format!("CPU time per answer by server, {SHOWN}"),
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

    const CPU: (&str, &str, &str, &str, f64) = (SHOWN, OURS, metric::CPU_US, "us", 2.2);
    const CONTROL: (&str, &str, &str, &str, f64) = (SHOWN, "ours/again", metric::RATIO, OURS, 1.0);
    const PEER: (&str, &str, &str, &str, f64) = (SHOWN, OURS, metric::RATIO, NSD, 0.75);
    const BYTES: (&str, &str, &str, &str, f64) = (MEMORY, OURS, metric::BYTES_PER_RECORD, "bytes", 61.0);

    #[test]
    fn states_the_cost_nsd_and_the_memory() {
        let text = sentence(&[CPU, CONTROL, PEER, BYTES]).unwrap();
        assert_eq!(
            text,
            "2.20 µs of CPU time an answer of 165,000 records, 0.75 × NSD's; 61.0 bytes a record."
        );
        let text = sentence(&[CPU, CONTROL]).unwrap();
        assert_eq!(text, "2.20 µs of CPU time an answer of 165,000 records; NSD not measured.");
    }

    #[test]
    fn doubts_withhold_the_sentence() {
        assert!(matches!(sentence(&[]), Err(Doubt::NotMeasured { .. })));
        let off = (SHOWN, "ours/again", metric::RATIO, OURS, 1.2);
        assert!(matches!(sentence(&[CPU, off]), Err(Doubt::Control { .. })));
    }

    #[test]
    fn the_chart_has_all_servers() {
        let figures =
            [CPU, (SHOWN, NSD, metric::CPU_US, "us", 3.0), (SHOWN, "echo", metric::CPU_US, "us", 1.6)];
        let Some(Block::Bars(chart)) = answer(&definition(), &records(&figures)).chart else {
            panic!("no chart")
        };
        let labels: Vec<&str> = chart.plots[0].groups[0].bars.iter().map(|bar| bar.label.as_str()).collect();
        assert_eq!(labels, [OURS, NSD, "echo"]);
    }
}
