//! Default paths of a service's socket: one list for the service and its clients.

use super::is_open;
use nix::unistd::Uid;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// A path for a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SocketPath {
    path: PathBuf,
    /// True if every user may create folders beside the socket's.
    is_shared: bool,
}

/// Paths at which clients look for the socket of a service, in order. A service of the user of this process
/// listens at the first one.
///
/// - root: `/run/SERVICE/SERVICE.sock`, `/run/SERVICE.sock`, `/var/run/SERVICE/SERVICE.sock`,
///   `/var/run/SERVICE.sock`.
/// - others: `$XDG_RUNTIME_DIR/SERVICE/SERVICE.sock` if the variable is set, `SERVICE-UID/SERVICE.sock` in
///   the temporary folder, and then root's paths.
pub fn places(service: &str) -> Vec<PathBuf> {
    of_this_user(service).into_iter().map(|place| place.path).collect()
}

/// The first of the [`places`] that has a socket; the first place if none has one.
///
/// A socket does not count if its folder lets other users replace it: if they can write there, and the folder
/// is not sticky. Every user can create a folder of any name in the temporary folder: a socket there counts
/// only if its folder belongs to this user or to root, is not a link, and is writable for no one else.
pub fn find(service: &str) -> PathBuf {
    let places = of_this_user(service);
    let uid = Uid::effective().as_raw();
    let found = places.iter().find(|place| has_socket(place, uid)).or(places.first());
    debug_assert!(found.is_some(), "root's paths are always in the list");
    found.map_or_else(PathBuf::new, |place| place.path.clone())
}

fn of_this_user(service: &str) -> Vec<SocketPath> {
    let run_time = std::env::var_os("XDG_RUNTIME_DIR").filter(|folder| !folder.is_empty());
    of_user(service, Uid::effective().as_raw(), run_time.map(PathBuf::from), &std::env::temp_dir())
}

fn of_user(service: &str, uid: u32, run_time: Option<PathBuf>, temporary: &Path) -> Vec<SocketPath> {
    let file = format!("{service}.sock");
    let own = |path| SocketPath { path, is_shared: false };
    let mut places = Vec::new();
    if uid != 0 {
        places.extend(run_time.map(|folder| own(folder.join(service).join(&file))));
        let path = temporary.join(format!("{service}-{uid}")).join(&file);
        places.push(SocketPath { path, is_shared: true });
    }
    for folder in ["/run", "/var/run"].map(Path::new) {
        places.extend([folder.join(service).join(&file), folder.join(&file)].map(own));
    }
    places
}

fn has_socket(place: &SocketPath, uid: u32) -> bool {
    let is_socket = fs::metadata(&place.path).is_ok_and(|found| found.file_type().is_socket());
    let is_closed = |folder: &Path| match place.is_shared {
        true => is_safe(folder, uid),
        // Of root's folders: one in them may belong to the user of the service.
        false => fs::metadata(folder).is_ok_and(|found| !is_open(&found)),
    };
    is_socket && place.path.parent().is_some_and(is_closed)
}

/// True if only `uid` and root can create files in a folder.
fn is_safe(folder: &Path, uid: u32) -> bool {
    fs::symlink_metadata(folder)
        .is_ok_and(|found| found.is_dir() && [0, uid].contains(&found.uid()) && found.mode() & 0o022 == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;

    #[test]
    fn a_user_looks_at_its_own_places_before_those_of_root() {
        let paths = |uid, run_time: Option<&str>| {
            let places = of_user("nfd", uid, run_time.map(PathBuf::from), Path::new("/tmp"));
            places
                .into_iter()
                .map(|place| (place.path.display().to_string(), place.is_shared))
                .collect::<Vec<_>>()
        };
        let of_root = ["/run/nfd/nfd.sock", "/run/nfd.sock", "/var/run/nfd/nfd.sock", "/var/run/nfd.sock"];
        let of_root = of_root.map(|path| (path.to_owned(), false));
        assert_eq!(paths(0, Some("/run/user/0")), of_root);
        let own = [("/run/user/7/nfd/nfd.sock".into(), false), ("/tmp/nfd-7/nfd.sock".into(), true)];
        assert_eq!(paths(7, Some("/run/user/7")), [&own[..], &of_root].concat());
        assert_eq!(paths(7, None), [&own[1..], &of_root].concat());
    }

    #[test]
    fn a_socket_that_another_may_have_put_there_does_not_count() {
        let top = tempfile::tempdir().expect("a folder");
        let folder = top.path().join("nfd-7");
        fs::create_dir(&folder).expect("a folder");
        let uid = Uid::effective().as_raw();
        let place = |folder: &Path, is_shared| SocketPath { path: folder.join("nfd.sock"), is_shared };
        let set = |mode| fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).expect("a mode");
        set(0o755);
        assert!(!has_socket(&place(&folder, true), uid), "nothing is there");
        fs::write(folder.join("nfd.sock"), b"").expect("a file");
        assert!(!has_socket(&place(&folder, true), uid), "what is there is no socket");
        fs::remove_file(folder.join("nfd.sock")).expect("a file that is there");
        let _listener = UnixListener::bind(folder.join("nfd.sock")).expect("a socket");
        let counts = |is_shared| has_socket(&place(&folder, is_shared), uid);
        assert!(counts(true) && counts(false));
        for (mode, own) in [(0o777, false), (0o775, false), (0o1777, true), (0o757, false)] {
            set(mode);
            assert_eq!([counts(true), counts(false)], [false, own], "{mode:o}");
        }
        set(0o700);
        assert!(counts(true));
        // The folder is another's: nobody has this number.
        if uid != 0 {
            assert!(!has_socket(&place(&folder, true), u32::MAX - 1));
        }
        let link = top.path().join("nfd-8");
        symlink(&folder, &link).expect("a link");
        assert!(!has_socket(&place(&link, true), uid), "where a link leads may change");
    }
}
