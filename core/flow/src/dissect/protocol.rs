//! Protocols that IP carries, by their numbers (registry of IANA).

pub(super) const ICMP: u8 = 1;
/// RFC 2003.
pub(super) const IPV4_IN_IP: u8 = 4;
pub(super) const TCP: u8 = 6;
pub(super) const UDP: u8 = 17;
/// RFC 2473, RFC 4213.
pub(super) const IPV6_IN_IP: u8 = 41;
pub(super) const GRE: u8 = 47;
pub(super) const ICMP_V6: u8 = 58;
