//! Other name servers: those that this one talks to, and those that may talk to it.

use super::Network;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

/// Port of a name server, if a peer names none.
const PORT: u16 = 53;

/// A server that this one asks or tells: an address, a port if it is not 53, and the key that signs the
/// messages, as in `192.0.2.1`, `[2001:db8::1]:5353` or `192.0.2.1 key transfer.example`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Peer {
    /// Address and port.
    pub address: SocketAddr,
    /// Name of the key.
    pub key: Option<String>,
}

/// Peers that may do something: a network, or any, and the key that they must sign with, as in
/// `192.0.2.0/24`, `192.0.2.1 key transfer.example` or `key transfer.example`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// Addresses of the peers; `None`: any.
    pub network: Option<Network>,
    /// Name of the key.
    pub key: Option<String>,
}

/// The first word, and the name of a key after the word `key`.
fn words(text: &str) -> Option<(Option<&str>, Option<String>)> {
    let mut words = text.split_whitespace();
    let (first, second) = (words.next()?, words.next());
    let (place, key) = match (first, second, words.next()) {
        ("key", Some(key), None) => (None, Some(key)),
        (place, None, None) => (Some(place), None),
        (place, Some("key"), Some(key)) => (Some(place), Some(key)),
        _ => return None,
    };
    words.next().is_none().then(|| (place, key.map(str::to_owned)))
}

impl FromStr for Peer {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (place, key) = words(text).unwrap_or_default();
        let address = place.and_then(|place| {
            let address = place.parse::<IpAddr>().ok().map(|address| SocketAddr::new(address, PORT));
            address.or_else(|| place.parse().ok())
        });
        let address = address.filter(|address| address.port() != 0 && !address.ip().is_unspecified());
        let example = "192.0.2.1, [2001:db8::1]:5353 or 192.0.2.1 key NAME";
        let address = address.ok_or_else(|| format!("{text:?} is not a server, such as {example}"))?;
        Ok(Self { address, key })
    }
}

impl FromStr for Access {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let example = "192.0.2.0/24, 192.0.2.1 key NAME or key NAME";
        let (place, key) =
            words(text).ok_or_else(|| format!("{text:?} names no peers; write them as {example}"))?;
        Ok(Self { network: place.map(str::parse).transpose()?, key })
    }
}

fn write_key(key: Option<&String>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    key.map_or(Ok(()), |key| write!(f, " key {key}"))
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.address.port() {
            PORT => write!(f, "{}", self.address.ip())?,
            _ => write!(f, "{}", self.address)?,
        }
        write_key(self.key.as_ref(), f)
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.network, &self.key) {
            (Some(network), key) => {
                write!(f, "{network}")?;
                write_key(key.as_ref(), f)
            }
            (None, Some(key)) => write!(f, "key {key}"),
            (None, None) => f.write_str("0.0.0.0/0"),
        }
    }
}

impl Serialize for Peer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Peer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl Serialize for Access {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Access {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_have_an_address_and_may_have_a_port_and_a_key() {
        for text in ["192.0.2.1", "192.0.2.1:5353", "2001:db8::1", "[2001:db8::1]:5353 key a.example"] {
            assert_eq!(text.parse::<Peer>().unwrap().to_string(), text);
        }
        for text in
            ["", "ns1.example", "192.0.2.1 a.example", "192.0.2.1:0", "0.0.0.0", "key a", "192.0.2.1 key a b"]
        {
            assert!(text.parse::<Peer>().unwrap_err().contains("is not a server"), "{text}");
        }
    }

    #[test]
    fn access_is_by_network_by_key_or_by_both() {
        for text in ["192.0.2.0/24", "2001:db8::/32 key a.example", "key a.example"] {
            assert_eq!(text.parse::<Access>().unwrap().to_string(), text);
        }
        for text in ["", "key", "192.0.2.0/24 key", "192.0.2.0/24 b c", "all"] {
            assert!(text.parse::<Access>().is_err(), "{text}");
        }
    }
}
