//! Commands that wait for a certificate, within shares of their senders.

use super::{Key, Progress};
use crate::management::origin::Origin;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_table::share::Owner;
use std::collections::{BTreeMap, HashMap};

/// Most commands that wait.
pub(in crate::management) const MAX_COMMANDS: usize = 512;
/// Most of them from other hosts. The rest is a reserve for users of this host.
pub(in crate::management) const MAX_REMOTE: usize = 384;
/// Most of them from one user or address.
pub(in crate::management) const MAX_OF_ONE: usize = 32;

/// A command that waits.
#[derive(Debug)]
pub(in crate::management) struct Deferred {
    /// The Interest.
    pub(in crate::management) packet: Vec<u8>,
    /// Name of the Interest.
    pub(in crate::management) name: OwnedName<Ndn>,
    pub(in crate::management) from: Origin,
    /// Key whose certificate it waits for.
    pub(in crate::management) key: Key,
    /// Text of the refusal if no certificate comes.
    pub(in crate::management) why: String,
    pub(in crate::management) progress: Progress,
}

/// Commands that wait, oldest first.
#[derive(Debug, Default)]
pub(in crate::management) struct Commands {
    waiting: BTreeMap<u64, Deferred>,
    next: u64,
}

impl Commands {
    /// True if a copy of a command waits: a retransmission of its sender.
    pub(in crate::management) fn has(&self, name: NdnName<'_>, face: u64) -> bool {
        self.waiting.values().any(|waiting| waiting.from.face == face && waiting.name.view() == name)
    }

    /// True if a party has as many commands that wait as it may have.
    pub(in crate::management) fn is_share_full(&self, owner: Option<Owner>) -> bool {
        owner.is_some()
            && self.waiting.values().filter(|other| other.from.peer.owner() == owner).count() >= MAX_OF_ONE
    }

    /// Adds a command. If too many wait, the party with most of them loses its oldest one, which is returned.
    pub(in crate::management) fn add(&mut self, command: Deferred) -> Option<Deferred> {
        let is_remote = |command: &Deferred| command.from.peer.owner().is_some_and(Owner::is_remote);
        let remote = self.waiting.values().filter(|other| is_remote(other)).count();
        let displaced = if is_remote(&command) && remote >= MAX_REMOTE {
            self.displace(is_remote)
        } else if self.waiting.len() >= MAX_COMMANDS {
            self.displace(|_| true)
        } else {
            None
        };
        self.waiting.insert(self.next, command);
        self.next += 1;
        displaced
    }

    /// Takes the oldest command of the party with most, of those that `may` be taken.
    fn displace(&mut self, may: impl Fn(&Deferred) -> bool) -> Option<Deferred> {
        let mut counts = HashMap::<Owner, (usize, u64)>::new();
        for (number, command) in self.waiting.iter().filter(|(_, command)| may(command)) {
            let Some(owner) = command.from.peer.owner() else { continue };
            counts.entry(owner).or_insert((0, *number)).0 += 1;
        }
        // Of parties with equally many, the one that has waited for the longest time.
        let (_, oldest) = counts.into_values().max_by_key(|(count, oldest)| (*count, u64::MAX - oldest))?;
        self.waiting.remove(&oldest)
    }

    /// Takes the commands that wait for a key, oldest first.
    pub(in crate::management) fn take(&mut self, key: &Key) -> Vec<Deferred> {
        self.take_if(|command| command.key == *key)
    }

    /// Takes the commands whose time is over.
    pub(in crate::management) fn expire(&mut self, now: u64) -> Vec<Deferred> {
        self.take_if(|command| command.progress.deadline <= now)
    }

    /// Removes the commands of a closed face.
    pub(in crate::management) fn close_face(&mut self, face: u64) {
        self.waiting.retain(|_, command| command.from.face != face);
    }

    /// Drops the certificates fetched for commands. With the next one they need them again.
    pub(in crate::management) fn forget(&mut self) {
        self.waiting.values_mut().for_each(|command| command.progress.fetched.clear());
    }

    fn take_if(&mut self, is_taken: impl Fn(&Deferred) -> bool) -> Vec<Deferred> {
        let taken = self.waiting.iter().filter(|(_, command)| is_taken(command)).map(|(number, _)| *number);
        let taken: Vec<_> = taken.collect();
        taken.into_iter().filter_map(|number| self.waiting.remove(&number)).collect()
    }

    /// Time at which the first command's time is over.
    pub(in crate::management) fn next_due(&self) -> Option<u64> {
        self.waiting.values().map(|command| command.progress.deadline).min()
    }

    /// Number of commands.
    pub(in crate::management) fn len(&self) -> usize {
        self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::management::origin::{Over, Peer};
    use hashlane_ndn::mgmt::values::FaceScope;
    use std::net::{IpAddr, Ipv4Addr};

    fn command(number: u32, peer: Peer, key: &[u8]) -> Deferred {
        let uri = format!("/localhop/nfd/rib/register/{number}");
        Deferred {
            packet: Vec::new(),
            name: hashlane_name::uri::parse_uri(uri.as_bytes()).expect("a name"),
            from: Origin { face: u64::from(number), scope: FaceScope::NonLocal, peer },
            key: key.into(),
            why: String::new(),
            progress: Progress { deadline: u64::from(number), ..Progress::default() },
        }
    }

    fn address(number: u32) -> Peer {
        Peer::Ip(IpAddr::V4(Ipv4Addr::from(number)))
    }

    #[test]
    fn commands_of_one_address_have_a_share() {
        let mut commands = Commands::default();
        for number in 0..MAX_OF_ONE as u32 {
            assert!(!commands.is_share_full(address(1).owner()));
            assert!(commands.add(command(number, address(1), b"k")).is_none());
        }
        assert!(commands.is_share_full(address(1).owner()) && !commands.is_share_full(address(2).owner()));
        assert!(commands.has(command(3, address(1), b"k").name.view(), 3));
        assert!(!commands.has(command(3, address(1), b"k").name.view(), 4));
    }

    #[test]
    fn the_largest_party_makes_room_and_users_of_this_host_have_a_reserve() {
        let mut commands = Commands::default();
        for number in 0..MAX_REMOTE as u32 {
            assert!(commands.add(command(number, address(number / 32), b"k")).is_none());
        }
        let displaced = commands.add(command(1000, address(1000), b"k")).expect("displaced");
        assert_eq!(displaced.from.face, 0, "the oldest of the party that is the first of the largest");
        for number in 2000..2000 + (MAX_COMMANDS - MAX_REMOTE) as u32 {
            let user = Peer::User { uid: number, over: Over::Unix };
            assert!(commands.add(command(number, user, b"k")).is_none());
        }
        assert_eq!(commands.len(), MAX_COMMANDS);
        assert!(commands.add(command(3000, Peer::User { uid: 1, over: Over::Unix }, b"k")).is_some());
        assert_eq!(commands.len(), MAX_COMMANDS);
    }

    #[test]
    fn commands_leave_in_the_order_in_which_they_came() {
        let mut commands = Commands::default();
        for number in [5, 1, 3, 2] {
            let key: &[u8] = if number == 3 { b"other" } else { b"k" };
            assert!(commands.add(command(number, address(1), key)).is_none());
        }
        let faces = |taken: Vec<Deferred>| taken.iter().map(|command| command.from.face).collect::<Vec<_>>();
        assert_eq!((commands.next_due(), faces(commands.expire(1))), (Some(1), vec![1]));
        assert_eq!(faces(commands.take(&b"k"[..].into())), [5, 2]);
        commands.close_face(3);
        assert_eq!(commands.len(), 0);
    }
}
