//! Report section: the lookup time of an innocent flow against the number of hostile flows.

use super::growth::{Verdict, taken_apart};
use crate::epsilon;
use crate::metric::{self, COMPARED, LONGEST_CHAIN, NS};
use crate::series::series;
use crate::words::{times, times_with_bounds};
use hashlane_lab::definition::Definition;
use hashlane_lab::report::Facts;
use hashlane_lab::report::facts::by_interest;
use hashlane_lab::report::{Block, Line, LinePlot, LinePlots, Section, Shown, Table};
use hashlane_records::{Record, RecordSet};
use hashlane_stats::Interval;
use hashlane_stats::format::{self, count, figure};

pub(crate) const MODEL: &str = "flood";

/// Schemes of one verdict that are named; of more, the number is given.
const FEW: usize = 8;

pub(crate) fn section(definition: &Definition, records: &RecordSet) -> Option<Section> {
    let facts = Facts::of(definition, records, MODEL)?;
    let (mut blocks, findings) = attacks(definition, &facts, &definition.per);
    blocks.extend(epsilon::table(facts.schemes.iter().filter_map(|id| id.split('/').nth(1))));
    Some(Section {
        title: "Under flood".to_owned(),
        note: facts.note(format!(
            "An attacker who knows the algorithm, but not the secret, has chosen so many flows of the \
             table. The figure is the {} of an innocent flow of the same kind. Growth is its time with the \
             most hostile flows over that with the fewest, taken within the rounds. Slowed: at least 2 × as \
             long. Slowed by less than 2: more than 1.1 × as long. Not slowed: at most 1.1 ×. Each holds \
             for the whole interval; otherwise undecided. Counts of compared entries are exact.",
            definition.per
        )),
        findings,
        blocks,
    })
}

/// Plot, tables and findings of every attack. `per` names the timed operation.
pub fn attacks(definition: &Definition, facts: &Facts<'_>, per: &str) -> (Vec<Block>, Vec<String>) {
    let attacks: Vec<Attack<'_>> = facts.workloads.iter().map(|id| Attack::of(facts, id)).collect();
    let mut names: Vec<&str> = Vec::new();
    for scheme in facts.schemes.iter().filter_map(|id| Some(taken_apart(id)?.0)) {
        if !names.contains(&scheme) {
            names.push(scheme);
        }
    }
    // Lines that rise are more telling than flat ones.
    let worst = |name: &str| attacks.iter().filter_map(|a| a.growth(name)).fold(0.0, f64::max);
    names.sort_by(|a, b| worst(b).total_cmp(&worst(a)));
    let names = by_interest(definition, names.into_iter(), |id| taken_apart(id).map_or(id, |(name, _)| name));
    let plots = LinePlots {
        x: "hostile flows".to_owned(),
        y: format!("ns per {per}"),
        series: names.iter().enumerate().map(series).collect(),
        plots: attacks.iter().filter(|attack| !attack.schemes.is_empty()).map(Attack::plot).collect(),
        ..LinePlots::default()
    };
    let mut blocks = vec![Block::Lines(plots)];
    let growth = format!("growth of the time per {per}, most over fewest hostile flows");
    blocks.extend(growths(facts, &attacks, metric::RATIO, growth.clone()));
    let elsewhere = format!("{growth}, of flows that are not attacked");
    blocks.extend(growths(facts, &attacks, metric::RATIO_ELSEWHERE, elsewhere));
    for attack in &attacks {
        blocks.extend(attack.tables(per).into_iter().map(Block::Table));
    }
    (blocks, attacks.iter().filter_map(Attack::finding).collect())
}

/// Growth of every scheme under every attack; `None` if it was not measured.
fn growths(facts: &Facts<'_>, attacks: &[Attack<'_>], metric: &str, caption: String) -> Option<Block> {
    let mut names: Vec<&str> = Vec::new();
    for scheme in attacks.iter().flat_map(|attack| &attack.schemes) {
        if !names.contains(&scheme.name) {
            names.push(scheme.name);
        }
    }
    let cell = |attack: &Attack<'_>, name: &str| {
        let (most, fewest) = attack.schemes.iter().find(|s| s.name == name)?.ends()?;
        let record = facts.records.metric_in(facts.study, attack.id, most.id, metric, fewest.id)?;
        Some(times_with_bounds(record.interval()))
    };
    let row = |name: &&str| {
        let cells = attacks.iter().map(|attack| cell(attack, name));
        let cells = cells.map(|cell| cell.unwrap_or_else(|| format::NONE.to_owned()));
        [(*name).to_owned()].into_iter().chain(cells).collect()
    };
    let any = names.iter().any(|name| attacks.iter().any(|attack| cell(attack, name).is_some()));
    any.then(|| {
        Block::Table(Table {
            caption: format!("{caption}, by attack"),
            columns: ["scheme"].into_iter().chain(attacks.iter().map(|a| a.id)).map(str::to_owned).collect(),
            left: 1,
            rows: names.iter().map(row).collect(),
            shown: Shown::Folded,
        })
    })
}

/// Property of the tuples of a built-in attack.
fn about(attack: &str) -> &'static str {
    match attack.rsplit('/').next().unwrap_or(attack) {
        "xor" => "The XOR of the first two words of the foreign address is the same in all tuples.",
        "local" => {
            "Only the local address varies, above its last word. A hash that takes 32 bits of the local \
             address cannot tell such tuples apart, whatever its secret."
        }
        "crc32c" => "Tuples that collide under CRC32C for every secret, found by linear algebra.",
        "toeplitz" => "Tuples that collide under Toeplitz, found by linear algebra.",
        _ => "",
    }
}

/// One attack, all schemes.
struct Attack<'a> {
    id: &'a str,
    schemes: Vec<Scheme<'a>>,
}

struct Scheme<'a> {
    name: &'a str,
    /// By the number of hostile flows.
    points: Vec<Point<'a>>,
    /// Growth from the fewest hostile flows to the most, taken within the rounds.
    growth: Option<Interval>,
}

struct Point<'a> {
    id: &'a str,
    flows: u64,
    ns: Option<&'a Record>,
    compared: Option<f64>,
    longest: Option<f64>,
}

impl<'a> Scheme<'a> {
    /// The points with the most and the fewest hostile flows.
    fn ends(&self) -> Option<(&Point<'a>, &Point<'a>)> {
        self.points.last().zip(self.points.first())
    }
}

impl<'a> Attack<'a> {
    fn of(facts: &Facts<'a>, id: &'a str) -> Self {
        let mut schemes: Vec<Scheme<'a>> = Vec::new();
        for scheme in facts.schemes_with(id, &[NS, COMPARED, LONGEST_CHAIN]) {
            let Some((name, flows)) = taken_apart(scheme) else { continue };
            let point = Point {
                id: scheme,
                flows,
                ns: facts.record(id, scheme, NS),
                compared: facts.value(id, scheme, COMPARED),
                longest: facts.value(id, scheme, LONGEST_CHAIN),
            };
            match schemes.iter_mut().find(|s| s.name == name) {
                Some(scheme) => scheme.points.push(point),
                None => schemes.push(Scheme { name, points: vec![point], growth: None }),
            }
        }
        for scheme in &mut schemes {
            scheme.points.sort_by_key(|point| point.flows);
            let ends = scheme.ends().map(|(most, fewest)| (most.id, fewest.id));
            let ratio = ends.and_then(|(of, to)| facts.records.ratio(facts.study, id, of, to));
            scheme.growth = ratio.map(Record::interval);
        }
        Self { id, schemes }
    }

    fn growth(&self, name: &str) -> Option<f64> {
        Some(self.schemes.iter().find(|s| s.name == name)?.growth?.value)
    }

    fn plot(&self) -> LinePlot {
        let line = |scheme: &Scheme<'_>| Line {
            name: scheme.name.to_owned(),
            points: scheme.points.iter().filter_map(|p| Some((p.flows as f64, p.ns?.interval()))).collect(),
        };
        LinePlot {
            caption: self.id.to_owned(),
            note: [about(self.id).to_owned(), self.finding().unwrap_or_default()].join(" ").trim().to_owned(),
            lines: self.schemes.iter().map(line).collect(),
        }
    }

    /// All schemes by verdict; `None` if no growth was measured.
    fn finding(&self) -> Option<String> {
        let most = self.schemes.iter().flat_map(|s| &s.points).map(|p| p.flows).max()?;
        let of = |verdict: Verdict| {
            let growth = move |s: &Scheme<'a>| s.growth.map(|growth| (s.name, growth));
            let all = self.schemes.iter().filter_map(growth);
            all.filter(|(_, growth)| Verdict::of(*growth) == verdict).collect::<Vec<_>>()
        };
        let list = |schemes: Vec<(&str, Interval)>, words: fn(&str, Interval) -> String| {
            let named: Vec<String> = schemes.iter().map(|(name, growth)| words(name, *growth)).collect();
            named.join(", ")
        };
        let not_slowed = of(Verdict::NotSlowed);
        let not_slowed = match not_slowed.len() {
            few if few <= FEW => list(not_slowed, |name, _| name.to_owned()),
            many => format!("{many} of {} schemes", self.schemes.len()),
        };
        let bounds = |name: &str, growth| format!("{name} {}", times_with_bounds(growth));
        let parts = [
            ("slowed", list(of(Verdict::Slowed), |name, growth| format!("{name} {}", times(growth.value)))),
            ("slowed by less than 2", list(of(Verdict::SlowedBy), bounds)),
            ("not slowed", not_slowed),
            ("undecided", list(of(Verdict::Undecided), bounds)),
        ];
        let parts = parts.iter().filter(|(_, schemes)| !schemes.is_empty());
        let found = parts.map(|(word, schemes)| format!("{word}: {schemes}")).collect::<Vec<_>>().join("; ");
        (!found.is_empty())
            .then(|| format!("Attack {}, {} hostile flows: {found}.", self.id, count(most as f64)))
    }

    fn tables(&self, per: &str) -> Vec<Table> {
        let mut counts: Vec<u64> = self.schemes.iter().flat_map(|s| &s.points).map(|p| p.flows).collect();
        counts.sort_unstable();
        counts.dedup();
        let table = |what: &str, shown: Shown, cell: fn(&Point<'_>) -> Option<String>| {
            let row = |scheme: &Scheme<'_>| {
                let at = |flows: &u64| {
                    let point = scheme.points.iter().find(|p| p.flows == *flows);
                    point.and_then(cell).unwrap_or_else(|| format::NONE.to_owned())
                };
                [scheme.name.to_owned()].into_iter().chain(counts.iter().map(at)).collect()
            };
            let any = self.schemes.iter().flat_map(|s| &s.points).any(|p| cell(p).is_some());
            any.then(|| Table {
                caption: format!("{}: {what}, by hostile flows", self.id),
                columns: ["scheme".to_owned()]
                    .into_iter()
                    .chain(counts.iter().map(|c| count(*c as f64)))
                    .collect(),
                left: 1,
                rows: self.schemes.iter().map(row).collect(),
                shown,
            })
        };
        [
            table(&format!("ns per {per}"), Shown::Folded, |p| p.ns.map(|r| grouped(r.value))),
            table(&format!("entries compared per {per}"), Shown::Folded, |p| p.compared.map(compared)),
            table("longest chain", Shown::PageOnly, |p| p.longest.map(count)),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

fn grouped(time: f64) -> String {
    if time.abs() < 1000.0 { figure(time) } else { count(time.round()) }
}

fn compared(entries: f64) -> String {
    if entries.abs() < 99.995 { format!("{entries:.2}") } else { count(entries.round()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn lists_every_scheme_by_its_verdict() {
        let (definitions, records) = (sample::definitions(), sample::records());
        let section = section(&definitions[1], &records).unwrap();
        let found = "Attack local, 65,536 hostile flows: slowed: chained/base/single 2,680 ×, \
                     chained/jhash2/single 2,460 ×, chained/hsiphash/single 2,270 ×, chained/siphash/single \
                     2,360 ×; slowed by less than 2: chained/flat/single 1.50 × [1.48, 1.52]; not slowed: \
                     chained/crc32c/single, batched/siphash-1-3/burst.";
        assert!(section.findings.iter().any(|finding| finding == found), "{:?}", section.findings);
        let Some(Block::Lines(lines)) = section.blocks.first() else { panic!("no plot") };
        assert_eq!(lines.series[0].name, "batched/siphash-1-3/burst", "the reference comes first");
        let local = lines.plots.iter().find(|plot| plot.caption == "local").unwrap();
        assert!(local.note.contains("whatever its secret") && local.note.contains(found));
        assert_eq!(
            section.table("growth of the time per lookup, most over fewest hostile flows, by").columns,
            ["scheme", "xor", "local", "crc32c"]
        );
    }

    #[test]
    fn has_no_finding_without_growth_taken_within_the_rounds() {
        let definitions = sample::definitions();
        let mut records = RecordSet::new();
        for record in sample::records().iter().filter(|r| !r.metric.starts_with("ratio")) {
            records.insert(record.clone()).unwrap();
        }
        let section = section(&definitions[1], &records).unwrap();
        assert!(section.findings.is_empty(), "{:?}", section.findings);
    }
}
