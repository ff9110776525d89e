//! Steps of a trace, as lines for people and as JSON.

use super::rows::plain;
use hashlane_ndn::mgmt::trace::{TraceSent, TraceStep};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A step of a trace.
#[derive(Debug, Serialize)]
pub(super) struct Line {
    /// Microseconds since the start of the forwarder.
    at_us: u64,
    step: String,
    name: String,
    is_cut: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    face: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<Rule>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dropped: Option<String>,
    sent: Vec<Sent>,
}

/// FIB entry and strategy of an Interest.
#[derive(Debug, Serialize)]
struct Rule {
    /// Prefix of the FIB entry; absent without an entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    prefix: Option<String>,
    hops: Vec<Hop>,
    strategy: String,
    /// Prefix for which the strategy was chosen.
    choice: String,
}

#[derive(Debug, Serialize)]
struct Hop {
    face: u64,
    cost: u64,
}

#[derive(Debug, Serialize)]
struct Sent {
    face: u64,
    packet: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl From<TraceStep> for Line {
    fn from(step: TraceStep) -> Self {
        let prefix = step.prefix.map(|name| name.to_string());
        let hops = step.hops.iter().map(|hop| Hop { face: hop.face_id, cost: hop.cost }).collect();
        let rule = step.strategy.map(|strategy| {
            let choice = step.choice.map_or_else(String::new, |name| name.to_string());
            Rule { prefix, hops, strategy, choice }
        });
        let sent = |TraceSent { face_id, kind, reason }| Sent { face: face_id, packet: kind, reason };
        Self {
            at_us: step.at,
            step: step.kind,
            name: step.name.to_string(),
            is_cut: step.is_cut == Some(1),
            face: step.face_id,
            rule,
            decision: step.verdict,
            reason: step.reason,
            dropped: step.dropped,
            sent: step.sent.into_iter().map(sent).collect(),
        }
    }
}

impl Line {
    /// The faces of the step.
    pub(super) fn faces(&self) -> impl Iterator<Item = u64> {
        let hops = self.rule.iter().flat_map(|rule| rule.hops.iter().map(|hop| hop.face));
        self.face.into_iter().chain(hops).chain(self.sent.iter().map(|sent| sent.face))
    }
}

/// A step as one line, with the remote ends of faces.
pub(super) fn line(step: &Line, faces: &BTreeMap<u64, Option<String>>) -> String {
    let face = |id: u64| match faces.get(&id) {
        Some(Some(uri)) => format!("{id} ({})", plain(uri)),
        _ => id.to_string(),
    };
    // Writing to a string cannot fail.
    let (seconds, micros) = (step.at_us / 1_000_000, step.at_us % 1_000_000);
    let cut = if step.is_cut { "/..." } else { "" };
    let mut out = format!("{seconds}.{micros:06} {:<8} {}{cut}", plain(&step.step), plain(&step.name));
    if let Some(id) = step.face {
        let _ = write!(out, " from {}", face(id));
    }
    if let Some(Rule { prefix, hops, strategy, choice }) = &step.rule {
        match prefix {
            Some(prefix) => {
                let hops: Vec<_> =
                    hops.iter().map(|hop| format!("{} cost {}", face(hop.face), hop.cost)).collect();
                let _ = write!(out, "; rule {} via {}", plain(prefix), hops.join(", "));
            }
            None => out += "; no rule",
        }
        let _ = write!(out, "; {} of {}", plain(strategy), plain(choice));
    }
    if let Some(decision) = &step.decision {
        let _ = write!(out, ": {}", plain(decision));
    }
    if let Some(reason) = &step.reason {
        let _ = write!(out, " ({})", plain(reason));
    }
    if let Some(dropped) = &step.dropped {
        let _ = write!(out, "; dropped: {}", plain(dropped));
    }
    let sent: Vec<_> = step
        .sent
        .iter()
        .map(|sent| {
            let reason = sent.reason.as_deref().map_or(String::new(), |reason| format!(" {}", plain(reason)));
            format!("{}{reason} to {}", plain(&sent.packet), face(sent.face))
        })
        .collect();
    if !sent.is_empty() {
        let verb = if step.step == "expired" { "no answer to" } else { "sent" };
        let _ = write!(out, "; {verb} {}", sent.join(", "));
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_ndn::mgmt::dataset::NextHopRecord;

    fn step() -> TraceStep {
        let name = |uri: &str| hashlane_name::uri::parse_uri(uri.as_bytes()).unwrap();
        TraceStep {
            at: 12_000_345,
            kind: "interest".into(),
            face_id: Some(258),
            name: name("/a/b"),
            is_cut: None,
            dropped: None,
            reason: None,
            prefix: Some(name("/a")),
            choice: Some(name("/")),
            strategy: Some("best-route".into()),
            verdict: Some("forward".into()),
            hops: vec![NextHopRecord { face_id: 260, cost: 7 }],
            sent: vec![TraceSent { face_id: 260, kind: "interest".into(), reason: None }],
        }
    }

    #[test]
    fn a_step_is_one_line() {
        let faces = BTreeMap::from([(258, Some("fd://9".to_owned())), (260, None)]);
        assert_eq!(
            line(&Line::from(step()), &faces),
            "12.000345 interest /a/b from 258 (fd://9); rule /a via 260 cost 7; best-route of /: forward; sent \
             interest to 260\n"
        );
        let rejected = TraceStep {
            prefix: None,
            hops: Vec::new(),
            verdict: Some("reject".into()),
            reason: Some("NoRoute".into()),
            sent: vec![TraceSent { face_id: 258, kind: "nack".into(), reason: Some("NoRoute".into()) }],
            ..step()
        };
        assert!(
            line(&Line::from(rejected), &faces).ends_with(
                "; no rule; best-route of /: reject (NoRoute); sent nack NoRoute to 258 (fd://9)\n"
            )
        );
        let hostile = TraceStep { kind: "data\n\u{1b}[2J".into(), dropped: Some("loop".into()), ..step() };
        let hostile = line(&Line::from(hostile), &faces);
        assert!(
            hostile.matches(char::is_control).eq(["\n"]) && hostile.contains("; dropped: loop"),
            "{hostile}"
        );
    }

    #[test]
    fn absent_parts_are_left_out_of_the_json() {
        let expired = TraceStep {
            kind: "expired".into(),
            face_id: None,
            prefix: None,
            choice: None,
            strategy: None,
            verdict: None,
            hops: Vec::new(),
            ..step()
        };
        let json = super::super::rows::to_json(&Line::from(expired)).unwrap();
        assert_eq!(
            json,
            "{\"at_us\":12000345,\"step\":\"expired\",\"name\":\"/a/b\",\"is_cut\":false,\
             \"sent\":[{\"face\":260,\"packet\":\"interest\"}]}\n"
        );
    }
}
