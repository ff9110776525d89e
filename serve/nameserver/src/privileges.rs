//! The user that the server runs as.

use crate::config::{Config, Server};
use nix::unistd::{Gid, Group, Uid, User, setgid, setgroups, setuid};
use std::ffi::CString;
use std::io;

/// User and group to run as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Account {
    uid: Uid,
    gid: Gid,
    /// Supplementary groups of the user.
    groups: Vec<Gid>,
}

impl Account {
    /// The account of a configuration; `None` if the process keeps its own.
    ///
    /// # Errors
    /// No such user or group; the process runs as root and serves others than this host, and the
    /// configuration does not say as whom to go on.
    pub(crate) fn of(config: &Config) -> io::Result<Option<Self>> {
        let invalid = |why: String| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        let Config { server, metrics, .. } = config;
        if server.user.is_empty() {
            let mut addresses = server.listen.iter().chain(&metrics.listen);
            if Uid::effective().is_root() && addresses.all(|address| address.ip().is_loopback()) {
                tracing::warn!("runs as root, for this host alone; name another user by --user");
            } else if Uid::effective().is_root() {
                return invalid(
                    "started as root: name the user to run as in `server.user` or with --user, such as nobody; \
                     --user root stays root"
                        .to_owned(),
                );
            }
            if !server.group.is_empty() {
                return invalid("`server.group` needs `server.user`; name the user, too".to_owned());
            }
            return Ok(None);
        }
        Self::named(server).map(Some)
    }

    /// Checks the user and the group of a configuration, and returns them if it names them. Another user than
    /// that of this process may start the server with it, so root is only warned.
    ///
    /// # Errors
    /// No such user or group.
    pub(crate) fn check(config: &Config) -> io::Result<Option<Self>> {
        if config.server.user.is_empty() && config.server.group.is_empty() {
            if Uid::effective().is_root() {
                tracing::warn!("root needs to name the user to run as in `server.user` or with --user");
            }
            return Ok(None);
        }
        Self::of(config)
    }

    /// The account of the user that the configuration names.
    fn named(config: &Server) -> io::Result<Self> {
        let invalid = |why: String| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        let found = match config.user.parse() {
            Ok(number) => User::from_uid(Uid::from_raw(number))?,
            Err(_) => User::from_name(&config.user)?,
        };
        let Some(user) = found else {
            return invalid(format!("`server.user` is {:?}, but this system has no such user", config.user));
        };
        let gid = match (&config.group[..], config.group.parse()) {
            ("", _) => user.gid,
            (_, Ok(number)) => Gid::from_raw(number),
            (name, Err(_)) => match Group::from_name(name)? {
                Some(group) => group.gid,
                None => {
                    return invalid(format!("`server.group` is {name:?}, but this system has no such group"));
                }
            },
        };
        let groups = match CString::new(user.name) {
            Ok(name) => nix::unistd::getgrouplist(&name, gid)?,
            Err(_) => vec![gid],
        };
        Ok(Self { uid: user.uid, gid, groups })
    }

    /// The user.
    pub(crate) fn uid(&self) -> Uid {
        self.uid
    }

    /// The group.
    pub(crate) fn gid(&self) -> Gid {
        self.gid
    }

    /// Becomes this user for good, in all threads of the process.
    ///
    /// # Errors
    /// The process has no right to change its user, or could take its privileges back.
    pub(crate) fn assume(&self) -> io::Result<()> {
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
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(user: &str, group: &str) -> Result<Option<Account>, String> {
        let server = Server { user: user.into(), group: group.into(), ..Server::default() };
        Account::of(&Config { server, ..Config::default() }).map_err(|error| error.to_string())
    }

    #[test]
    fn users_and_groups_are_names_or_numbers() {
        let root = account("root", "").unwrap().unwrap();
        assert!(root.uid().is_root() && root.gid().as_raw() == 0);
        assert_eq!(account("0", "").unwrap(), Some(root));
        assert_eq!(account("root", "12345").unwrap().unwrap().gid().as_raw(), 12345);
        assert!(account("no-such-user", "").unwrap_err().contains("no such user"));
        assert!(account("root", "no-such-group").unwrap_err().contains("no such group"));
    }

    #[test]
    fn root_says_as_whom_to_serve_other_hosts() {
        match account("", "") {
            Ok(None) => assert!(!Uid::effective().is_root()),
            Ok(Some(account)) => panic!("{account:?}"),
            Err(error) => {
                assert!(Uid::effective().is_root() && error.contains("--user"), "{error}");
            }
        }
        let listen = vec!["127.0.0.1:53".parse().unwrap(), "[::1]:53".parse().unwrap()];
        assert_eq!(
            Account::of(&Config { server: Server { listen, ..Server::default() }, ..Config::default() })
                .unwrap(),
            None
        );
    }
}
