//! Many routes of a forwarder, by pipelined commands.

use super::control::{self, TIMEOUT};
use super::port::{framing, reader};
use hashlane_lab::study::TurnError;
use hashlane_link::stream::Filled;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::mgmt::ControlParameters;
use std::io::{self, Write};
use std::os::unix::net::UnixStream;

/// Commands that are sent ahead of their answers. Our forwarder sends an Interest back when 1,024 wait for
/// its management.
const WINDOW: usize = 512;

/// Adds `face`, or the face of `stream` itself, as the next hop of all `prefixes` by `fib/add-nexthop`.
/// Calls `check` now and then; its error ends the work. No packet but the answers may be on its way to here.
///
/// `fib/add-nexthop` and not `rib/register`: the RIB would take more time and memory than all that is
/// measured, and has a limit for each face.
pub(super) fn add_next_hops(
    stream: &mut UnixStream,
    mut prefixes: impl Iterator<Item = OwnedName<Ndn>>,
    face: Option<u64>,
    check: impl Fn() -> Result<(), TurnError>,
) -> Result<(), TurnError> {
    const WHAT: &str = "cannot add routes to the forwarder";
    let failed = TurnError::io(WHAT);
    stream.set_read_timeout(Some(TIMEOUT)).map_err(failed)?;
    let (mut reader, mut commands, mut waiting) = (reader(), Vec::new(), 0);
    loop {
        if waiting <= WINDOW / 2 {
            check()?;
            commands.clear();
            for prefix in prefixes.by_ref().take(WINDOW - waiting) {
                let name = Some(prefix);
                let parameters =
                    ControlParameters { name, face_id: face, cost: Some(0), ..Default::default() };
                let command = control::build(b"fib", b"add-nexthop", &parameters);
                commands.extend(command.map_err(|why| TurnError::Failed(format!("{WHAT}: {why}")))?);
                waiting += 1;
            }
            stream.write_all(&commands).map_err(failed)?;
        }
        if waiting == 0 {
            return Ok(());
        }
        match reader.fill(stream).map_err(failed)? {
            Filled::End => return Err(failed(io::ErrorKind::UnexpectedEof.into())),
            Filled::Drained(0) => return Err(failed(io::ErrorKind::TimedOut.into())),
            Filled::Full(_) | Filled::Drained(_) => {}
        }
        for packet in reader.frames(framing) {
            let refused = |why: String| TurnError::Failed(format!("{WHAT}: {why}"));
            control::answer(packet.map_err(|error| refused(error.to_string()))?).map_err(refused)?;
            waiting = waiting.saturating_sub(1);
        }
    }
}
