//! Addresses and networks in the words of other servers.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// An address with or without `@port`.
pub(super) fn address(text: &str) -> Result<(IpAddr, Option<u16>), String> {
    let (address, port) = match text.split_once('@') {
        Some((address, port)) => (address, Some(port)),
        None => (text, None),
    };
    let address = address.parse().map_err(|_| format!("{text:?} is not an address"))?;
    let port = port.map(|port| port.parse().map_err(|_| format!("{port:?} is not a port")));
    Ok((address, port.transpose()?))
}

/// An address of a server that is asked or told, in our form.
pub(super) fn server(text: &str) -> Result<String, String> {
    Ok(match address(text)? {
        (address, None) => address.to_string(),
        (address, Some(port)) => SocketAddr::new(address, port).to_string(),
    })
}

/// A network in our form: `10.0.0.0/8`, `10.0.0.0&255.0.0.0`, `10.0.0.0-10.255.255.255`, or an address.
pub(super) fn network(text: &str) -> Result<String, String> {
    if text.contains('@') {
        return Err(format!("{text:?} has a port, which is not compared; write the address alone"));
    }
    let invalid = || format!("{text:?} is not a network");
    let parse = |text: &str| text.trim().parse::<IpAddr>().map_err(|_| invalid());
    let (first, prefix) = if let Some((address, mask)) = text.split_once('&') {
        (parse(address)?, prefix_of_mask(parse(mask)?).ok_or_else(invalid)?)
    } else if let Some((first, last)) = text.split_once('-') {
        let (first, last) = (parse(first)?, parse(last)?);
        let why = || format!("the range {text:?} is not one network; write it as networks");
        (first, prefix_of_range(first, last).ok_or_else(why)?)
    } else if let Some((address, prefix)) = text.split_once('/') {
        let address = parse(address)?;
        (address, prefix.parse().ok().filter(|prefix| *prefix <= bits(address)).ok_or_else(invalid)?)
    } else {
        let address = parse(text)?;
        (address, bits(address))
    };
    if prefix == bits(first) {
        return Ok(first.to_string());
    }
    Ok(format!("{}/{prefix}", masked(first, prefix)))
}

const fn bits(address: IpAddr) -> u32 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// The bits of an address, left-aligned.
fn left(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(address.to_bits()) << 96,
        IpAddr::V6(address) => address.to_bits(),
    }
}

/// The address with zeros after its first bits.
fn masked(address: IpAddr, prefix: u32) -> IpAddr {
    let mask = u128::MAX.checked_shl(128 - prefix).unwrap_or(0);
    let masked = left(address) & mask;
    match address {
        IpAddr::V4(_) => Ipv4Addr::from_bits((masked >> 96) as u32).into(),
        IpAddr::V6(_) => Ipv6Addr::from_bits(masked).into(),
    }
}

fn prefix_of_mask(mask: IpAddr) -> Option<u32> {
    let (mask, most) = (left(mask), bits(mask));
    let ones = mask.leading_ones();
    (mask.checked_shl(ones).unwrap_or(0) == 0).then_some(ones.min(most))
}

fn prefix_of_range(first: IpAddr, last: IpAddr) -> Option<u32> {
    let prefix = (left(first) ^ left(last)).leading_zeros().min(bits(first));
    let rest = u128::MAX.checked_shr(prefix).unwrap_or(0);
    // The bits beyond an IPv4 address are zero in both.
    let rest = if first.is_ipv4() { rest >> 96 << 96 } else { rest };
    let is_network = left(first) & rest == 0 && left(last) & rest == rest;
    (first.is_ipv4() == last.is_ipv4() && is_network).then_some(prefix)
}

/// A network in our form that is compared with others.
#[derive(Clone, Copy)]
pub(super) struct Network {
    first: IpAddr,
    prefix: u32,
}

impl Network {
    /// The network of a text that [`network`] made.
    pub(super) fn of(text: &str) -> Option<Self> {
        let (address, prefix) = text.split_once('/').map_or((text, None), |(a, prefix)| (a, Some(prefix)));
        let first: IpAddr = address.parse().ok()?;
        let prefix = prefix.map_or(Some(bits(first)), |prefix| prefix.parse().ok())?;
        Some(Self { first, prefix })
    }

    /// True if an address is in both.
    pub(super) fn overlaps(self, other: Self) -> bool {
        let prefix = self.prefix.min(other.prefix);
        self.first.is_ipv4() == other.first.is_ipv4()
            && masked(self.first, prefix) == masked(other.first, prefix)
    }
}

/// Networks of all addresses.
pub(super) const EVERYONE: [&str; 2] = ["0.0.0.0/0", "::/0"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_have_a_length_of_their_prefix() {
        let ok = |text| network(text).unwrap();
        assert_eq!(ok("192.0.2.1"), "192.0.2.1");
        assert_eq!(ok("2001:DB8::1"), "2001:db8::1");
        assert_eq!(ok("10.1.2.3/8"), "10.0.0.0/8");
        assert_eq!(ok("0.0.0.0/0"), "0.0.0.0/0");
        assert_eq!(ok("::/0"), "::/0");
        assert_eq!(ok("10.0.0.0&255.255.0.0"), "10.0.0.0/16");
        assert_eq!(ok("2001:db8::&ffff:ffff::"), "2001:db8::/32");
        assert_eq!(ok("10.0.0.0&0.0.0.0"), "0.0.0.0/0");
        assert_eq!(ok("10.0.0.0-10.0.0.255"), "10.0.0.0/24");
        assert_eq!(ok("10.0.0.1-10.0.0.1"), "10.0.0.1");
        assert_eq!(ok("2001:db8:: - 2001:db8::ffff"), "2001:db8::/112");
        for text in
            ["", "10.0.0.0/33", "10.0.0.0&255.0.255.0", "10.0.0.1-10.0.0.9", "10.0.0.1@53", "::-10.0.0.1"]
        {
            assert!(network(text).is_err(), "{text}");
        }
    }

    #[test]
    fn networks_overlap_if_one_has_the_other() {
        let overlaps = |one, other| Network::of(one).unwrap().overlaps(Network::of(other).unwrap());
        for (one, other) in [("10.0.0.0/8", "10.1.0.0/16"), ("::/0", "::1"), ("0.0.0.0/0", "10.0.0.1")] {
            assert!(overlaps(one, other) && overlaps(other, one), "{one} {other}");
        }
        for (one, other) in [("10.0.0.0/8", "11.0.0.0/8"), ("::/0", "10.0.0.1"), ("10.0.0.1", "10.0.0.2")] {
            assert!(!overlaps(one, other) && !overlaps(other, one), "{one} {other}");
        }
        assert!(Network::of("").is_none());
    }

    #[test]
    fn ports_follow_addresses() {
        assert_eq!(server("192.0.2.1@5353").unwrap(), "192.0.2.1:5353");
        assert_eq!(server("2001:db8::1@53").unwrap(), "[2001:db8::1]:53");
        assert_eq!(server("::1").unwrap(), "::1");
        assert!(server("ns.example").is_err() && server("192.0.2.1@x").is_err());
    }
}
