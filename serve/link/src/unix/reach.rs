//! Permissions that a connection to a socket file needs.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Permission to connect to a socket (write), and to pass through a directory (search), as bits of a mode.
const WRITE: u32 = 0o2;
const SEARCH: u32 = 0o1;

/// Returns true if the modes of a socket file and of the directories above it let a user connect.
///
/// `is_member` returns true if the user is in a group. Access control lists are not read: on a file with one,
/// the bits of the group are its mask, and count as the owning group's.
///
/// # Errors
/// The file or a directory above it does not exist, or cannot be read.
pub fn may_connect(path: &Path, uid: u32, mut is_member: impl FnMut(u32) -> bool) -> io::Result<bool> {
    // Links are resolved: the permissions of a link's directory count, and its target's permissions.
    let resolved = fs::canonicalize(path)?;
    if !allows(&fs::metadata(&resolved)?, uid, WRITE, &mut is_member) {
        return Ok(false);
    }
    let given = std::path::absolute(path)?;
    for directory in resolved.ancestors().skip(1).chain(given.ancestors().skip(1)) {
        if !allows(&fs::metadata(directory)?, uid, SEARCH, &mut is_member) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns true if the mode of a file gives a user a permission. The first class that the user is in decides:
/// owner, group, others.
fn allows(file: &Metadata, uid: u32, wanted: u32, is_member: &mut impl FnMut(u32) -> bool) -> bool {
    let mode = file.mode();
    let [owner, group, others] = [6, 3, 0].map(|shift| mode >> shift & wanted == wanted);
    if uid == 0 {
        true
    } else if uid == file.uid() {
        owner
    } else if group == others || !is_member(file.gid()) {
        others
    } else {
        group
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unix::Listener;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn modes_of_the_socket_and_its_directories_decide() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.sock");
        let listener = Listener::bind(&path, 0o666).unwrap();
        let own = fs::metadata(&path).unwrap();
        let (owner, other) = (own.uid(), own.uid() + 4711);
        let mode = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        // Bits of the folder and of the socket; whether its owner, a member of its group, and another may
        // connect.
        for (directory, socket, expected) in [
            (0o755, 0o666, [true, true, true]),
            (0o755, 0o660, [true, true, false]),
            (0o755, 0o606, [true, false, true]),
            (0o755, 0o600, [true, false, false]),
            (0o755, 0o644, [true, false, false]),
            (0o750, 0o666, [true, true, false]),
            (0o700, 0o666, [true, false, false]),
            (0o744, 0o666, [true, false, false]),
        ] {
            mode(folder.path(), directory);
            mode(&path, socket);
            let may = |uid, in_group| may_connect(&path, uid, |gid| in_group && gid == own.gid()).unwrap();
            let found = [may(owner, false), may(other, true), may(other, false)];
            assert_eq!(found, expected, "{directory:o} {socket:o}");
            assert!(may(0, false), "root");
        }
        drop(listener);
        assert!(may_connect(&path, owner, |_| false).is_err());
    }
}
