//! Spread of real traffic as JSON.

use super::{Report, Spreads};
use anyhow::Result;
use hashlane_audit::epsilon::vectors::hex;
use hashlane_audit::traffic::depth::Depths;
use hashlane_audit::traffic::imbalance::{Imbalance, Trial};
use hashlane_audit::traffic::rss::Spread;
use serde_json::{Value, json};

pub(super) fn text(report: &Report) -> Result<String> {
    let fields = report.fields.iter().map(|field| {
        json!({
            "field": field.name, "bits": field.bits, "distinct": field.distinct, "keys": field.keys,
        })
    });
    let document = json!({
        "seed": report.seed,
        "input": report.input,
        "function": report.function,
        "buckets": buckets(&report.depths),
        "rss": report.spreads.as_ref().map(rss),
        "ecmp": report.spreads.as_ref().map(ecmp),
        "entropy": fields.collect::<Vec<_>>(),
    });
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

fn buckets(depths: &Depths) -> Value {
    let deepest = depths.ideal_deepest();
    let rows = depths
        .rows()
        .into_iter()
        .map(|row| json!({"from": row.from, "to": row.to, "buckets": row.found, "ideal": row.ideal}));
    json!({
        "keys": depths.keys,
        "buckets": depths.buckets,
        "p50": depths.quantile(0.5),
        "p50_ideal": depths.ideal_quantile(0.5),
        "p99": depths.quantile(0.99),
        "p99_ideal": depths.ideal_quantile(0.99),
        "deepest": depths.deepest(),
        "deepest_ideal": {"value": deepest.value, "low": deepest.low, "high": deepest.high},
        "histogram": rows.collect::<Vec<_>>(),
    })
}

fn rss(spreads: &Spreads) -> Value {
    let report = &spreads.rss;
    let of = |spread: &Spread| {
        let Imbalance { packets, flows } = spread.imbalance;
        json!({"packets": packets, "flows": flows, "symmetric_flows": spread.symmetric})
    };
    json!({
        "queues": report.queues,
        "flows": spreads.flows,
        "published": of(&report.published),
        "symmetric": of(&report.symmetric),
        "random": report.trial.as_ref().map(|found| trial(found, &hex(&found.key))),
    })
}

fn ecmp(spreads: &Spreads) -> Value {
    let report = &spreads.ecmp;
    json!({
        "paths": report.paths,
        "one_key": imbalance(&report.first),
        "random": report.trial.as_ref().map(|found| trial(found, &hex(&found.key.to_bytes()))),
    })
}

fn trial<K>(trial: &Trial<K>, key: &str) -> Value {
    json!({
        "tried": trial.tried,
        "key": key,
        "best": imbalance(&trial.best),
        "median_packets": trial.median,
    })
}

fn imbalance(imbalance: &Imbalance) -> Value {
    json!({"packets": imbalance.packets, "flows": imbalance.flows})
}
