//! The work to make two keys of one hash, as text and as JSON.

use hashlane_audit::attack::Knowledge;
use hashlane_audit::epsilon::vectors::hex;
use hashlane_audit::identity::{Claim, Goal, Identity};
use hashlane_audit::subject::SubjectInfo;
use serde_json::{Value, json};

/// Both goals, in this order.
const GOALS: [Goal; 2] = [Goal::TwoKeys, Goal::SecondKey];

/// A line for each goal: the work for whoever knows nothing, and the steps by which it falls.
pub(super) fn sentences(identity: &Identity, info: &SubjectInfo) -> [String; 2] {
    GOALS.map(|goal| {
        let steps: Vec<String> = identity.steps(goal).map(|claim| step(claim, info)).collect();
        format!("identity: {goal}: {}", steps.join("; "))
    })
}

fn step(claim: &Claim, info: &SubjectInfo) -> String {
    let needs = match claim.needs {
        Knowledge::Nothing => "nothing needed",
        Knowledge::Results => "as a black box",
        Knowledge::Seed => "seed needed",
    };
    let work = power(claim.log2_work);
    let Some(found) = &claim.found else {
        if claim.may_not_exist {
            return format!(
                "{needs}, {work} work if there is one (keys of this length are no more than the hashes, and the \
                 function may be one to one; no better than chance is known)"
            );
        }
        return format!("{needs}, {work} work (no better than chance is known)");
    };
    let [one, other] = found.keys.each_ref().map(|key| hex(key));
    let seed = info.seed_text(&found.seed);
    format!("{needs}, {work} work ({}; pair {one} and {other} under seed {seed})", found.method)
}

/// Work as a power of two.
fn power(log2: f64) -> String {
    match (log2 * 10.0).round() / 10.0 {
        whole if whole.fract() == 0.0 => format!("2^{}", whole.abs()),
        other => format!("2^{other:.1}"),
    }
}

/// Each claim.
pub(super) fn json(identity: Option<&Identity>) -> Value {
    let Some(identity) = identity else { return Value::Null };
    let claims = identity.claims.iter().map(|claim| {
        json!({
            "goal": claim.goal.to_string(),
            "needs": match claim.needs {
                Knowledge::Results => "black box".to_owned(),
                needs => needs.to_string(),
            },
            "log2_work": claim.log2_work.abs(),
            "may_not_exist": claim.may_not_exist,
            "method": claim.found.as_ref().map_or("chance", |found| &found.method),
            "pair": claim.found.as_ref().map(|found| found.keys.each_ref().map(|key| hex(key))),
            "seed": claim.found.as_ref().map(|found| hex(&found.seed.to_bytes())),
        })
    });
    claims.collect()
}
