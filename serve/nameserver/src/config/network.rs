//! Networks by address and number of bits.

use super::text_form::text_form;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// A network, such as `192.0.2.0/24`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u8,
}

impl Network {
    /// The network of the first `bits` bits of an address; at most all of them.
    pub const fn new(address: IpAddr, bits: u8) -> Self {
        let most = if address.is_ipv4() { 32 } else { 128 };
        Self { address, bits: if bits < most { bits } else { most } }
    }

    /// Returns true if an address is in the network.
    #[inline]
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                (network.to_bits() ^ address.to_bits()).checked_shr(32 - u32::from(self.bits)).unwrap_or(0)
                    == 0
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => {
                (network.to_bits() ^ address.to_bits()).checked_shr(128 - u32::from(self.bits)).unwrap_or(0)
                    == 0
            }
            _ => false,
        }
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (address, bits) =
            text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let parsed = address.parse::<IpAddr>().ok().and_then(|address| {
            let most = if address.is_ipv4() { 32 } else { 128 };
            let bits = bits.map_or(Some(most), |bits| bits.parse().ok().filter(|bits| *bits <= most))?;
            Some(Self { address, bits })
        });
        parsed.ok_or_else(|| format!("{text:?} is not a network, such as 192.0.2.0/24 or 2001:db8::/32"))
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

text_form!(Network);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_contains_the_addresses_of_its_prefix() {
        let contains = |network: &str, address: &str| {
            network.parse::<Network>().unwrap().contains(address.parse().unwrap())
        };
        assert!(contains("192.0.2.0/24", "192.0.2.255") && !contains("192.0.2.0/24", "192.0.3.0"));
        assert!(contains("192.0.2.7", "192.0.2.7") && !contains("192.0.2.7", "192.0.2.6"));
        assert!(contains("2001:db8::/32", "2001:db8:ffff::1") && !contains("2001:db8::/32", "2001:db9::"));
        assert!(
            contains("0.0.0.0/0", "255.0.0.1") && !contains("0.0.0.0/0", "::1") && contains("::/0", "::1")
        );
        for text in ["", "192.0.2.0/33", "192.0.2/24", "::/129", "a/8", "192.0.2.0/"] {
            assert!(text.parse::<Network>().unwrap_err().contains("is not a network"), "{text}");
        }
    }
}
