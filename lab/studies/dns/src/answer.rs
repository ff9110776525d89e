//! Answer: our renderer against the source's and against the best crate, on a workload of the source or on
//! the user's own messages.

use crate::metric;
use crate::section::{COMPOSER, DUMB, HOSTILE, MODEL, NEW, OLD, OURS, SOURCE, is_form, role};
use hashlane_lab::definition::Definition;
use hashlane_lab::evidence::{Doubt, Evidence};
use hashlane_lab::report::{Answer, Bar, BarPlot, BarPlots, Block, Facts, Group, Statement};
use hashlane_records::{Record, RecordSet};
use hashlane_stats::Interval;
use hashlane_stats::format::{count, interval, significant};

/// Workloads of the key chart: the source's, and the longest message.
const CHART: [&str; 4] = ["positive", "nxdomain", "servfail", "transfer"];

/// Names whose first 16 bytes are equal, all that the source's table hashes.
const SAME_START: &str = "hostile/same-start";

pub(crate) fn answer(definition: &Definition, records: &RecordSet) -> Answer {
    let Some(facts) = Facts::of(definition, records, MODEL) else {
        return Answer::new(Err(Doubt::NotMeasured { figure: "the study".to_owned() }));
    };
    let view = View { definition, facts: &facts, evidence: Evidence::new(definition, records) };
    let own = definition.own_workloads(records);
    let sentence = match own.first() {
        Some(label) => view.own(label),
        None => view.generated(),
    };
    let charted = if own.is_empty() { view.charted() } else { own };
    Answer {
        sentence,
        chart: view.chart(&charted),
        surprises: view.surprises(),
        limits: vec![
            "Each message is rendered repeatedly, so it stays in the first-level cache: all renderers gain."
                .to_owned(),
            "old and new are written in Rust: old takes the time of BIND 10's own C++, new three quarters \
             of it."
                .to_owned(),
        ],
    }
}

struct View<'a> {
    definition: &'a Definition,
    facts: &'a Facts<'a>,
    evidence: Evidence<'a>,
}

impl View<'_> {
    fn bytes(&self, workload: &str, scheme: &str) -> Option<f64> {
        self.facts.value(workload, scheme, metric::OCTETS)
    }

    /// The time of ours as a ratio to that of another renderer.
    fn ours_to(&self, workload: &str, other: &str) -> Result<Interval, Doubt> {
        let ratio = self.evidence.ratio(workload, other, OURS)?;
        // Bounds of a median: the inverse of the ratio has the inverse ones.
        let [value, low, high] = [ratio.value, ratio.high, ratio.low].map(|bound| 1.0 / bound);
        Ok(Interval { value, low, high, ..ratio })
    }

    /// The source's renderers and the best crate, on one workload.
    fn compared(&self, workload: &str) -> Result<Statement, Doubt> {
        let new = self.ours_to(workload, NEW)?;
        let old = self.ours_to(workload, OLD)?;
        let mut figures = vec![new, old];
        let times = |ratio: Interval| format!("{} ×", significant(ratio.value));
        let bytes = |id| self.bytes(workload, id).unwrap_or_default();
        let size = match bytes(OURS) {
            ours if [NEW, OLD].iter().all(|id| bytes(id) == ours) => "at the same size".to_owned(),
            _ => format!(
                "({} bytes against {} and {})",
                count(bytes(OURS)),
                count(bytes(NEW)),
                count(bytes(OLD))
            ),
        };
        let (new, old) = (times(new), times(old));
        let mut text = format!("{new} the source's table and {old} its ordered set {size}");
        match self.best_crate(workload) {
            Some(best) => {
                let ratio = self.ours_to(workload, best)?;
                text += &format!("; {} the best Rust crate ({best})", times(ratio));
                figures.push(ratio);
            }
            None => text += "; the Rust crates are not in this build",
        }
        Ok(Statement { text, figures })
    }

    /// The fastest of other projects' renderers with the smallest message of all renderers.
    fn best_crate(&self, workload: &str) -> Option<&str> {
        let least = self
            .facts
            .schemes_on(workload)
            .filter_map(|id| self.bytes(workload, id))
            .min_by(f64::total_cmp)?;
        let smallest = |id: &&str| is_peer(id) && self.bytes(workload, id) == Some(least);
        self.fastest(workload, self.facts.schemes_on(workload).filter(smallest))
    }

    fn fastest<'s>(&self, workload: &str, ids: impl Iterator<Item = &'s str>) -> Option<&'s str> {
        let timed = ids.filter_map(|id| Some((id, self.facts.value(workload, id, metric::NS)?)));
        timed.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(id, _)| id)
    }

    /// The source's first workload, or the first one that was measured.
    fn generated(&self) -> Result<Statement, Doubt> {
        let named = |id: &str| self.facts.workloads.iter().copied().find(|known| *known == id);
        let measured = || self.facts.workloads.iter().copied().find(|id| !id.starts_with(HOSTILE));
        let Some(workload) = CHART.first().and_then(|id| named(id)).or_else(measured) else {
            return Err(Doubt::NotMeasured { figure: "messages that are not hostile".to_owned() });
        };
        let Statement { text, figures } = self.compared(workload)?;
        let pays = match figures.get(1) {
            Some(old) if old.high < 1.0 => "Yes: ",
            Some(old) if old.low > 1.0 => "No: ",
            _ => "",
        };
        let names = self.facts.value(workload, OURS, metric::NAMES).map(|names| count(names.round()));
        let names = names.unwrap_or_default();
        let text = format!("{pays}for {names} names ({workload}), ours takes {text}.");
        Ok(Statement { text, figures })
    }

    /// The user's own messages.
    fn own(&self, label: &str) -> Result<Statement, Doubt> {
        let missing = |figure: &str| Doubt::NotMeasured { figure: format!("{figure} of ours, {label}") };
        let bytes = self.facts.record(label, OURS, metric::OCTETS).ok_or_else(|| missing("messages"))?;
        let value = |metric| self.facts.value(label, OURS, metric).ok_or_else(|| missing(metric));
        let (records, plain) = (value(metric::RECORDS)?, value(metric::UNCOMPRESSED)?);
        let ns = self.evidence.figure(label, OURS, metric::NS)?;
        let messages = bytes.samples as f64;
        let saved = (100.0 * (1.0 - bytes.value / plain.max(1.0))).max(0.0);
        let time = if ns.value < 10_000.0 {
            format!("{} ns", significant(ns.value))
        } else {
            format!("{} µs", significant(ns.value / 1000.0))
        };
        let s = if bytes.samples == 1 { "" } else { "s" };
        let counts = format!(
            "{} records in {} message{s}: {} bytes, {saved:.0} % saved",
            count((records * messages).round()),
            count(messages),
            count((bytes.value * messages).round()),
        );
        let (compared, mut figures) = match self.compared(label) {
            Ok(Statement { text, figures }) => (format!(", {text}"), figures),
            Err(Doubt::NotMeasured { .. }) => (String::new(), Vec::new()),
            Err(doubt) => return Err(doubt),
        };
        figures.push(ns);
        Ok(Statement { text: format!("{counts}. Ours takes {time} a message{compared}."), figures })
    }

    /// Messages of the source for which its table was slower here and faster there, and the names against
    /// which its hash has no defence.
    fn surprises(&self) -> Vec<String> {
        let published = self.definition.published("names-per-second");
        let mut surprises: Vec<String> = Vec::new();
        for row in published.iter().flat_map(|table| &table.rows) {
            let of_source = |id| published?.figure(&row.id, id);
            if let (Ok(measured), Some(old), Some(new)) =
                (self.evidence.ratio(&row.id, NEW, OLD), of_source(OLD), of_source(NEW))
                && measured.low > 1.0
                && old / new < 1.0
            {
                let [here, there] = [measured.value, old / new].map(significant);
                surprises.push(format!(
                    "The source's table is slower than its ordered set on {}: {here} ×; the ticket has \
                     {there} ×.",
                    row.id
                ));
            }
        }
        if let Ok(ratio) = self.evidence.ratio(SAME_START, NEW, OURS)
            && ratio.low > 10.0
        {
            surprises.push(format!(
                "Names that share 16 bytes defeat the hash of the source's table: {} × the time of ours.",
                significant(ratio.value)
            ));
        }
        surprises.truncate(2);
        surprises
    }

    /// Workloads of the key chart that were measured; others if it has none of them.
    fn charted(&self) -> Vec<&str> {
        let measured = |id: &&&str| self.facts.workloads.contains(*id);
        let charted: Vec<&str> = CHART.iter().filter(measured).copied().collect();
        if charted.is_empty() {
            self.facts.workloads.iter().copied().take(CHART.len()).collect()
        } else {
            charted
        }
    }

    /// Renderers of the key chart: the source's, ours, and of each crate the fastest with its smallest
    /// message.
    fn renderers(&self, workload: &str) -> Vec<&str> {
        let schemes: Vec<&str> = self.facts.schemes_with(workload, &[metric::NS]);
        let project = |id: &str| id.split('/').next().unwrap_or_default().to_owned();
        let mut projects: Vec<String> = Vec::new();
        let mut chosen: Vec<&str> =
            schemes.iter().copied().filter(|id| !is_peer(id) && !is_composer(id) && !is_form(id)).collect();
        for id in schemes.iter().filter(|id| is_peer(id)) {
            let project_of = project(id);
            if projects.contains(&project_of) {
                continue;
            }
            let its = schemes.iter().copied().filter(|id| project(id) == project_of);
            let least = its.clone().filter_map(|id| self.bytes(workload, id)).min_by(f64::total_cmp);
            chosen.extend(self.fastest(workload, its.filter(|id| self.bytes(workload, id) == least)));
            projects.push(project_of);
        }
        chosen
    }

    fn chart(&self, workloads: &[&str]) -> Option<Block> {
        let bar = |workload: &str, id: &str| {
            let ns = self.facts.record(workload, id, metric::NS).map(Record::interval)?;
            let size = self.bytes(workload, id).map(|bytes| format!(", {} B", count(bytes.round())));
            let size = size.unwrap_or_default();
            let title = format!("{id}: {} {} ns{size}", significant(ns.value), interval(ns, significant));
            let bar = Bar::new(id, role(id), Some(ns), &format!("{} ns{size}", significant(ns.value)));
            Some(Bar { title, hollow: id == DUMB, ..bar })
        };
        let plot = |workload: &&str| BarPlot {
            caption: match self.facts.value(workload, OURS, metric::NAMES) {
                Some(1.0) => format!("{workload} (1 name)"),
                Some(names) => format!("{workload} ({} names)", count(names.round())),
                None => (*workload).to_owned(),
            },
            title: format!("{workload}: time and size of a message by renderer"),
            groups: vec![Group {
                heading: None,
                bars: self.renderers(workload).into_iter().filter_map(|id| bar(workload, id)).collect(),
            }],
        };
        (!workloads.is_empty()).then(|| {
            Block::Bars(BarPlots {
                axis: "time per message (ns)".to_owned(),
                whiskers: Some("95 %".to_owned()),
                log: true,
                plots: workloads.iter().map(plot).collect(),
                ..BarPlots::default()
            })
        })
    }
}

/// `true` for the renderers of other projects.
fn is_peer(id: &str) -> bool {
    id != OURS && !SOURCE.contains(&id) && !is_composer(id) && !is_form(id)
}

fn is_composer(id: &str) -> bool {
    id.starts_with(COMPOSER)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STUDY: &str = include_str!("../dns-render/study.toml");

    fn definition() -> Definition {
        Definition::parse(STUDY, "study.toml").unwrap()
    }

    /// Records of a workload: `(scheme, ns, bytes)`, with the ratios to ours and the control's.
    fn records(workload: &str, schemes: &[(&str, f64, f64)], control: f64) -> RecordSet {
        let mut all = RecordSet::new();
        let ours = schemes.iter().find(|(id, ..)| *id == OURS).map_or(1.0, |scheme| scheme.1);
        let mut add = |scheme: &str, metric: &str, unit: &str, value: f64, samples| {
            let bound = if metric == metric::NS || metric == metric::RATIO { 0.01 } else { 0.0 };
            let columns = ["dns-render", MODEL, workload, scheme, "rounds", metric, unit];
            let bounds = [value, value * (1.0 - bound), value * (1.0 + bound)];
            all.insert(Record::new(columns, bounds, samples, 6)).unwrap();
        };
        for (id, ns, bytes) in schemes {
            add(id, metric::NS, "ns", *ns, 15);
            add(id, metric::OCTETS, "octets", *bytes, 3);
            add(id, metric::NAMES, "names", 42.0, 3);
            add(id, metric::RECORDS, "records", 412.0, 3);
            add(id, metric::UNCOMPRESSED, "octets", 50_000.0, 3);
            if *id != OURS {
                add(id, metric::RATIO, OURS, ns / ours, 15);
            }
        }
        add("ours/again", metric::RATIO, OURS, control, 15);
        all
    }

    const POSITIVE: [(&str, f64, f64); 6] = [
        ("old", 2500.0, 153.0),
        ("new", 2000.0, 153.0),
        ("dumb", 80.0, 639.0),
        ("ours", 500.0, 153.0),
        ("domain/hash-reused", 1700.0, 153.0),
        ("domain/static", 100.0, 171.0),
    ];

    fn sentence(records: &RecordSet) -> Result<String, Doubt> {
        answer(&definition(), records).sentence.map(|statement| statement.text)
    }

    #[test]
    fn ours_is_compared_with_the_source_and_the_best_crate_of_the_smallest_message() {
        assert_eq!(
            sentence(&records("positive", &POSITIVE, 1.0)).unwrap(),
            "Yes: for 42 names (positive), ours takes 0.25 × the source's table and 0.20 × its ordered set \
             at the same size; 0.29 × the best Rust crate (domain/hash-reused)."
        );
        let without = sentence(&records("positive", &POSITIVE[..4], 1.0)).unwrap();
        assert!(without.ends_with("the Rust crates are not in this build."), "{without}");
        let mut larger = POSITIVE;
        larger[1].2 = 160.0;
        let larger = sentence(&records("positive", &larger, 1.0)).unwrap();
        assert!(larger.contains("(153 bytes against 160 and 153)"), "{larger}");
    }

    #[test]
    fn another_workload_answers_if_it_alone_was_measured() {
        let text = sentence(&records("response/a500", &POSITIVE, 1.0)).unwrap();
        assert!(text.contains("(response/a500)"), "{text}");
    }

    #[test]
    fn doubts_withhold_the_sentence() {
        assert!(matches!(sentence(&RecordSet::new()), Err(Doubt::NotMeasured { .. })));
        assert!(matches!(sentence(&records("positive", &POSITIVE, 1.1)), Err(Doubt::Control { .. })));
        let wide: RecordSet = {
            let mut all = RecordSet::new();
            for record in records("positive", &POSITIVE, 1.0).iter() {
                let mut record = record.clone();
                if record.scheme == NEW && record.metric == metric::RATIO {
                    record.low = record.value / 2.0;
                }
                all.insert(record).unwrap();
            }
            all
        };
        assert!(matches!(sentence(&wide), Err(Doubt::Wide { .. })));
    }

    #[test]
    fn the_users_own_messages_are_counted() {
        let zone: Vec<_> = POSITIVE.iter().map(|(id, ns, _)| (*id, 100.0 * ns, 30_000.0)).collect();
        assert_eq!(
            sentence(&records("zone:example", &zone, 1.0)).unwrap(),
            "1,236 records in 3 messages: 90,000 bytes, 40 % saved. Ours takes 50.0 µs a message, 0.25 × the \
             source's table and 0.20 × its ordered set at the same size; 5.00 × the best Rust crate \
             (domain/static)."
        );
        let alone = sentence(&records("zone:example", &zone[3..4], 1.0)).unwrap();
        assert!(alone.ends_with("Ours takes 50.0 µs a message."), "{alone}");
    }

    #[test]
    fn the_chart_has_one_renderer_of_each_crate() {
        let Some(Block::Bars(chart)) = answer(&definition(), &records("positive", &POSITIVE, 1.0)).chart
        else {
            panic!("no chart")
        };
        let bars = &chart.plots[0].groups[0].bars;
        let labels: Vec<&str> = bars.iter().map(|bar| bar.label.as_str()).collect();
        assert_eq!(labels, ["old", "new", "dumb", "ours", "domain/hash-reused"]);
        assert_eq!((bars[3].figure.as_str(), bars[2].hollow, chart.log), ("500 ns, 153 B", true, true));
    }

    #[test]
    fn a_table_slower_than_the_set_is_a_surprise_if_the_source_has_it_faster() {
        let mut all = records("nxdomain", &POSITIVE, 1.0);
        let mut ratio = all.iter().find(|record| record.metric == metric::RATIO).unwrap().clone();
        (ratio.scheme, ratio.unit) = (NEW.to_owned(), OLD.to_owned());
        (ratio.value, ratio.low, ratio.high) = (1.17, 1.1, 1.2);
        all.insert(ratio).unwrap();
        let surprises = answer(&definition(), &all).surprises;
        assert_eq!(
            surprises,
            ["The source's table is slower than its ordered set on nxdomain: 1.17 ×; the ticket has 0.32 ×."]
        );
    }
}
