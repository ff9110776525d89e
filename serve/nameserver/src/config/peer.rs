//! Other name servers: those that this one talks to, and those that may talk to it.

use super::Network;
use super::text_form::text_form;
use rustls::pki_types::ServerName;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

/// Port of a name server, if a peer names none.
const PORT: u16 = 53;

/// Port of a name server over TLS, if a peer names none.
const TLS_PORT: u16 = 853;

/// A server that this one asks or tells: an address, a port if it is not 53, the name in its certificate if
/// it is asked over TLS, and the key that signs the messages, as in `192.0.2.1`, `[2001:db8::1]:5353`,
/// `192.0.2.1 key transfer.example` or `192.0.2.1 tls ns1.example key transfer.example`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Peer {
    /// Address and port. The default port is 53, with TLS 853.
    pub address: SocketAddr,
    /// Name of the server in its certificate; `None`: without TLS.
    pub tls: Option<String>,
    /// Name of the key.
    pub key: Option<String>,
}

/// Peers that may do something: a network, or any, over TLS alone or not, and the key that they must sign
/// with, as in `192.0.2.0/24`, `192.0.2.1 tls`, `192.0.2.1 key transfer.example` or
/// `tls key transfer.example`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// Addresses of the peers; `None`: any.
    pub network: Option<Network>,
    /// Over TLS alone.
    pub tls: bool,
    /// Name of the key.
    pub key: Option<String>,
}

/// The words of a peer or of a rule.
#[derive(Default)]
struct Words<'a> {
    /// Address or network.
    place: Option<&'a str>,
    has_tls: bool,
    /// Word after `tls`, of a peer.
    tls: Option<&'a str>,
    key: Option<&'a str>,
}

/// Splits `[PLACE] [tls] [key NAME]`; a peer has a name after `tls`.
fn words(text: &str, is_peer: bool) -> Option<Words<'_>> {
    let mut words = text.split_whitespace().peekable();
    let place = words.next_if(|word| !matches!(*word, "tls" | "key"));
    let has_tls = words.next_if_eq(&"tls").is_some();
    let tls = if has_tls && is_peer { Some(words.next()?) } else { None };
    let key = if words.next_if_eq(&"key").is_some() { Some(words.next()?) } else { None };
    words.next().is_none().then_some(Words { place, has_tls, tls, key })
}

impl FromStr for Peer {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Words { place, tls, key, .. } = words(text, true).unwrap_or_default();
        let port = if tls.is_some() { TLS_PORT } else { PORT };
        let address = place.and_then(|place| {
            let address = place.parse::<IpAddr>().ok().map(|address| SocketAddr::new(address, port));
            address.or_else(|| place.parse().ok())
        });
        let address = address.filter(|address| address.port() != 0 && !address.ip().is_unspecified());
        let example = "192.0.2.1, [2001:db8::1]:5353, 192.0.2.1 key NAME or 192.0.2.1 tls NAME key NAME";
        let address = address.ok_or_else(|| format!("{text:?} is not a server, such as {example}"))?;
        if let Some(name) = tls.filter(|name| ServerName::try_from(*name).is_err()) {
            return Err(format!(
                "{text:?} has {name:?} after `tls`, which is not the name in a certificate, such as ns1.example"
            ));
        }
        Ok(Self { address, tls: tls.map(str::to_owned), key: key.map(str::to_owned) })
    }
}

impl FromStr for Access {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let example = "192.0.2.0/24, 192.0.2.1 key NAME, 192.0.2.1 tls, tls key NAME or key NAME";
        let words = words(text, false).filter(|words| words.place.is_some() || words.key.is_some());
        let Words { place, has_tls, key, .. } =
            words.ok_or_else(|| format!("{text:?} names no peers; write them as {example}"))?;
        Ok(Self { network: place.map(str::parse).transpose()?, tls: has_tls, key: key.map(str::to_owned) })
    }
}

fn write_key(key: Option<&String>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    key.map_or(Ok(()), |key| write!(f, " key {key}"))
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let usual = if self.tls.is_some() { TLS_PORT } else { PORT };
        match self.address.port() {
            port if port == usual => write!(f, "{}", self.address.ip())?,
            _ => write!(f, "{}", self.address)?,
        }
        if let Some(name) = &self.tls {
            write!(f, " tls {name}")?;
        }
        write_key(self.key.as_ref(), f)
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tls = if self.tls { " tls" } else { "" };
        match (&self.network, &self.key) {
            (Some(network), key) => {
                write!(f, "{network}{tls}")?;
                write_key(key.as_ref(), f)
            }
            (None, Some(key)) if self.tls => write!(f, "tls key {key}"),
            (None, Some(key)) => write!(f, "key {key}"),
            (None, None) => write!(f, "0.0.0.0/0{tls}"),
        }
    }
}

text_form!(Peer, Access);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_have_an_address_and_may_have_a_port_and_a_key() {
        for text in [
            "192.0.2.1",
            "192.0.2.1:5353",
            "2001:db8::1",
            "[2001:db8::1]:5353 key a.example",
            "192.0.2.1 tls ns1.example",
            "192.0.2.1 tls 192.0.2.1",
            "[2001:db8::1]:53 tls ns1.example key a.example",
        ] {
            assert_eq!(text.parse::<Peer>().unwrap().to_string(), text);
        }
        let port = |text: &str| text.parse::<Peer>().unwrap().address.port();
        assert_eq!((port("192.0.2.1"), port("192.0.2.1 tls a.example")), (53, 853));
        for text in ["192.0.2.1 tls", "192.0.2.1 key a tls b", "192.0.2.1 tls a b", "tls a"] {
            assert!(text.parse::<Peer>().unwrap_err().contains("is not a server"), "{text}");
        }
        assert!("192.0.2.1 tls a..b".parse::<Peer>().unwrap_err().contains("the name in a certificate"));
        for text in
            ["", "ns1.example", "192.0.2.1 a.example", "192.0.2.1:0", "0.0.0.0", "key a", "192.0.2.1 key a b"]
        {
            assert!(text.parse::<Peer>().unwrap_err().contains("is not a server"), "{text}");
        }
    }

    #[test]
    fn access_is_by_network_by_key_or_by_both() {
        for text in [
            "192.0.2.0/24",
            "2001:db8::/32 key a.example",
            "key a.example",
            "192.0.2.0/24 tls",
            "192.0.2.0/24 tls key a.example",
            "tls key a.example",
        ] {
            assert_eq!(text.parse::<Access>().unwrap().to_string(), text);
        }
        for text in ["", "key", "tls", "192.0.2.0/24 key", "192.0.2.0/24 b c", "192.0.2.0/24 tls a", "all"] {
            assert!(text.parse::<Access>().is_err(), "{text}");
        }
    }
}
