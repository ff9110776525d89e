//! States of a forwarder that several rows look at.

use crate::scene::Testbed;
use crate::session::{Outcome, Session};
use crate::verdict::{Check, Line};
use hashlane_ndn::mgmt::Record;
use hashlane_ndn::mgmt::dataset::{FaceStatus, ForwarderStatus, RibEntry};
use hashlane_ndn::tlv::Elements;
use std::thread;
use std::time::Duration;

/// Time for which a list of another forwarder stays as it is: NFD answers from a cache.
const FRESH: Duration = Duration::from_millis(1100);

/// Waits until lists show what has been done.
pub(super) fn settle(bench: &Testbed) {
    if !bench.program.is_ours() {
        thread::sleep(FRESH);
    }
}

/// Runs the parts of a row. One that cannot run has failed, and the others run.
pub(super) fn run_parts<'p, P: 'p>(
    parts: impl IntoIterator<Item = (&'p str, P)>,
    run: impl Fn(&str, P) -> Result<Line, String>,
) -> Vec<Line> {
    let line = |(id, part)| run(id, part).unwrap_or_else(|why| could_not_run(id, &why));
    parts.into_iter().map(line).collect()
}

/// A part whose preparation failed: it has not shown that the forwarder holds.
pub(super) fn could_not_run(id: &str, why: &str) -> Line {
    Line::of(id, "could not run", vec![Check::new(false, why)])
}

pub(super) fn status(session: &mut Session) -> Result<Option<ForwarderStatus>, String> {
    let Some(bytes) = session.dataset("status/general")? else { return Ok(None) };
    ForwarderStatus::parse_fields(Elements::new(&bytes)).map(Some).map_err(|error| error.to_string())
}

/// Pending Interests, for a finding.
pub(super) fn pending(session: &mut Session) -> String {
    match status(session) {
        Ok(Some(status)) => format!("{} pending Interests at the end of the attack", status.pit_entries),
        Ok(None) | Err(_) => "the number of pending Interests is not answered".to_owned(),
    }
}

/// All faces; none if the list is not answered.
pub(super) fn faces(session: &mut Session) -> Result<Vec<FaceStatus>, String> {
    let Some(bytes) = session.dataset("faces/list")? else { return Ok(Vec::new()) };
    FaceStatus::parse_all(&bytes).map_err(|error| error.to_string())
}

/// Id of the face with this remote endpoint.
pub(super) fn face(session: &mut Session, uri: &str) -> Result<Option<u64>, String> {
    Ok(faces(session)?.iter().find(|face| face.uri == uri).map(|face| face.face_id))
}

/// True if the RIB has a route for exactly this prefix.
pub(super) fn has_route(session: &mut Session, prefix: &str) -> Result<bool, String> {
    route_face(session, prefix).map(|face| face.is_some())
}

/// Face of the first route for exactly this prefix.
pub(super) fn route_face(session: &mut Session, prefix: &str) -> Result<Option<u64>, String> {
    let Some(bytes) = session.dataset("rib/list")? else { return Ok(None) };
    let entries = RibEntry::parse_all(&bytes).map_err(|error| error.to_string())?;
    let entry = entries.iter().find(|entry| entry.name.to_string() == prefix);
    Ok(entry.and_then(|entry| entry.routes.first()).map(|route| route.face_id))
}

/// Check that a command has one of these outcomes: a code, or no answer at all.
pub(super) fn refused(what: &str, outcome: &Outcome) -> Check {
    Check::new(outcome.code() != Some(200), format!("{what}: {outcome}"))
}

pub(super) fn has_code(what: &str, outcome: &Outcome, code: u64) -> Check {
    let met = outcome.code() == Some(code);
    let found = if met { format!("{what}: {code}") } else { format!("{what}: {outcome}, not {code}") };
    Check::new(met, found)
}
