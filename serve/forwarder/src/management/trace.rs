//! Commands of the module trace: what forwarding did with the packets below a prefix.
//!
//! Forwarding threads put steps into a queue of [`QUEUE`] places, and count those for which there is no room.

use super::fields::{COUNT, EXPIRATION, NAME};
use super::manager::Manager;
use super::reply::{Done, done, refused};
use super::request::{Request, TableRequest};
use super::traces::{LEASE, Running};
use super::verb::{Call, Verb};
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_ndn::mgmt::dataset::NextHopRecord;
use hashlane_ndn::mgmt::trace::{TraceReport, TraceSent, TraceStep};
use hashlane_ndn::mgmt::{ControlParameters, ControlResponse, Record as _};
use hashlane_ndn_fw::trace::{MAX_TRACES, SentKind, Step, StepKind, Trace, Verdict};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{TryRecvError, TrySendError, sync_channel};

/// Steps that wait for their reader, of each trace. With the longest names, they take about 4 MB.
const QUEUE: usize = 1024;

/// Longest time limit of a trace, and the one without a limit in the command, in milliseconds.
const LONGEST: u64 = 3_600_000;

/// Bytes of a report, at most: an answer has room for them beside the name of the command. The longest step
/// takes about 4 KiB.
const REPORT: usize = 6 << 10;

pub(super) const START: Verb =
    Verb { name: "trace/start", required: NAME, optional: COUNT | EXPIRATION, run: start };
pub(super) const READ: Verb = Verb { name: "trace/read", required: 0, optional: 0, run: read };

fn start(manager: &mut Manager, call: Call<'_>) -> Done {
    let Call { parameters, from, now, plane, .. } = call;
    let Some(prefix) = parameters.name else {
        debug_assert!(false, "required fields have been checked");
        return refused(400, "Name is required");
    };
    manager.check_depth(prefix.view())?;
    let every = match parameters.count {
        Some(0) => return refused(400, "Count must be positive"),
        Some(count) => u32::try_from(count).unwrap_or(u32::MAX),
        None => 1,
    };
    let lasts = match parameters.expiration {
        Some(0) => return refused(400, "ExpirationPeriod must be positive"),
        limit => limit.unwrap_or(LONGEST).min(LONGEST),
    };
    let traces = &mut manager.traces;
    traces.stop(from.face, plane);
    if traces.running.len() >= MAX_TRACES {
        return refused(503, format!("{MAX_TRACES} traces are running: wait for the end of one"));
    }
    let (sender, steps) = sync_channel(QUEUE);
    let lost = Arc::<AtomicU64>::default();
    let counted = lost.clone();
    let sink = Arc::new(move |step| match sender.try_send(step) {
        Ok(()) => true,
        Err(TrySendError::Full(_)) => {
            counted.fetch_add(1, Ordering::Relaxed);
            true
        }
        Err(TrySendError::Disconnected(_)) => false,
    });
    traces.last += 1;
    let id = traces.last;
    let response = ControlParameters {
        name: Some(prefix.clone()),
        count: Some(every.into()),
        expiration: Some(lasts),
        capacity: Some(QUEUE as u64),
        ..ControlParameters::default()
    };
    // The forwarding threads end it, too, should the management not come to it.
    let trace = Trace { id, prefix, every, lasts: lasts + LEASE, sink };
    let ends = now.monotonic.saturating_add(lasts);
    traces.running.insert(from.face, Running { id, steps, lost, next: None, read: now.monotonic, ends });
    plane.request(Request::Table(TableRequest::StartTrace(trace)));
    done(&response)
}

fn read(manager: &mut Manager, call: Call<'_>) -> Done {
    let Some(running) = manager.traces.running.get_mut(&call.from.face) else {
        return refused(404, "this connection has no trace: it has ended, or was not started");
    };
    running.read = call.now.monotonic;
    let left = running.ends.saturating_sub(call.now.monotonic);
    let mut report = TraceReport { lost: running.lost.load(Ordering::Relaxed), left, steps: Vec::new() };
    let mut bytes = 0;
    loop {
        let step = match running.next.take() {
            Some(step) => step,
            None => match running.steps.try_recv() {
                Ok(step) => match record(&step) {
                    Some(record) => record,
                    None => continue,
                },
                Err(TryRecvError::Empty) => break,
                // All forwarding threads have ended it.
                Err(TryRecvError::Disconnected) => {
                    report.left = 0;
                    break;
                }
            },
        };
        bytes += step.to_bytes().len();
        if bytes > REPORT {
            running.next = Some(step);
            break;
        }
        report.steps.push(step);
    }
    Ok(Some(ControlResponse { body: report.to_bytes(), ..ControlResponse::new(200, "OK") }))
}

/// A name that forwarding has checked.
fn name(bytes: &[u8]) -> Option<OwnedName<Ndn>> {
    let parsed = NdnName::parse(bytes).map(|name| OwnedName::from(&name)).ok();
    debug_assert!(parsed.is_some(), "the name was checked");
    parsed
}

/// The record of a step.
fn record(step: &Step) -> Option<TraceStep> {
    let (kind, nacked) = match step.kind {
        StepKind::Interest => ("interest", None),
        StepKind::Data => ("data", None),
        StepKind::Nack(reason) => ("nack", Some(reason)),
        StepKind::Retry => ("retry", None),
        StepKind::Expired => ("expired", None),
    };
    let rejected = match step.verdict {
        Some(Verdict::Reject(reason)) => Some(reason),
        _ => None,
    };
    let rule = step.rule.as_ref();
    Some(TraceStep {
        at: step.at.0 / 1000,
        kind: kind.into(),
        face_id: (step.face.0 != 0).then_some(step.face.0.into()),
        name: name(&step.name)?,
        is_cut: step.is_cut.then_some(1),
        dropped: step.dropped.map(|reason| reason.name().into()),
        reason: nacked.or(rejected).map(|reason| reason.to_string()),
        prefix: rule.and_then(|rule| rule.prefix.as_deref()).and_then(name),
        choice: rule.and_then(|rule| name(&rule.choice)),
        strategy: rule.map(|rule| rule.strategy.name().into()),
        verdict: step.verdict.map(|verdict| verdict.name().into()),
        hops: rule.map_or(Vec::new(), |rule| {
            rule.hops.iter().map(|hop| NextHopRecord { face_id: hop.face.0.into(), cost: hop.cost }).collect()
        }),
        sent: step
            .sent
            .iter()
            .map(|sent| {
                let (kind, reason) = match sent.kind {
                    SentKind::Interest => ("interest", None),
                    SentKind::Data => ("data", None),
                    SentKind::Nack(reason) => ("nack", Some(reason.to_string())),
                };
                TraceSent { face_id: sent.face.0.into(), kind: kind.into(), reason }
            })
            .collect(),
    })
}
