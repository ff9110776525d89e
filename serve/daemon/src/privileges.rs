//! The user that a server runs as, once its sockets are bound.

use nix::unistd::{Gid, Group, Uid, User, setgid, setgroups, setuid};
use std::ffi::CString;
use std::io;

/// User and group to run as: the keys `server.user` and `server.group` of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    uid: Uid,
    gid: Gid,
    /// Supplementary groups of the user.
    groups: Vec<Gid>,
}

impl Account {
    /// The account that a configuration names; `None` if it names no user: the process keeps its own.
    ///
    /// # Errors
    /// This system has no such user or group; there is a group without a user.
    pub fn of(user: &str, group: &str) -> io::Result<Option<Self>> {
        match (user, group) {
            ("", "") => Ok(None),
            ("", _) => {
                let why = "`server.group` needs `server.user`; name the user, too";
                Err(io::Error::new(io::ErrorKind::InvalidInput, why))
            }
            _ => Self::named(user, group).map(Some),
        }
    }

    /// The account of a user and a group, by names or numbers; an empty group stands for the user's.
    ///
    /// # Errors
    /// This system has no such user or group.
    pub fn named(user: &str, group: &str) -> io::Result<Self> {
        let invalid = |why: String| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        let found = match user.parse() {
            Ok(number) => User::from_uid(Uid::from_raw(number))?,
            Err(_) => User::from_name(user)?,
        };
        let Some(found) = found else {
            return invalid(format!(
                "user {user:?}: this system has no such user; name another one in `server.user` or by --user"
            ));
        };
        let gid = match (group, group.parse()) {
            ("", _) => found.gid,
            (_, Ok(number)) => Gid::from_raw(number),
            (name, Err(_)) => match Group::from_name(name)? {
                Some(group) => group.gid,
                None => {
                    return invalid(format!(
                        "`server.group` is {name:?}, but this system has no such group; name another one"
                    ));
                }
            },
        };
        let groups = match CString::new(found.name) {
            Ok(name) => nix::unistd::getgrouplist(&name, gid)?,
            Err(_) => vec![gid],
        };
        Ok(Self { uid: found.uid, gid, groups })
    }

    /// The user.
    pub fn uid(&self) -> Uid {
        self.uid
    }

    /// The group.
    pub fn gid(&self) -> Gid {
        self.gid
    }

    /// Becomes this user for good, in all threads of the process.
    ///
    /// # Errors
    /// The process has no right to change its user, or could take its privileges back.
    pub fn assume(&self) -> io::Result<()> {
        if (Uid::current(), Uid::effective(), Gid::current()) == (self.uid, self.uid, self.gid) {
            return Ok(());
        }
        let cannot = |error: nix::Error| {
            let why = format!(
                "cannot run as user {} and group {}: {}; start as root, or as that user",
                self.uid,
                self.gid,
                error.desc()
            );
            io::Error::new(io::ErrorKind::PermissionDenied, why)
        };
        setgroups(&self.groups).map_err(cannot)?;
        setgid(self.gid).map_err(cannot)?;
        setuid(self.uid).map_err(cannot)?;
        if !self.uid.is_root() && setuid(Uid::from_raw(0)).is_ok() {
            return Err(io::Error::other("the kernel lets the server become root again; it does not go on"));
        }
        Ok(())
    }

    /// Gives a file or a folder to this account.
    ///
    /// # Errors
    /// The process may not.
    pub fn own(&self, path: &std::path::Path) -> io::Result<()> {
        std::os::unix::fs::chown(path, Some(self.uid.as_raw()), Some(self.gid.as_raw()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_and_groups_are_names_or_numbers() {
        let account = |user, group| Account::of(user, group).map_err(|error| error.to_string());
        let root = account("root", "").unwrap().unwrap();
        assert!(root.uid().is_root() && root.gid().as_raw() == 0);
        assert_eq!(account("0", "").unwrap(), Some(root));
        assert_eq!(account("root", "12345").unwrap().unwrap().gid().as_raw(), 12345);
        assert_eq!(account("", ""), Ok(None));
        assert!(
            account("no-such-user", "")
                .unwrap_err()
                .contains("no such user; name another one in `server.user` or by --user")
        );
        assert!(account("root", "no-such-group").unwrap_err().contains("no such group"));
        assert!(account("", "root").unwrap_err().contains("needs `server.user`"));
    }
}
