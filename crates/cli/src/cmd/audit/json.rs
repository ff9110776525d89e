//! The reports as JSON.

use super::table::describe;
use anyhow::Result;
use hashlane_audit::audit::{Epsilon, Outcome, Report, Settings};
use hashlane_audit::epsilon::vectors::hex;
use hashlane_audit::flood::Flood;
use serde_json::{Value, json};

pub(super) fn text(reports: &[Report], settings: &Settings) -> Result<String> {
    let document = json!({
        "seed": settings.seed,
        "table": describe(&settings.geometry),
        "keys": settings.length,
        "schemes": reports.iter().map(scheme).collect::<Vec<_>>(),
    });
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

fn scheme(report: &Report) -> Value {
    let attacks = report.attempts.iter().map(|(about, outcome)| {
        let (word, why, flood) = match outcome {
            Outcome::Flood(flood) => ("floods", None, Some(of_flood(flood))),
            Outcome::Harmless => ("harmless", None, None),
            Outcome::NotApplicable(why) => ("does not apply", Some(why), None),
        };
        json!({
            "id": about.id,
            "needs": about.knowledge.to_string(),
            "source": about.source,
            "outcome": word,
            "reason": why,
            "flood": flood,
        })
    });
    json!({
        "id": report.info.id,
        "source": report.info.source,
        "verdict": report.verdict.word(),
        "sentence": report.sentence(),
        "floodable": report.verdict.is_floodable(),
        "faulty": report.verdict.is_faulty(),
        "unhashed_bits": report.unhashed.bits,
        "epsilon": epsilon(&report.epsilon),
        "attacks": attacks.collect::<Vec<_>>(),
    })
}

fn of_flood(flood: &Flood) -> Value {
    let [hostile, random] = flood.compared();
    json!({
        "keys": flood.keys.len(),
        "deepest_bucket": flood.deepest,
        "seeds": flood.seeds,
        "seeds_tried": flood.tried,
        "seed": hex(&flood.seed.to_bytes()),
        "entries_compared": hostile,
        "entries_compared_random": random,
        "time_ratio": flood.time.map(|time| json!({"value": time.value, "low": time.low, "high": time.high})),
    })
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
