//! Links that a configuration has on interfaces, and the ends of their faces.

use crate::config::{Ether as EtherConfig, Faces as FaceConfig};
use hashlane_link::interfaces::Interface;
use hashlane_ndn::mgmt::FaceUri;
use hashlane_ndn::mgmt::face_uri::{Host, Protocol, Version};
use std::net::{IpAddr, SocketAddr};

/// A link that the configuration asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lan {
    pub(super) interface: String,
    /// Number of the interface.
    pub(super) index: u32,
    pub(super) medium: Medium,
}

/// Medium of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Medium {
    /// A multicast group of UDP, and the address of the interface.
    Group { group: SocketAddr, local: IpAddr },
    /// Ethernet, and the address of the interface.
    Ethernet([u8; 6]),
}

impl Lan {
    /// True if this is the same link at another time: its interface may have another number or address.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let medium = match (self.medium, other.medium) {
            (Medium::Group { group: a, .. }, Medium::Group { group: b, .. }) => a == b,
            (Medium::Ethernet(_), Medium::Ethernet(_)) => true,
            _ => false,
        };
        self.interface == other.interface && medium
    }

    /// URI of the Ethernet, on which faces can be created; `None` for a group of UDP.
    pub(in crate::plane) fn channel(&self) -> Option<FaceUri> {
        matches!(self.medium, Medium::Ethernet(_)).then(|| FaceUri::Dev(self.interface.clone()))
    }

    /// URIs of the remote and the local end of the face of the group.
    pub(super) fn uris(&self, ether: &EtherConfig) -> (FaceUri, FaceUri) {
        match self.medium {
            Medium::Ethernet(_) => (FaceUri::Ether(ether.group.0), FaceUri::Dev(self.interface.clone())),
            Medium::Group { group, local } => {
                let uri = |address: IpAddr| FaceUri::Ip {
                    protocol: Protocol::Udp,
                    version: Some(Version::of(address)),
                    host: match address {
                        IpAddr::V6(address) if is_of_one_link(address.into()) => {
                            Host::LinkLocal(address, self.interface.clone())
                        }
                        address => Host::Address(address),
                    },
                    port: Some(group.port()),
                };
                (uri(group.ip()), uri(local))
            }
        }
    }
}

/// True for an IPv6 address that needs the name of its interface.
fn is_of_one_link(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(_) => false,
        IpAddr::V6(address) => {
            let [first, second, ..] = address.octets();
            address.is_unicast_link_local() || first == 0xff && matches!(second & 15, 1 | 2)
        }
    }
}

/// The links of the interfaces that are up, in the order of their names.
pub(super) fn plan(config: &FaceConfig, interfaces: &[Interface]) -> Vec<Lan> {
    let FaceConfig { udp_multicast, ether, .. } = config;
    let mut all = Vec::new();
    for interface in interfaces.iter().filter(|all| all.is_running && !all.is_loopback) {
        let mut add =
            |medium| all.push(Lan { interface: interface.name.clone(), index: interface.index, medium });
        if let Some(address) = interface.ethernet.filter(|_| ether.matches(interface)) {
            add(Medium::Ethernet(address));
        }
        if interface.is_multicast && udp_multicast.matches(interface) {
            for group in &udp_multicast.groups {
                // A link-local address if there is one: it does not change.
                let own = interface.addresses.iter().filter(|own| own.is_ipv4() == group.is_ipv4());
                if let Some(local) = own.min_by_key(|own| !is_of_one_link(**own)) {
                    add(Medium::Group { group: *group, local: *local });
                }
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::UdpMulticast;

    fn interface(name: &str, index: u32, addresses: &[&str]) -> Interface {
        Interface {
            name: name.into(),
            index,
            is_running: true,
            is_multicast: true,
            ethernet: Some([2, 0, 0, 0, 0, index as u8]),
            addresses: addresses.iter().map(|address| address.parse().unwrap()).collect(),
            ..Interface::default()
        }
    }

    /// The faces of groups that a configuration has on interfaces: remote and local ends.
    fn faces(config: &FaceConfig, interfaces: &[Interface]) -> Vec<[String; 2]> {
        let uris = plan(config, interfaces).iter().map(|lan| lan.uris(&config.ether)).collect::<Vec<_>>();
        uris.iter().map(|(remote, local)| [remote.to_string(), local.to_string()]).collect()
    }

    #[test]
    fn each_interface_that_is_up_has_the_links_that_its_addresses_permit() {
        let rules = |texts: &[&str]| texts.iter().map(|rule| rule.parse().unwrap()).collect::<Vec<_>>();
        let mut config = FaceConfig::default();
        let mut all = vec![
            interface("eth0", 2, &["192.0.2.7", "2001:db8::7", "fe80::7"]),
            interface("eth1", 3, &["192.0.2.8", "192.0.2.9"]),
            interface("eth2", 4, &[]),
        ];
        assert!(faces(&config, &all).is_empty(), "off by default");
        config.udp_multicast = UdpMulticast { interfaces: rules(&["eth*"]), ..UdpMulticast::default() };
        let groups = [
            ["udp4://224.0.23.170:56363", "udp4://192.0.2.7:56363"],
            ["udp6://[ff02::1234%eth0]:56363", "udp6://[fe80::7%eth0]:56363"],
            ["udp4://224.0.23.170:56363", "udp4://192.0.2.8:56363"],
        ];
        assert_eq!(faces(&config, &all), groups);
        config.udp_multicast.except = rules(&["192.0.2.8/32"]);
        config.ether.interfaces = rules(&["eth1", "02:00:00:00:00:04"]);
        let ether = |name| ["ether://[01:00:5e:00:17:aa]", name];
        let mixed = [groups[0], groups[1], ether("dev://eth1"), ether("dev://eth2")];
        assert_eq!(faces(&config, &all), mixed);
        (all[0].is_running, all[1].is_loopback, all[2].ethernet) = (false, true, None);
        assert!(faces(&config, &all).is_empty());
    }

    #[test]
    fn a_link_is_the_same_whatever_number_and_address_its_interface_has() {
        let mut config = FaceConfig::default();
        config.udp_multicast.interfaces = vec!["*".parse().unwrap()];
        config.ether.interfaces = vec!["*".parse().unwrap()];
        let lans = |index, address| plan(&config, &[interface("eth0", index, &[address])]);
        let (before, after) = (lans(2, "192.0.2.7"), lans(9, "192.0.2.8"));
        for (at, lan) in before.iter().enumerate() {
            let same: Vec<_> = (0..after.len()).filter(|other| after[*other].is_same(lan)).collect();
            assert_eq!(same, [at]);
            assert_ne!(after[at], *lan);
        }
        assert!(!plan(&config, &[interface("eth1", 2, &["192.0.2.7"])])[0].is_same(&before[0]));
    }
}
