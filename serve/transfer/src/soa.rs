//! The SOA record (RFC 1035 §3.3.13).

use hashlane_dns::zone::Zone;

/// The numbers of a SOA record. Times are in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Soa {
    /// Serial number of the zone.
    pub serial: u32,
    /// Time after which a secondary asks its primary again.
    pub refresh: u32,
    /// Time after which it asks again if the primary did not answer.
    pub retry: u32,
    /// Time after which it stops to answer, if no primary has answered.
    pub expire: u32,
}

impl Soa {
    /// The numbers in the data of a SOA record with whole names.
    pub fn parse(data: &[u8]) -> Option<Self> {
        let numbers = data.last_chunk::<20>()?.as_chunks::<4>().0;
        let [serial, refresh, retry, expire, _] = numbers else { return None };
        let [serial, refresh, retry, expire] =
            [serial, refresh, retry, expire].map(|bytes| u32::from_be_bytes(*bytes));
        Some(Self { serial, refresh, retry, expire })
    }

    /// The numbers of a zone's SOA record.
    pub fn of(zone: &Zone) -> Option<Self> {
        Self::parse(zone.soa()?.1.after)
    }
}
