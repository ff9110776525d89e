//! Loading of zone files, with their faults, and the identity by which a change of a file shows.

use crate::clock::unix_seconds;
use crate::config::ZoneFiles;
use hashlane_dns::query::Hash;
use hashlane_dns::zone::Zone;
use hashlane_hash::scheme::Key;
use hashlane_name::dns::{Name, NameBuf};
use hashlane_transfer::zonemd::{self, Zonemd};
use hashlane_zone_file::Options;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Identity of a file's content, by which a change shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) device: u64,
    pub(super) inode: u64,
    pub(super) length: u64,
    /// Time of the last change, in seconds and nanoseconds since 1970.
    pub(super) changed: (i64, i64),
}

impl Stamp {
    /// The stamp of a file; `None` if it cannot be examined.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let found = fs::metadata(path).ok()?;
        Some(Self {
            device: found.dev(),
            inode: found.ino(),
            length: found.len(),
            changed: (found.mtime(), found.mtime_nsec()),
        })
    }
}

/// Result of a load, with the warnings of the zone, the duration in milliseconds and the stamps of its files.
pub(super) struct Outcome {
    pub(super) result: Result<Zone, String>,
    pub(super) warnings: Vec<String>,
    pub(super) took_ms: u64,
    pub(super) stamps: Vec<(PathBuf, Option<Stamp>)>,
}

/// Interval at which [`load_all`] calls back while zones are loaded.
const TICK: Duration = Duration::from_millis(20);

/// Loads zones on all cores. `each` gets the outcomes with the numbers of their zones, as they come, and
/// `None` now and then if none comes.
pub(super) fn load_all(
    zones: &[(PathBuf, NameBuf)],
    limits: &ZoneFiles,
    key: &Key,
    mut each: impl FnMut(Option<(usize, Outcome)>),
) {
    let next = AtomicUsize::new(0);
    let threads = thread::available_parallelism().map_or(1, usize::from).min(zones.len());
    let (loaded, outcomes) = channel();
    thread::scope(|scope| {
        for _ in 0..threads {
            let (loaded, next) = (loaded.clone(), &next);
            scope.spawn(move || {
                while let Some((at, (file, apex))) = {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    zones.get(at).map(|zone| (at, zone))
                } {
                    // The receiver takes all of them.
                    let _ = loaded.send((at, load(file, apex.view(), limits, key)));
                }
            });
        }
        drop(loaded);
        loop {
            match outcomes.recv_timeout(TICK) {
                Ok(outcome) => each(Some(outcome)),
                Err(RecvTimeoutError::Timeout) => each(None),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    });
}

/// Faults with which a zone is served.
pub(super) fn faults(zone: &Zone, key: &Key) -> Vec<String> {
    // Times of signatures are numbers on a circle.
    let mut faults = zone.inspect(unix_seconds() as u32, &mut Hash::new(key)).lines();
    let digest = match zonemd::verify(zone) {
        Zonemd::Differs { is_altered: false } => "the zone differs from its digest",
        Zonemd::Serial { .. } => "the digest is of another serial number",
        Zonemd::Repeated => "two digests of one kind, which verify nothing",
        _ => return faults,
    };
    faults.push(format!("ZONEMD: {digest} (RFC 8976); make the digest anew after each change"));
    faults
}

fn load(file: &Path, apex: Name<'_>, limits: &ZoneFiles, key: &Key) -> Outcome {
    let begun = (Instant::now(), SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default());
    // Before the file is read, so that a change during the load shows at the next reload.
    let own = Stamp::of(file);
    let (included, paths) = channel();
    let ZoneFiles { max_bytes, max_generated } = *limits;
    let options = Options { included: Some(included), max_bytes, max_generated, ..Options::default() };
    let result = hashlane_zone_file::zone(file, Some(apex), &options, key).map_err(|error| error.to_string());
    drop(options);
    let warnings = result.as_ref().map(|zone| faults(zone, key)).unwrap_or_default();
    // A file that was included is known only now. One that has changed since the load began is read again at
    // the next reload.
    let began = (begun.1.as_secs() as i64, i64::from(begun.1.subsec_nanos()));
    let stamp = |path: &Path| Stamp::of(path).filter(|stamp| stamp.changed < began);
    let mut stamps = vec![(file.to_owned(), own)];
    stamps.extend(paths.into_iter().map(|path| (path.clone(), stamp(&path))));
    Outcome { result, warnings, took_ms: begun.0.elapsed().as_millis() as u64, stamps }
}
