//! Network namespaces, links between them, and loss on links.

use crate::run;
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::Command;

/// Makes a network namespace with a loopback interface.
///
/// # Errors
/// Names the command that failed.
pub(super) fn add(name: &str) -> Result<(), String> {
    ip(&["netns", "add", name])?;
    ip(&["-n", name, "link", "set", "lo", "up"])
}

/// Removes a network namespace. Its links go with it.
pub(super) fn remove(name: &str) {
    // Fails if it was never made.
    let _ = ip(&["netns", "delete", name]);
}

/// A link between two namespaces.
#[derive(Clone, Debug)]
pub(super) struct Link {
    /// Namespace and address of each end.
    pub(super) ends: [(String, Ipv4Addr); 2],
    /// Name of the interface at both ends.
    pub(super) interface: String,
    number: u16,
}

impl Link {
    /// Connects two namespaces by the link with this number, which no other link has.
    ///
    /// # Errors
    /// Names the command that failed.
    pub(super) fn new(number: u16, names: [&str; 2]) -> Result<Self, String> {
        let interface = format!("l{number}");
        let [left, right] = names;
        let [left_mac, right_mac] = macs(number);
        ip(&[
            &["link", "add", "name", &interface, "address", &left_mac, "netns", left, "type", "veth"][..],
            &["peer", "name", &interface, "address", &right_mac, "netns", right],
        ]
        .concat())?;
        let addresses = [address_of(number, 0), address_of(number, 1)];
        for (name, address) in names.iter().zip(addresses) {
            ip(&["-n", name, "address", "add", &format!("{address}/30"), "dev", &interface])?;
            // Each datagram is a separate packet, as on a wire: else a lost packet is a batch of them.
            ip(&["-n", name, "link", "set", &interface, "gso_max_segs", "1", "up"])?;
        }
        let ends = [(left.to_owned(), addresses[0]), (right.to_owned(), addresses[1])];
        Ok(Self { ends, interface, number })
    }

    /// Ethernet addresses of the ends.
    pub(super) fn macs(&self) -> [String; 2] {
        macs(self.number)
    }
}

/// Way to lose packets on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    /// The queueing discipline of the sender.
    Netem,
    /// Random numbers in a packet filter of the receiver.
    Nft,
}

impl Loss {
    /// The way that this kernel has, found out on a link.
    ///
    /// # Errors
    /// It has none.
    pub(super) fn find(link: &Link) -> Result<Self, String> {
        let try_out = |way: Self| way.set(link, 5).and(way.set(link, 0)).map(|()| way);
        try_out(Self::Netem).or_else(|netem| {
            try_out(Self::Nft).map_err(|nft| format!("no way to lose packets: {netem}; {nft}"))
        })
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Netem => "netem",
            Self::Nft => "a packet filter (nft, numgen random)",
        }
    }

    /// Drops this share of the UDP datagrams of a link, in thousandths, in both directions, at random.
    ///
    /// # Errors
    /// Names the command that failed.
    pub(super) fn set(self, link: &Link, thousandths: u32) -> Result<(), String> {
        for (name, _) in &link.ends {
            match self {
                Self::Netem => {
                    let loss = format!("{}.{}%", thousandths / 10, thousandths % 10);
                    let words = ["-n", name, "qdisc", "replace", "dev", &link.interface, "root", "netem"];
                    succeed("tc", run::command(&["tc"]).args(words).args(["loss", &loss]))?;
                }
                Self::Nft => {
                    let interface = &link.interface;
                    let rules = format!(
                        "table inet testbed\ndelete table inet testbed\ntable inet testbed {{\nchain lose {{\ntype \
                         filter hook input priority 0\niifname {interface:?} meta l4proto udp numgen random mod 1000 \
                         < {thousandths} drop\n}}\n}}\n"
                    );
                    succeed("nft", inside(name, Path::new("nft")).arg(rules))?;
                }
            }
        }
        Ok(())
    }
}

/// Locally administered Ethernet addresses of the ends of a link.
fn macs(number: u16) -> [String; 2] {
    let [high, low] = number.to_be_bytes();
    [1, 2].map(|end| format!("02:00:00:{high:02x}:{low:02x}:{end:02x}"))
}

/// Address of an end of a link, in a /30 network below 10.0.0.0/8.
fn address_of(number: u16, end: u8) -> Ipv4Addr {
    let base = u32::from(Ipv4Addr::new(10, 0, 0, 0)) + u32::from(number) * 4;
    Ipv4Addr::from(base + 1 + u32::from(end))
}

/// A command in a namespace. Its process ID is the program's.
pub(super) fn inside(name: &str, program: &Path) -> Command {
    let mut command = run::command(&["nsenter"]);
    command.arg(format!("--net=/run/netns/{name}")).arg(program);
    command
}

/// Runs `ip`.
pub(super) fn ip(words: &[&str]) -> Result<(), String> {
    succeed(&format!("ip {}", words.join(" ")), run::command(&["ip"]).args(words))
}

fn succeed(name: &str, command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("`{name}`: {}", String::from_utf8_lossy(&output.stderr).trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_have_networks_of_their_own() {
        assert_eq!(address_of(0, 0), Ipv4Addr::new(10, 0, 0, 1));
        assert_eq!(address_of(0, 1), Ipv4Addr::new(10, 0, 0, 2));
        assert_eq!(address_of(64, 1), Ipv4Addr::new(10, 0, 1, 2));
    }
}
