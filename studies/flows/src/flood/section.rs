//! Report section: the lookup time of an innocent flow against the number of hostile flows.

use crate::series::series;
use hashlane_lab::definition::Definition;
use hashlane_lab::record::{Record, RecordSet};
use hashlane_lab::report::Facts;
use hashlane_lab::report::facts::by_interest;
use hashlane_lab::report::format::{self, count, figure};
use hashlane_lab::report::{Block, Line, LinePlot, LinePlots, Section, Shown, Table};
use hashlane_lab::stats::{Interval, ratio::independent};

pub(crate) const MODEL: &str = "flood";

const NS: &str = "ns";
const COMPARED: &str = "compared";
const LONGEST_CHAIN: &str = "longest_chain";
/// An innocent find is slowed if the whole interval of its growth is at or above this.
const SLOWED: f64 = 2.0;
/// It stays flat if the whole interval of its growth is at or below this.
const FLAT: f64 = 1.1;

/// As many schemes that stay flat are named; of more, the number is given.
const FEW: usize = 4;

pub(crate) fn section(definition: &Definition, records: &RecordSet) -> Option<Section> {
    let facts = Facts::of(definition, records, MODEL)?;
    let (blocks, findings) = attacks(definition, &facts, &definition.per);
    Some(Section {
        title: "Under flood".to_owned(),
        note: facts.note(format!(
            "An attacker who knows the algorithm, but not the secret, has chosen so many flows of the table. The figure is \
             the {} of an innocent flow. Slowed: it takes or compares at least twice as much as with the fewest \
             hostile flows. Not slowed: it takes at most 10 % longer. Both hold for the whole interval; schemes \
             between the two are not listed. Counts of compared entries are exact.",
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
    for attack in &attacks {
        blocks.extend(attack.tables(per).into_iter().map(Block::Table));
    }
    (blocks, attacks.iter().filter_map(Attack::finding).collect())
}

/// `SCHEME@FLOWS`.
fn taken_apart(id: &str) -> Option<(&str, u64)> {
    let (scheme, flows) = id.rsplit_once('@')?;
    Some((scheme, flows.parse().ok()?))
}

/// Property of the tuples of a built-in attack.
fn about(attack: &str) -> &'static str {
    match attack.strip_prefix("syn/").unwrap_or(attack) {
        "xor" => "The XOR of the first two words of the foreign address is the same in all tuples.",
        "local" => {
            "Only the local address varies, above its last word. A hash that takes 32 bits of the local address cannot tell \
             such tuples apart, whatever its secret."
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
}

struct Point<'a> {
    flows: u64,
    ns: Option<&'a Record>,
    compared: Option<f64>,
    longest: Option<f64>,
}

impl Scheme<'_> {
    /// A figure with the fewest hostile flows and with the most.
    fn ends<T>(&self, figure: impl Fn(&Point<'_>) -> Option<T>) -> Option<(T, T)> {
        let mut points = self.points.iter().filter_map(figure);
        Some((points.next()?, points.next_back()?))
    }

    fn times(&self) -> Option<(Interval, Interval)> {
        self.ends(|point| point.ns.map(Record::interval))
    }

    /// Growth of the time from the fewest hostile flows to the most.
    fn growth(&self) -> Option<Interval> {
        let (fewest, most) = self.times()?;
        independent(most, fewest)
    }

    /// Evidence that it is slowed: the times, or where those do not double, the entries compared.
    fn slowed(&self) -> Option<String> {
        if self.growth().is_some_and(|growth| growth.low >= SLOWED) {
            let (few, many) = self.times()?;
            return Some(format!("{} to {} ns", grouped(few.value), grouped(many.value)));
        }
        let (few, many) = self.ends(|point| point.compared)?;
        (few > 0.0 && many >= SLOWED * few)
            .then(|| format!("{} to {} entries compared", compared(few), compared(many)))
    }

    fn is_slowed(&self) -> bool {
        self.slowed().is_some()
    }

    fn is_flat(&self) -> bool {
        !self.is_slowed() && self.growth().is_some_and(|growth| growth.high <= FLAT)
    }
}

impl<'a> Attack<'a> {
    fn of(facts: &Facts<'a>, id: &'a str) -> Self {
        let mut schemes: Vec<Scheme<'a>> = Vec::new();
        for scheme in facts.schemes_with(id, &[NS, COMPARED, LONGEST_CHAIN]) {
            let Some((name, flows)) = taken_apart(scheme) else { continue };
            let point = Point {
                flows,
                ns: facts.record(id, scheme, NS),
                compared: facts.value(id, scheme, COMPARED),
                longest: facts.value(id, scheme, LONGEST_CHAIN),
            };
            match schemes.iter_mut().find(|s| s.name == name) {
                Some(scheme) => scheme.points.push(point),
                None => schemes.push(Scheme { name, points: vec![point] }),
            }
        }
        for scheme in &mut schemes {
            scheme.points.sort_by_key(|point| point.flows);
        }
        Self { id, schemes }
    }

    fn growth(&self, name: &str) -> Option<f64> {
        Some(self.schemes.iter().find(|s| s.name == name)?.growth()?.value)
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

    fn finding(&self) -> Option<String> {
        let most = self.schemes.iter().flat_map(|s| &s.points).map(|p| p.flows).max()?;
        let slowed: Vec<String> =
            self.schemes.iter().filter_map(|s| Some(format!("{} ({})", s.name, s.slowed()?))).collect();
        let flat: Vec<&str> = self.schemes.iter().filter(|s| s.is_flat()).map(|s| s.name).collect();
        let slows = (!slowed.is_empty()).then(|| format!("slows {}", slowed.join(", ")));
        let spares = match flat.as_slice() {
            [] => None,
            few if few.len() <= FEW => Some(format!("does not slow {}", few.join(", "))),
            all => Some(format!("does not slow {} of {} schemes", all.len(), self.schemes.len())),
        };
        let said = [slows, spares].into_iter().flatten().collect::<Vec<_>>().join("; ");
        (!said.is_empty())
            .then(|| format!("Attack {} with {} hostile flows {said}.", self.id, count(most as f64)))
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
    fn shows_that_a_secret_does_not_help_against_local_addresses() {
        let (definitions, records) = (sample::definitions(), sample::records());
        let section = section(&definitions[1], &records).unwrap();
        let found = "Attack local with 65,536 hostile flows slows base (22.0 to 59,004 ns), \
                     jhash2 (24.0 to 59,006 ns), siphash (25.0 to 59,007 ns); \
                     does not slow crc32c, siphash-1-3.";
        assert!(section.findings.iter().any(|finding| finding == found), "{:?}", section.findings);
        let Some(Block::Lines(lines)) = section.blocks.first() else { panic!("no plot") };
        assert_eq!(lines.series[0].name, "siphash-1-3", "the reference comes first");
        let local = lines.plots.iter().find(|plot| plot.caption == "local").unwrap();
        assert!(local.note.contains("whatever its secret") && local.note.contains(found));
    }

    #[test]
    fn a_growth_whose_interval_spans_the_border_is_neither_slowed_nor_flat() {
        let record = |low: f64, value: f64, high: f64| Record {
            study: "s".into(),
            model: MODEL.into(),
            workload: "w".into(),
            scheme: "a@0".into(),
            probe: "rounds".into(),
            metric: NS.into(),
            unit: "ns".into(),
            value,
            low,
            high,
            samples: 15,
        };
        let before = record(10.0, 10.0, 10.0);
        let found = |low, value, high| {
            let after = record(low, value, high);
            let point = |flows, ns| Point { flows, ns: Some(ns), compared: None, longest: None };
            let scheme = Scheme { name: "a", points: vec![point(0, &before), point(9, &after)] };
            (scheme.is_slowed(), scheme.is_flat())
        };
        assert_eq!(found(20.0, 21.0, 22.0), (true, false));
        assert_eq!(found(19.0, 21.0, 22.0), (false, false));
        assert_eq!(found(9.0, 10.5, 11.0), (false, true));
        assert_eq!(found(9.0, 10.5, 12.0), (false, false));
        // More entries compared, in no more time.
        let point =
            |flows, compared| Point { flows, ns: Some(&before), compared: Some(compared), longest: None };
        let scheme = Scheme { name: "a", points: vec![point(0, 1.0), point(9, 2.5)] };
        assert_eq!(scheme.slowed().as_deref(), Some("1.00 to 2.50 entries compared"));
    }

    #[test]
    fn takes_schemes_apart() {
        assert_eq!(taken_apart("a@b@16"), Some(("a@b", 16)));
        assert_eq!(["base", "base@", "base@-1", "base@x"].map(taken_apart), [None; 4]);
    }
}
