//! The verdicts as JSON, of functions and tables in the same shape.

use super::table::describe;
use super::{bias, identity, search};
use anyhow::Result;
use hashlane_audit::audit::{Epsilon, Outcome, Report, Settings};
use hashlane_audit::epsilon::vectors::hex;
use hashlane_audit::flood::Flood;
use hashlane_audit::own_table::{self, Trial};
use hashlane_stats::{Interval, median};
use serde_json::{Map, Value, json};

/// Verdicts on functions.
pub(super) fn of_functions(reports: &[Report], settings: &Settings) -> Result<String> {
    of_functions_with(reports, settings, Map::new())
}

/// Verdicts on functions, and further keys of the document.
pub(super) fn of_functions_with(
    reports: &[Report],
    settings: &Settings,
    more: Map<String, Value>,
) -> Result<String> {
    let audited = reports.iter().map(of_function).collect();
    let table = describe(&settings.geometry);
    let mut document = document(settings.seed, &table, settings.length, settings.seed_bits, audited);
    if let Value::Object(document) = &mut document {
        document.extend(more);
    }
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

/// The verdict on the table of a shared object.
pub(super) fn of_table(
    path: &str,
    seed: u64,
    length: Option<usize>,
    report: &own_table::Report,
) -> Result<String> {
    let trials = report.trials.iter().map(of_trial);
    let failed = report.fault.iter().map(|failed| {
        json!({
            "id": failed.about.id,
            "made_for": failed.scheme,
            "needs": failed.about.knowledge.to_string(),
            "source": failed.about.source,
            "outcome": "fails",
            "reason": failed.fault.to_string(),
            "flood": null,
        })
    });
    let audited = json!({
        "id": path,
        "kind": "table",
        "source": path,
        "verdict": report.word(),
        "sentence": report.to_string(),
        "floodable": report.is_floodable(),
        "faulty": report.is_faulty(),
        "unhashed_bits": null,
        "epsilon": epsilon(&Epsilon::Unknown),
        "bias": null,
        "identity": null,
        "search": null,
        "random_keys": null,
        "lengths_tried": null,
        "attacks": trials.chain(failed).collect::<Vec<_>>(),
    });
    text(seed, path, length, None, vec![audited])
}

fn text(
    seed: u64,
    table: &str,
    length: Option<usize>,
    seed_bits: Option<u32>,
    audited: Vec<Value>,
) -> Result<String> {
    let document = document(seed, table, length, seed_bits, audited);
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

fn document(
    seed: u64,
    table: &str,
    length: Option<usize>,
    seed_bits: Option<u32>,
    audited: Vec<Value>,
) -> Value {
    json!({
        "seed": seed,
        "table": table,
        "keys": length,
        "seed_bits": seed_bits,
        "audited": audited,
        "error": null,
    })
}

/// An error, in the shape of the verdicts: none were drawn.
pub(super) fn of_error(error: &str) -> Result<String> {
    let document = json!({"seed": null, "table": null, "keys": null, "seed_bits": null, "audited": [],
        "error": error});
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

fn of_function(report: &Report) -> Value {
    let attacks = report.attempts.iter().map(|(about, outcome)| {
        let (word, why, flood) = match outcome {
            Outcome::Flood(flood) => ("floods", None, Some(of_flood(flood))),
            Outcome::Harmless => ("harmless", None, None),
            Outcome::NotApplicable(why) => ("does not apply", Some(why.as_str()), None),
            Outcome::NotTried => ("not tried", Some("it needs the key, which is declared secret"), None),
        };
        json!({
            "id": about.id,
            "made_for": report.info.id,
            "needs": about.knowledge.to_string(),
            "source": about.source,
            "outcome": word,
            "reason": why,
            "flood": flood,
        })
    });
    json!({
        "id": report.info.id,
        "kind": "function",
        "source": report.info.source,
        "verdict": report.verdict.word(),
        "sentence": report.sentence(),
        "floodable": report.verdict.is_floodable(),
        "faulty": report.verdict.is_faulty(),
        "unhashed_bits": report.unhashed.bits,
        "epsilon": epsilon(&report.epsilon),
        "bias": bias::json(report.bias.as_ref(), of_flood),
        "identity": identity::json(report.identity.as_ref()),
        "search": search::json(report.searched.as_ref()),
        "random_keys": report.crowding.as_deref().map(of_flood),
        "lengths_tried": report.lengths,
        "attacks": attacks.collect::<Vec<_>>(),
    })
}

fn of_flood(flood: &Flood) -> Value {
    let [hostile, random] = flood.compared();
    json!({
        "keys": flood.keys.len(),
        "deepest_bucket": flood.deepest,
        "meet_up_to_buckets": flood.buckets,
        "one_hash": flood.equal.is_some(),
        "seeds": flood.seeds,
        "seeds_tried": flood.tried,
        "seed": hex(&flood.seed.to_bytes()),
        "entries_compared": hostile,
        "entries_compared_random": random,
        "time_ratio": flood.time.map(interval),
        "made_with": flood.made_with.map(|knowledge| knowledge.to_string()),
        "note": flood.note,
    })
}

fn of_trial(trial: &Trial) -> Value {
    let pairs = &trial.comparison.pairs;
    let flood = trial.comparison.is_flooded().then(|| {
        let compared = |values: Option<Vec<f64>>| values.and_then(|values| median(&values));
        json!({
            "keys": trial.keys.len(),
            "keys_stored": trial.comparison.stored().unwrap_or(trial.keys.len() as u64),
            "deepest_bucket": null,
            "meet_up_to_buckets": null,
            "one_hash": null,
            "seeds": pairs.len(),
            "seeds_tried": pairs.len(),
            "seed": null,
            "entries_compared": compared(pairs.iter().map(|pair| pair.0.lookup_compared()).collect()),
            "entries_compared_random": compared(pairs.iter().map(|pair| pair.1.lookup_compared()).collect()),
            "time_ratio": trial.comparison.lookup_time().map(interval),
        })
    });
    json!({
        "id": trial.about.id,
        "made_for": trial.scheme,
        "needs": trial.about.knowledge.to_string(),
        "source": trial.about.source,
        "outcome": if flood.is_some() { "floods" } else { "harmless" },
        "reason": null,
        "flood": flood,
    })
}

fn interval(ratio: Interval) -> Value {
    json!({"value": ratio.value, "low": ratio.low, "high": ratio.high})
}

fn epsilon(epsilon: &Epsilon) -> Value {
    match epsilon {
        Epsilon::Proved(proved) => json!({"kind": "proved", "log2": proved.log2, "source": proved.source}),
        Epsilon::Broken { keys, source, origin, measured, log2 } => json!({
            "kind": "broken",
            "log2": log2,
            "source": source,
            "origin": origin,
            "pair": keys.each_ref().map(|key| hex(key)),
            "collisions": measured.collisions,
            "seeds": measured.seeds,
            "low": measured.low,
            "high": measured.high,
        }),
        Epsilon::Measured { keys, seeds } => json!({"kind": "measured", "keys": keys, "seeds": seeds}),
        Epsilon::Unknown => json!({"kind": "unknown"}),
    }
}
