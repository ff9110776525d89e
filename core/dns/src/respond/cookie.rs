//! Cookies of servers, in the form that servers of several makers share (RFC 9018).

use core::fmt;
use core::net::IpAddr;
use hashlane_hash::scheme::{BytesHash, Key, Scheme};
use hashlane_hash::siphash::SipHash24;

/// Bytes of a client's cookie (RFC 7873 §4.1).
pub(super) const CLIENT_LEN: usize = 8;
/// Bytes of a server's cookie (RFC 9018 §4).
const SERVER_LEN: usize = 16;
/// Bytes of both.
pub(super) const COOKIE_LEN: usize = CLIENT_LEN + SERVER_LEN;
/// Age in seconds at which a cookie is not accepted any more (RFC 9018 §4.3).
const MAX_AGE: u32 = 3600;
/// Age in seconds at which a client gets a new cookie (RFC 9018 §4.3).
const RENEWAL_AGE: u32 = 1800;
/// Seconds by which the clock of another server may be ahead (RFC 9018 §4.3).
const MAX_AHEAD: u32 = 300;

/// The secrets of the server's cookies: the one for new cookies first, then one that is still accepted.
#[derive(Clone)]
pub struct Cookies {
    secrets: [Option<SipHash24>; 2],
}

/// Keeps secrets out of logs.
impl fmt::Debug for Cookies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cookies(..)")
    }
}

impl Cookies {
    /// Cookies under `secret`; those under `previous` are accepted, too (RFC 9018 §5).
    pub fn new(secret: &Key, previous: Option<&Key>) -> Self {
        Self { secrets: [Some(SipHash24::new(secret)), previous.map(SipHash24::new)] }
    }

    /// Checks the cookie of a query: a client's, with or without a server's. Returns the cookie of the
    /// response, and true if the server's is valid. `now` is in seconds since 1970, modulo 2³².
    pub(super) fn check(&self, cookie: &[u8], address: IpAddr, now: u32) -> Option<([u8; COOKIE_LEN], bool)> {
        let client: [u8; CLIENT_LEN] = *cookie.first_chunk()?;
        let received = cookie.get(CLIENT_LEN..).and_then(|server| <[u8; SERVER_LEN]>::try_from(server).ok());
        let age = received.and_then(|server| self.age(client, server, address, now));
        let server = match (received, age) {
            (Some(server), Some(age)) if age < RENEWAL_AGE => server,
            _ => self.make(client, address, now),
        };
        let mut both = [0; COOKIE_LEN];
        let (first, last) = both.split_at_mut(CLIENT_LEN);
        first.copy_from_slice(&client);
        last.copy_from_slice(&server);
        Some((both, age.is_some()))
    }

    /// Age of a valid cookie in seconds; 0 for one that is ahead.
    fn age(&self, client: [u8; 8], server: [u8; SERVER_LEN], address: IpAddr, now: u32) -> Option<u32> {
        let [version, _, _, _, a, b, c, d, ..] = server;
        let time = u32::from_be_bytes([a, b, c, d]);
        // Serial number arithmetic (RFC 1982).
        let age = now.wrapping_sub(time);
        let age = match age {
            0..=MAX_AGE => age,
            _ if time.wrapping_sub(now) <= MAX_AHEAD => 0,
            _ => return None,
        };
        let secrets = self.secrets.iter().flatten();
        let is_ours = secrets.fold(false, |ours, secret| {
            ours | (u64::from_le_bytes(hash(secret, client, &server, address))
                == server.last_chunk().map_or(0, |hash| u64::from_le_bytes(*hash)))
        });
        (version == 1 && is_ours).then_some(age)
    }

    fn make(&self, client: [u8; 8], address: IpAddr, now: u32) -> [u8; SERVER_LEN] {
        let mut server = [0; SERVER_LEN];
        let [a, b, c, d] = now.to_be_bytes();
        server[..8].copy_from_slice(&[1, 0, 0, 0, a, b, c, d]);
        if let [Some(secret), _] = &self.secrets {
            let hash = hash(secret, client, &server, address);
            server[8..].copy_from_slice(&hash);
        }
        server
    }
}

/// The hash of a cookie (RFC 9018 §4.4).
fn hash(secret: &SipHash24, client: [u8; 8], server: &[u8; SERVER_LEN], address: IpAddr) -> [u8; 8] {
    let mut input = [0; 32];
    input[..8].copy_from_slice(&client);
    input[8..16].copy_from_slice(&server[..8]);
    let len = match address {
        IpAddr::V4(address) => {
            input[16..20].copy_from_slice(&address.octets());
            20
        }
        IpAddr::V6(address) => {
            input[16..].copy_from_slice(&address.octets());
            32
        }
    };
    secret.hash(&input[..len]).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes<const N: usize>(hex: &str) -> [u8; N] {
        data_encoding::HEXLOWER.decode(hex.as_bytes()).unwrap().try_into().unwrap()
    }

    fn cookies(secret: &str) -> Cookies {
        Cookies::new(&Key::new(bytes::<16>(secret)), None)
    }

    #[test]
    fn gives_the_cookies_of_rfc_9018() {
        // Appendix A.1, a cookie learned; A.2 renewed after the half of an hour; A.4 over IPv6.
        let secret = "e5e973e5a6b2a43f48e7dc849e37bfcf";
        let client = bytes::<8>("2464c4abcf10c957");
        let address = "198.51.100.100".parse().unwrap();
        let learned = bytes::<24>("2464c4abcf10c957010000005cf79f111f8130c3eee29480");
        let reply = cookies(secret).check(&client, address, 1_559_731_985);
        assert_eq!(reply, Some((learned, false)));
        assert_eq!(cookies(secret).check(&learned, address, 1_559_731_985 + 60), Some((learned, true)));
        let renewed = bytes::<24>("2464c4abcf10c957010000005cf7a871d4a564a1442aca77");
        assert_eq!(cookies(secret).check(&learned, address, 1_559_734_385), Some((renewed, true)));

        let old = Key::new(bytes::<16>("dd3bdf9344b678b185a6f5cb60fca715"));
        let new = Key::new(bytes::<16>("445536bcd2513298075a5d379663c962"));
        let address = "2001:db8:220:1:59de:d0f4:8769:82b8".parse().unwrap();
        let sent = bytes::<24>("22681ab97d52c298010000005cf7c57926556bd0934c72f8");
        let renewed = bytes::<24>("22681ab97d52c298010000005cf7c609a6bb79d16625507a");
        let reply = Cookies::new(&new, Some(&old)).check(&sent, address, 1_559_741_961);
        assert_eq!(reply.map(|(_, valid)| valid), Some(true));
        assert_eq!(
            Cookies::new(&new, None).make(
                [0x22, 0x68, 0x1a, 0xb9, 0x7d, 0x52, 0xc2, 0x98],
                address,
                1_559_741_961
            ),
            renewed[8..]
        );
    }

    #[test]
    fn accepts_no_cookie_of_another_address_time_or_version() {
        let (cookies, address) = (cookies("000102030405060708090a0b0c0d0e0f"), "192.0.2.1".parse().unwrap());
        let now = 5;
        let (cookie, _) = cookies.check(&[7; 8], address, now).unwrap();
        let valid = |cookie: &[u8], address, now| cookies.check(cookie, address, now).unwrap().1;
        assert!(
            valid(&cookie, address, now + MAX_AGE) && valid(&cookie, address, now.wrapping_sub(MAX_AHEAD))
        );
        assert!(!valid(&cookie, address, now + MAX_AGE + 1));
        assert!(!valid(&cookie, address, now.wrapping_sub(MAX_AHEAD + 1)));
        assert!(!valid(&cookie, "192.0.2.2".parse().unwrap(), now));
        for at in [0, 8, 12, 16, 23] {
            let mut other = cookie;
            other[at] ^= 1;
            assert!(!valid(&other, address, now), "{at}");
        }
        assert!(!valid(&cookie[..8], address, now) && !valid(&cookie[..20], address, now));
        assert_eq!(cookies.check(&cookie[..7], address, now), None);
    }
}
