//! Report section: the spread of sets of tuples over buckets, as the source's picture, chains and
//! chi-squared.

use crate::words::number;
use hashlane_lab::definition::{Definition, Published};
use hashlane_lab::report::Facts;
use hashlane_lab::report::facts::without_empty_columns;
use hashlane_lab::report::{Bar, BarPlot, BarPlots, Block, Group, Role, Section, Shown, Table, Text};
use hashlane_records::{Record, RecordSet};
use hashlane_stats::Interval;
use hashlane_stats::format::{self, count};

pub(crate) const MODEL: &str = "spread";

/// Id of the published counts.
const PUBLISHED: &str = "hash-variance";

/// Hash that chooses the receive queue of a packet.
pub(crate) const RSS: &str = "toeplitz-published";

/// Packets of the busiest queue over the mean, found and by chance.
pub(crate) const BUSIEST: [&str; 2] = ["busiest_queue", "busiest_queue_expected"];

/// The source's own set of tuples.
const SEED: &str = "spread/seed";
const BIN_METRICS: [&str; 10] =
    ["bin_0", "bin_1", "bin_2", "bin_3", "bin_4", "bin_5", "bin_6", "bin_7", "bin_8", "bin_9"];
const LONGEST: [&str; 2] = ["longest_chain", "longest_chain_expected"];
const CHI_SQUARED: [&str; 2] = ["chi_squared", "chi_squared_expected"];
const COLLISIONS: [&str; 2] = ["collisions", "collisions_expected"];
/// Factor over the chain length expected by chance from which a hash counts as collapsed.
const COLLAPSE: f64 = 10.0;

pub(crate) fn section(definition: &Definition, records: &RecordSet) -> Option<Section> {
    let facts = Facts::of(definition, records, MODEL)?;
    let pictures: Vec<Picture<'_>> =
        facts.schemes.iter().filter_map(|scheme| Picture::of(&facts, scheme)).collect();
    let mut blocks = Vec::new();
    if !pictures.is_empty() {
        let published = definition.published(PUBLISHED);
        blocks.push(Block::Bars(bars(&pictures, published)));
        blocks.push(Block::Text(Text {
            caption: "The picture as the source prints it: a star for each per cent".to_owned(),
            text: pictures.iter().map(Picture::text).collect::<Vec<_>>().join("\n"),
            shown: Shown::Folded,
        }));
        blocks.extend(beside_the_source(&pictures, published).map(Block::Table));
    }
    blocks.extend(facts.workloads.iter().filter_map(|w| queues(&facts, w)).map(Block::Table));
    blocks.extend(facts.workloads.iter().map(|w| Block::Table(table(&facts, w))));
    Some(Section {
        title: "Spread over the buckets".to_owned(),
        note: facts.note(
            "Exact counts, with the expectation for a random function: the longest chain with \
                          its 99.9 % interval, and chi-squared per degree of freedom, which is then 1. \
                          Even: no longer a chain and no larger a chi-squared than chance explains. Uneven: \
                          one of them is larger. Collapsed: the longest chain is ten times longer than \
                          chance explains, or more."
                .to_owned(),
        ),
        findings: findings(&facts),
        blocks,
    })
}

/// The sets of tuples that the scheme piles up in one bucket, and all sets that it was given.
pub(crate) fn piled_up<'a>(facts: &Facts<'a>, scheme: &str) -> (Vec<&'a str>, usize) {
    let verdicts = facts.workloads.iter().filter_map(|w| Some((*w, verdict(facts, w, scheme)?)));
    let verdicts: Vec<_> = verdicts.collect();
    let piled_up = verdicts.iter().filter(|(_, verdict)| *verdict == "collapsed");
    (piled_up.map(|(workload, _)| *workload).collect(), verdicts.len())
}

/// The busiest receive queue under a capture.
fn queues(facts: &Facts<'_>, workload: &str) -> Option<Table> {
    let [found, by_chance] = BUSIEST.map(|metric| facts.record(workload, RSS, metric));
    let (found, by_chance) = (found?, by_chance?.interval());
    let expected = format!("{} {}", number(by_chance.value), format::interval(by_chance, number));
    Some(Table {
        caption: format!("{workload}: packets over 8 receive queues, by Toeplitz under the published key"),
        columns: ["busiest queue over the mean", "by chance, 95 %"].map(str::to_owned).to_vec(),
        left: 0,
        rows: vec![vec![number(found.value), expected]],
        shown: Shown::Open,
    })
}

/// Schemes that each set collapses.
fn findings(facts: &Facts<'_>) -> Vec<String> {
    let collapsed = |workload: &&str| {
        let schemes = facts.schemes_with(workload, &[LONGEST[0]]);
        let bad: Vec<&str> =
            schemes.iter().copied().filter(|s| verdict(facts, workload, s) == Some("collapsed")).collect();
        (!bad.is_empty()).then(|| {
            format!("{workload} collapses {} of {} schemes: {}.", bad.len(), schemes.len(), bad.join(", "))
        })
    };
    facts.workloads.iter().filter_map(collapsed).collect()
}

/// The ten bins of one scheme.
struct Picture<'a> {
    scheme: &'a str,
    bins: [f64; 10],
}

impl<'a> Picture<'a> {
    fn of(facts: &Facts<'a>, scheme: &'a str) -> Option<Self> {
        let mut bins = [0.0; 10];
        for (bin, metric) in bins.iter_mut().zip(BIN_METRICS) {
            *bin = facts.value(SEED, scheme, metric)?.max(0.0);
        }
        Some(Self { scheme, bins })
    }

    /// The first and the last slot of a bin; the source's test has 65,535 of them, whatever a table has.
    fn range(bin: usize) -> (usize, usize) {
        let from = |bin: usize| bin * 65_535 / 10;
        (from(bin), from(bin + 1) - 1)
    }

    fn text(&self) -> String {
        let keys: f64 = self.bins.iter().sum();
        let mut out = format!("{}\n", format::plain(self.scheme));
        for (i, bin) in self.bins.iter().enumerate() {
            let (from, to) = Self::range(i);
            let share = if keys > 0.0 { 100.0 * bin / keys } else { 0.0 };
            // The source rounds down.
            let stars = "*".repeat(share.clamp(0.0, 100.0) as usize);
            out += &format!("{from:5} - {to:5} : {:10} : {stars}\n", *bin as u64);
        }
        out
    }
}

fn bars(pictures: &[Picture<'_>], published: Option<&Published>) -> BarPlots {
    let plot = |picture: &Picture<'_>| {
        let bar = |(i, &found): (usize, &f64)| {
            let (from, to) = Picture::range(i);
            let published =
                published.and_then(|table| table.column(picture.scheme, BIN_METRICS)).map(|bins| bins[i]);
            let mut title = format!("{}, {from} to {to}: {}", picture.scheme, count(found));
            if let Some(published) = published {
                title += &format!("; the source: {}", count(published));
            }
            let (label, value) = (format!("{from}–{to}"), Some(Interval::exact(found)));
            // None at all would be a mark on the edge.
            let tick = published.filter(|count| *count > 0.0);
            Bar { title, tick, ..Bar::new(&label, Role::Category(0), value, &count(found)) }
        };
        BarPlot {
            caption: picture.scheme.to_owned(),
            title: format!("{}: tuples in each tenth of the slots", picture.scheme),
            groups: vec![Group { heading: None, bars: picture.bins.iter().enumerate().map(bar).collect() }],
        }
    };
    BarPlots {
        axis: "tuples in a tenth of the slots".to_owned(),
        tick: Some("the source's count (another secret puts base into another bin)".to_owned()),
        plots: pictures.iter().map(plot).collect(),
        ..BarPlots::default()
    }
}

/// Our counts and the source's, of the schemes that have both.
fn beside_the_source(pictures: &[Picture<'_>], published: Option<&Published>) -> Option<Table> {
    let both: Vec<_> =
        pictures.iter().filter_map(|p| Some((p, published?.column(p.scheme, BIN_METRICS)?))).collect();
    both.first()?;
    let columns = both.iter().flat_map(|(p, _)| [p.scheme.to_owned(), "the source".to_owned()]);
    let row = |i: usize| {
        let (from, to) = Picture::range(i);
        let cells = both.iter().flat_map(|(p, published)| [p.bins[i], published[i]]).map(count);
        [format!("{from} - {to}")].into_iter().chain(cells).collect()
    };
    Some(Table {
        caption: "Tuples in each tenth of the slots, with the source's count".to_owned(),
        columns: ["slots".to_owned()].into_iter().chain(columns).collect(),
        left: 1,
        rows: (0..BIN_METRICS.len()).map(row).collect(),
        shown: Shown::Open,
    })
}

fn table(facts: &Facts<'_>, workload: &str) -> Table {
    let schemes = facts.schemes_with(workload, &[LONGEST[0], CHI_SQUARED[0], COLLISIONS[0]]);
    let of_any = |metric| schemes.iter().find_map(|s| facts.value(workload, s, metric)).map(count);
    let mut caption = workload.to_owned();
    if let (Some(keys), Some(buckets)) = (of_any("keys"), of_any("buckets")) {
        caption += &format!(": {keys} tuples, {buckets} buckets");
    }
    let row = |scheme: &&str| {
        let record = |metric| facts.record(workload, scheme, metric);
        let counted = |metric| record(metric).map(|r| count(r.value));
        let band = |i: Interval, show: fn(f64) -> String| format::interval(i, show);
        let expected = |metric| record(metric).map(Record::interval);
        let cells = [
            verdict(facts, workload, scheme).map(str::to_owned),
            counted(LONGEST[0]),
            expected(LONGEST[1]).map(|e| format!("{} {}", count(e.value.round()), band(e, count))),
            record(CHI_SQUARED[0]).map(|r| chi(r.value)),
            expected(CHI_SQUARED[1]).map(|e| band(e, chi)),
            counted(COLLISIONS[0]).map(|found| match expected(COLLISIONS[1]) {
                Some(chance) => format!("{found} ({})", count(chance.value.round())),
                None => found,
            }),
        ];
        let cells = cells.into_iter().map(|cell| cell.unwrap_or_else(|| format::NONE.to_owned()));
        [(*scheme).to_owned()].into_iter().chain(cells).collect()
    };
    let columns = [
        "scheme",
        "verdict",
        "longest chain",
        "by chance",
        "chi² per degree",
        "99.9 % band",
        "collisions (by chance)",
    ];
    without_empty_columns(Table {
        caption,
        columns: columns.map(str::to_owned).to_vec(),
        left: 2,
        rows: schemes.iter().map(row).collect(),
        shown: if workload == SEED { Shown::Open } else { Shown::Folded },
    })
}

/// Four decimals close to 1, where the band of a large set is narrow.
fn chi(value: f64) -> String {
    match value.abs() {
        v if v < 10.0 => format!("{value:.4}"),
        v if v < 1000.0 => format!("{value:.1}"),
        _ => count(value.round()),
    }
}

fn verdict(facts: &Facts<'_>, workload: &str, scheme: &str) -> Option<&'static str> {
    let record = |metric| facts.record(workload, scheme, metric);
    let (longest, expected) = (record(LONGEST[0])?, record(LONGEST[1])?);
    if longest.value > COLLAPSE * expected.high {
        return Some("collapsed");
    }
    let crowded = match (record(CHI_SQUARED[0]), record(CHI_SQUARED[1])) {
        (Some(found), Some(band)) => found.value > band.high,
        _ => false,
    };
    Some(if longest.value > expected.high || crowded { "uneven" } else { "even" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn prints_the_picture_as_the_source_does() {
        let definition = Definition::parse(include_str!("../../flow-hash/study.toml"), "study.toml").unwrap();
        let published = definition.published(PUBLISHED).unwrap();
        let picture = Picture { scheme: "siphash", bins: published.column("siphash", BIN_METRICS).unwrap() };
        let printed = "\
siphash
    0 -  6552 :     104866 : **********
 6553 - 13106 :     104806 : *********
13107 - 19659 :     104664 : *********
19660 - 26213 :     104865 : **********
26214 - 32766 :     105197 : **********
32767 - 39320 :     105204 : **********
39321 - 45873 :     104779 : *********
45874 - 52427 :     104611 : *********
52428 - 58980 :     104796 : *********
58981 - 65534 :     104687 : *********
";
        assert_eq!(picture.text(), printed);
    }

    #[test]
    fn judges_by_what_chance_explains() {
        let (definitions, records) = (sample::definitions(), sample::records());
        let facts = Facts::of(&definitions[0], &records, MODEL).unwrap();
        let verdicts: Vec<_> =
            ["base", "jhash2", "crc32c", "none"].map(|s| verdict(&facts, SEED, s)).to_vec();
        assert_eq!(verdicts, [Some("collapsed"), Some("even"), Some("uneven"), None]);
    }
}
