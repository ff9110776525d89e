//! Spread of real traffic as text.

use super::{Report, Spreads};
use hashlane_audit::epsilon::vectors::hex;
use hashlane_audit::traffic::depth::{Depths, Row};
use hashlane_audit::traffic::imbalance::{Imbalance, Trial};
use hashlane_audit::traffic::rss::Spread;
use hashlane_audit::verdict::rounded;
use hashlane_stats::format::{count, plain};

/// Spaces before a line of a table.
const INDENT: &str = "  ";

pub(super) fn text(report: &Report) -> String {
    let mut text = format!("{}. Seed {}. No connection is opened.\n", plain(&report.input), report.seed);
    text += &buckets(&report.function, &report.depths);
    if let Some(spreads) = &report.spreads {
        text += &queues(spreads);
        text += &paths(spreads);
    }
    text += &fields(report);
    text
}

fn whole(number: usize) -> String {
    count(number as f64)
}

fn buckets(function: &str, depths: &Depths) -> String {
    let Depths { keys, buckets, .. } = depths;
    let [keys, buckets] = [keys, buckets].map(|number| whole(*number));
    let mut text = format!("\nBuckets: {function}, {keys} keys in {buckets} buckets\n");
    let deepest = depths.ideal_deepest();
    let range = format!("{} [{}, {}]", deepest.value, deepest.low, deepest.high);
    let quantile = |name: &str, share| {
        [name.to_owned(), whole(depths.quantile(share)), depths.ideal_quantile(share).to_string()]
    };
    text += &table(&[
        ["keys in a bucket", "found", "ideal"].map(str::to_owned),
        quantile("p50", 0.5),
        quantile("p99", 0.99),
        ["deepest".to_owned(), whole(depths.deepest()), range],
    ]);
    text.push('\n');
    let row = |row: Row| {
        let depth = if row.from == row.to {
            whole(row.from)
        } else {
            format!("{}–{}", whole(row.from), whole(row.to))
        };
        [depth, count(row.found as f64), rounded(row.ideal)]
    };
    let head = ["depth", "buckets", "ideal"].map(str::to_owned);
    text += &table(&[head].into_iter().chain(depths.rows().into_iter().map(row)).collect::<Vec<_>>());
    text
}

fn queues(spreads: &Spreads) -> String {
    let report = &spreads.rss;
    let mut text =
        format!("\nRSS: load of the busiest of {} queues over the mean; 1.00 is even\n", report.queues);
    let flows = whole(spreads.flows);
    let of = |name: &str, spread: &Spread| {
        let [packets, by_flow] = imbalance(&spread.imbalance);
        [name.to_owned(), packets, by_flow, format!("{} of {flows} flows", whole(spread.symmetric))]
    };
    let mut rows = vec![
        ["key", "packets", "flows", "both directions on one queue"].map(str::to_owned),
        of("published by Microsoft", &report.published),
        of("6d5a repeated (symmetric)", &report.symmetric),
    ];
    rows.extend(
        trial(report.trial.as_ref())
            .into_iter()
            .flatten()
            .map(|[name, packets, flows]| [name, packets, flows, String::new()]),
    );
    text += &table(&rows);
    if let Some(trial) = &report.trial {
        text += &format!("{INDENT}best key: {}\n", hex(&trial.key));
    }
    text
}

fn paths(spreads: &Spreads) -> String {
    let report = &spreads.ecmp;
    let mut text =
        format!("\nECMP: load of the busiest of {} paths over the mean; 1.00 is even\n", report.paths);
    let [packets, flows] = imbalance(&report.first);
    let mut rows =
        vec![["key", "packets", "flows"].map(str::to_owned), ["one random key".to_owned(), packets, flows]];
    rows.extend(trial(report.trial.as_ref()).into_iter().flatten());
    text += &table(&rows);
    if let Some(trial) = &report.trial {
        text += &format!("{INDENT}best key: {}\n", hex(&trial.key.to_bytes()));
    }
    text
}

/// Rows of random keys.
fn trial<K>(trial: Option<&Trial<K>>) -> Option<[[String; 3]; 2]> {
    let trial = trial?;
    let [packets, flows] = imbalance(&trial.best);
    let tried = count(f64::from(trial.tried));
    Some([
        [format!("best of {tried} random keys"), packets, flows],
        [format!("median of {tried} random keys"), rounded(trial.median), String::new()],
    ])
}

fn imbalance(imbalance: &Imbalance) -> [String; 2] {
    [imbalance.packets, imbalance.flows].map(rounded)
}

fn fields(report: &Report) -> String {
    let keys = report.fields.first().map_or(0, |field| field.keys);
    let most = (keys.max(1) as f64).log2();
    let mut text = format!("\nEntropy of each field; {} keys have at most {most:.2} bits\n", whole(keys));
    let mut rows = vec![["field", "bits", "distinct values", "keys"].map(str::to_owned)];
    rows.extend(report.fields.iter().map(|field| {
        [field.name.clone(), format!("{:.2}", field.bits), whole(field.distinct), whole(field.keys)]
    }));
    text += &table(&rows);
    text
}

/// Rows in columns, the first to the left and the others to the right.
fn table<const COLUMNS: usize>(rows: &[[String; COLUMNS]]) -> String {
    let mut text = String::new();
    let wide: Vec<usize> = (0..COLUMNS)
        .map(|column| {
            rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    for row in rows {
        let mut line = INDENT.to_owned();
        for (column, (cell, wide)) in row.iter().zip(&wide).enumerate() {
            line += &if column == 0 { format!("{cell:wide$}") } else { format!("  {cell:>wide$}") };
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}
