//! Users of this host, and the groups that they are in.
//!
//! Names are looked up in the system's databases (`/etc/passwd`, `/etc/group`, and the other sources of its
//! name service) when a user gives a command, so that a change there counts without a restart. The result is
//! kept for [`KEPT`].

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::HashMap;
use std::ffi::CString;
use std::path::PathBuf;

/// Time for which the rights of a user are kept, in milliseconds.
const KEPT: u64 = 2000;
/// Most users whose rights are kept.
const MAX_KEPT: usize = 1024;

/// A user or a group of the configuration: a number, or a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Account {
    /// Its number.
    Id(u32),
    /// Its name.
    Name(String),
}

impl<'de> Deserialize<'de> for Account {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Given {
            Id(u32),
            Name(String),
        }
        match Given::deserialize(from) {
            Ok(Given::Id(id)) => Ok(Self::Id(id)),
            Ok(Given::Name(name)) => Ok(Self::Name(name)),
            Err(_) => {
                Err(D::Error::custom("a user or group is a name, such as \"ndn\", or a number, such as 1000"))
            }
        }
    }
}

/// Rights of users of this host and of neighbours.
#[derive(Clone, Debug)]
pub struct Access {
    /// The user that the forwarder runs as.
    pub own_uid: u32,
    /// Users that may give every command, beside root and the forwarder's own.
    pub users: Vec<Account>,
    /// Groups whose members may give every command.
    pub groups: Vec<Account>,
    /// Unix sockets of the forwarder: a user who may connect to one of them may register prefixes over the
    /// loopback, too.
    pub sockets: Vec<PathBuf>,
    /// True if `/localhop/nfd/rib` accepts commands of neighbours with a trusted key.
    pub localhop: bool,
    /// True if every user who may connect to a Unix socket may register prefixes of the user's face.
    pub own_faces: bool,
    /// Commands for which no signature is verified.
    pub open: Open,
}

/// Commands for which no signature is verified.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Open {
    /// True for registrations by every user of this host.
    pub localhost: bool,
    /// True for registrations by every neighbour, if `/localhop` is enabled.
    pub localhop: bool,
    /// Modules whose commands every user of this host may give.
    pub modules: Vec<String>,
}

impl Default for Access {
    /// Root may give every command, and users may register prefixes of their own faces.
    fn default() -> Self {
        Self {
            own_uid: 0,
            users: Vec::new(),
            groups: Vec::new(),
            sockets: Vec::new(),
            localhop: false,
            own_faces: true,
            open: Open::default(),
        }
    }
}

/// The system's databases of users and groups.
pub trait Accounts: Send {
    /// Number of the user of this name.
    fn user(&self, name: &str) -> Option<u32>;

    /// Number of the group of this name.
    fn group(&self, name: &str) -> Option<u32>;

    /// Groups that a user is in, its primary group included.
    fn groups(&self, uid: u32) -> Vec<u32>;
}

/// The databases of this host. A database that cannot be read knows no names.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemAccounts;

impl Accounts for SystemAccounts {
    fn user(&self, name: &str) -> Option<u32> {
        nix::unistd::User::from_name(name).ok().flatten().map(|user| user.uid.as_raw())
    }

    fn group(&self, name: &str) -> Option<u32> {
        nix::unistd::Group::from_name(name).ok().flatten().map(|group| group.gid.as_raw())
    }

    fn groups(&self, uid: u32) -> Vec<u32> {
        let Ok(Some(user)) = nix::unistd::User::from_uid(uid.into()) else { return Vec::new() };
        let groups = CString::new(user.name).ok().map(|name| nix::unistd::getgrouplist(&name, user.gid));
        groups.and_then(Result::ok).unwrap_or_default().into_iter().map(nix::unistd::Gid::as_raw).collect()
    }
}

/// Rights of a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rights {
    /// True if the user may give every command.
    pub(super) commands: bool,
    /// True if the user may connect to a Unix socket of the forwarder.
    pub(super) connects: bool,
}

/// Rights of users, from the last look-up.
pub(super) struct Users {
    accounts: Box<dyn Accounts>,
    known: HashMap<u32, (u64, Rights)>,
}

impl Users {
    pub(super) fn new(accounts: Box<dyn Accounts>) -> Self {
        Self { accounts, known: HashMap::new() }
    }

    /// Forgets all rights, so that the next command looks them up.
    pub(super) fn forget(&mut self) {
        self.known.clear();
    }

    /// Rights of a user; `now` is in milliseconds of a clock that never goes back.
    pub(super) fn rights(&mut self, uid: u32, access: &Access, now: u64) -> Rights {
        let kept = self.known.get(&uid).filter(|(until, _)| now < *until);
        if let Some((_, rights)) = kept {
            return *rights;
        }
        let rights = self.find(uid, access);
        if self.known.len() >= MAX_KEPT {
            self.known.clear();
        }
        self.known.insert(uid, (now.saturating_add(KEPT), rights));
        rights
    }

    fn find(&self, uid: u32, access: &Access) -> Rights {
        let mut groups = None;
        let mut is_member = |gid| groups.get_or_insert_with(|| self.accounts.groups(uid)).contains(&gid);
        let is_user = |account: &Account| match account {
            Account::Id(id) => *id == uid,
            Account::Name(name) => self.accounts.user(name) == Some(uid),
        };
        let mut is_in_group = |account: &Account| match account {
            Account::Id(id) => is_member(*id),
            Account::Name(name) => self.accounts.group(name).is_some_and(&mut is_member),
        };
        let commands = uid == 0
            || uid == access.own_uid
            || access.users.iter().any(is_user)
            || access.groups.iter().any(&mut is_in_group);
        // A socket whose file is gone lets nobody in.
        let mut connects =
            |path| hashlane_link::unix::may_connect(path, uid, &mut is_member).unwrap_or(false);
        let connects = access.sockets.iter().any(|path| connects(path));
        Rights { commands, connects }
    }

    /// Names of the configuration that no user or group has.
    pub(super) fn unknown<'a>(&self, access: &'a Access) -> Vec<&'a str> {
        let name = |account: &'a Account| match account {
            Account::Id(_) => None,
            Account::Name(name) => Some(name.as_str()),
        };
        let users = access.users.iter().filter_map(name).filter(|name| self.accounts.user(name).is_none());
        let groups = access.groups.iter().filter_map(name).filter(|name| self.accounts.group(name).is_none());
        users.chain(groups).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::sync::{Arc, Mutex};

    /// Users by name, and groups by name with their members.
    #[derive(Clone, Default)]
    struct Fake(Arc<Mutex<Tables>>);

    #[derive(Default)]
    struct Tables {
        users: BTreeMap<String, u32>,
        groups: BTreeMap<String, (u32, Vec<u32>)>,
        lookups: usize,
    }

    impl Accounts for Fake {
        fn user(&self, name: &str) -> Option<u32> {
            self.0.lock().unwrap().users.get(name).copied()
        }

        fn group(&self, name: &str) -> Option<u32> {
            self.0.lock().unwrap().groups.get(name).map(|group| group.0)
        }

        fn groups(&self, uid: u32) -> Vec<u32> {
            let mut tables = self.0.lock().unwrap();
            tables.lookups += 1;
            tables.groups.values().filter(|group| group.1.contains(&uid)).map(|group| group.0).collect()
        }
    }

    fn names(names: &[&str]) -> Vec<Account> {
        names.iter().map(|name| Account::Name((*name).into())).collect()
    }

    #[test]
    fn users_command_by_number_by_name_and_by_group() {
        let fake = Fake::default();
        let mut users = Users::new(Box::new(fake.clone()));
        let access = Access {
            own_uid: 1000,
            users: [vec![Account::Id(1002)], names(&["ann", "missing"])].concat(),
            groups: [vec![Account::Id(50)], names(&["ndn"])].concat(),
            ..Access::default()
        };
        {
            let mut tables = fake.0.lock().unwrap();
            tables.users.insert("ann".into(), 1003);
            tables.groups.insert("ndn".into(), (60, vec![1004]));
            tables.groups.insert("staff".into(), (50, vec![1005]));
            tables.groups.insert("other".into(), (70, vec![1006]));
        }
        let mut commands = |uid, now| users.rights(uid, &access, now).commands;
        let found = [0, 1000, 1001, 1002, 1003, 1004, 1005, 1006].map(|uid| commands(uid, 0));
        assert_eq!(found, [true, true, false, true, true, true, true, false]);
        // A change counts after a moment, in both directions.
        fake.0.lock().unwrap().groups.insert("ndn".into(), (60, vec![1001]));
        let found = [1001, 1004].map(|uid| (commands(uid, KEPT - 1), commands(uid, KEPT)));
        assert_eq!(found, [(false, true), (true, false)]);
        assert_eq!(users.unknown(&access), ["missing"]);
    }

    #[test]
    fn rights_are_found_once_in_a_while_and_for_a_bounded_number_of_users() {
        let fake = Fake::default();
        let mut users = Users::new(Box::new(fake.clone()));
        let access = Access { groups: vec![Account::Id(7)], ..Access::default() };
        for now in 0..KEPT {
            users.rights(1000, &access, now);
        }
        assert_eq!(fake.0.lock().unwrap().lookups, 1);
        for uid in 0..10 * MAX_KEPT as u32 {
            users.rights(uid, &access, 0);
        }
        assert!(users.known.len() <= MAX_KEPT);
    }

    #[test]
    fn the_system_knows_root() {
        assert_eq!(SystemAccounts.user("root"), Some(0));
        assert!(SystemAccounts.groups(0).contains(&0));
        assert_eq!(
            (SystemAccounts.user("no such user"), SystemAccounts.groups(4_000_000_000)),
            (None, vec![])
        );
    }
}
