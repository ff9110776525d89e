//! An overview of flows as JSON.

use super::Shown;
use hashlane_meter::format;
use hashlane_meter::show::{Quantiles, Traffic};
use serde_json::{Value, json};

/// One object. Times are in nanoseconds, since 1970 or as a duration.
pub(super) fn json(shown: &Shown, top: usize) -> String {
    let Shown { overview, summary, captured } = shown;
    let total = summary.total();
    let hosts = overview.hosts.top(top);
    let hosts = hosts.iter().map(|(host, sum)| with(sum, json!({ "address": host })));
    let pairs = overview.conversations.top(top);
    let pairs = pairs.iter().map(|(pair, sum)| with(sum, json!({ "addresses": pair })));
    let services = overview.services.top(top);
    let services = services.iter().map(|(service, sum)| {
        with(sum, json!({ "protocol": format::protocol(service.protocol), "port": service.port }))
    });
    let protocols = overview.protocols();
    let protocols = protocols
        .iter()
        .map(|(number, sum)| with(sum, json!({ "protocol": format::protocol(*number), "number": number })));
    let dropped =
        summary.undissected.iter().map(|(cause, count)| json!({ "cause": cause, "packets": count }));
    let document = json!({
        "flows": overview.total.flows,
        "answered": overview.answered,
        "packets": overview.total.packets,
        "bytes": overview.total.bytes,
        "received": captured.then(|| json!({ "packets": total.packets, "bytes": total.bytes })),
        "first": overview.span.map(|(first, _)| first),
        "last": overview.span.map(|(_, last)| last),
        "hosts": hosts.collect::<Vec<_>>(),
        "conversations": pairs.collect::<Vec<_>>(),
        "services": services.collect::<Vec<_>>(),
        "protocols": protocols.collect::<Vec<_>>(),
        "duration": quantiles(&overview.durations),
        "flow_bytes": quantiles(&overview.sizes),
        "flow_packets": quantiles(&overview.packets),
        "missing_bytes": {
            "hosts": overview.hosts.missing(),
            "conversations": overview.conversations.missing(),
            "services": overview.services.missing(),
        },
        "not_metered": {
            "undissected": dropped.collect::<Vec<_>>(),
            "lost": total.dropped.ring,
            "sampled": total.dropped.sampled,
            "table_full": total.dropped.table,
        },
        "flows_evicted": total.flows_evicted,
        "flows_lost": total.flows_lost,
    });
    format!("{document:#}\n")
}

/// A key with its traffic.
fn with(traffic: &Traffic, mut key: Value) -> Value {
    let Traffic { flows, packets, bytes, sent } = *traffic;
    if let Some(object) = key.as_object_mut() {
        for (name, number) in [("bytes", bytes), ("packets", packets), ("flows", flows), ("sent", sent)] {
            object.insert(name.to_owned(), number.into());
        }
    }
    key
}

fn quantiles(all: &Quantiles) -> Value {
    let at = |share| all.quantile(share);
    json!({ "p50": at(0.5), "p90": at(0.9), "p99": at(0.99), "most": all.most() })
}
