//! The bias of buckets, as text and as JSON.

use hashlane_audit::bias::{Bias, Difference, LEVEL};
use hashlane_audit::epsilon::vectors::hex;
use hashlane_audit::flood::{CRITERION, Flood};
use hashlane_audit::verdict::rounded;
use hashlane_stats::format::count;
use serde_json::{Value, json};

/// The worst pair and its keys in the table, in sentences.
pub(super) fn sentence(bias: &Bias) -> String {
    let searched = format!("{} differences searched", count(bias.searched as f64));
    let level = format!("level 10^{}", LEVEL.log10().round());
    let constant = bias.constant.map(|constant| format!("{constant}; besides, ")).unwrap_or_default();
    if !bias.is_biased() {
        return format!("{constant}none found at {level}: of {searched}, the worst is chance: {bias}");
    }
    let mut text = format!("{constant}{bias}; {searched}, {level}");
    if bias.whole.collisions > 0 {
        let [pairs, equal] = [bias.whole.seeds, bias.whole.collisions].map(|pairs| count(pairs as f64));
        text += &format!("; of {pairs} such pairs, {equal} have one hash");
    }
    match &bias.effect {
        Some(effect) => text += &format!(". {}", effect_sentence(effect)),
        None => text += ". Too few keys have such differences for a flood",
    }
    text
}

/// Keys of the biased differences in the table.
fn effect_sentence(effect: &Flood) -> String {
    let [hostile, random] = effect.compared().map(rounded);
    let is_flood = match (effect.seeds, &effect.note) {
        (0, Some(tables)) => format!(", {tables}"),
        (0, None) => format!(": no flood, which takes {CRITERION} times the work"),
        (seeds, _) => format!(": a flood under {seeds} of {} seeds", effect.tried),
    };
    format!(
        "{} keys of such differences: {} of them in one bucket, {hostile} entries compared by a lookup \
         instead of {random}{is_flood}",
        count(effect.keys.len() as f64),
        count(effect.deepest as f64),
    )
}

/// The worst pair, null if it was not searched; `of_flood` writes the effect of its keys.
pub(super) fn json(bias: Option<&Bias>, of_flood: fn(&Flood) -> Value) -> Value {
    let Some(bias) = bias else { return Value::Null };
    let difference = match &bias.difference {
        Difference::Xor(bits) => json!({"kind": "xor", "bits": hex(bits)}),
        Difference::Add { at, width, by } => json!({"kind": "add", "at": at, "bytes": width, "by": by}),
    };
    let shares = bias.shares.iter().map(|(bits, share)| {
        json!({
            "buckets": 1_u32 << bits,
            "share": share.value(),
            "low": share.low,
            "high": share.high,
            "by_chance": 1.0 / f64::from(1_u32 << bits),
        })
    });
    json!({
        "constant_highest_bits": bias.constant.map_or(0, |constant| constant.bits),
        "biased": bias.is_biased(),
        "level": LEVEL,
        "p_value": bias.p_value,
        "differences": bias.searched,
        "difference": difference,
        "pair": bias.keys.each_ref().map(|key| hex(key)),
        "bits_of_hash": bias.side.word(),
        "buckets": 1_u32 << bias.bits,
        "pairs_tried": bias.whole.seeds,
        "pairs_of_one_hash": bias.whole.collisions,
        "shares": shares.collect::<Vec<_>>(),
        "keys_in_table": bias.effect.as_deref().map(of_flood),
    })
}
