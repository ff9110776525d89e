//! Well-known services (RFC 1035 §3.4.2).

use crate::error::FaultKind;
use crate::field::{found, read};
use crate::number::decimal;
use crate::scan::Scanner;
use std::net::Ipv4Addr;

/// Protocols by their keywords (registry of IANA); others are given by number.
const PROTOCOLS: [(&str, u8); 8] =
    [("ICMP", 1), ("IGMP", 2), ("GGP", 3), ("TCP", 6), ("EGP", 8), ("UDP", 17), ("RDP", 27), ("SCTP", 132)];

/// Services by their names (RFC 1010, registry of IANA); others are given by port. The names do not depend on
/// the machine that reads the zone file.
const SERVICES: [(&str, u16); 57] = [
    ("RJE", 5),
    ("ECHO", 7),
    ("DISCARD", 9),
    ("USERS", 11),
    ("SYSTAT", 11),
    ("DAYTIME", 13),
    ("NETSTAT", 15),
    ("QUOTE", 17),
    ("QOTD", 17),
    ("CHARGEN", 19),
    ("FTP-DATA", 20),
    ("FTP", 21),
    ("SSH", 22),
    ("TELNET", 23),
    ("SMTP", 25),
    ("NSW-FE", 27),
    ("TIME", 37),
    ("RLP", 39),
    ("GRAPHICS", 41),
    ("NAMESERVER", 42),
    ("NICNAME", 43),
    ("WHOIS", 43),
    ("LOGIN", 49),
    ("DOMAIN", 53),
    ("BOOTPS", 67),
    ("BOOTPC", 68),
    ("TFTP", 69),
    ("GOPHER", 70),
    ("FINGER", 79),
    ("HTTP", 80),
    ("KERBEROS", 88),
    ("SUPDUP", 95),
    ("HOSTNAME", 101),
    ("HOSTNAMES", 101),
    ("ISO-TSAP", 102),
    ("X400", 103),
    ("CSNET-NS", 105),
    ("RTELNET", 107),
    ("POP2", 109),
    ("POP3", 110),
    ("SUNRPC", 111),
    ("AUTH", 113),
    ("SFTP", 115),
    ("NNTP", 119),
    ("NTP", 123),
    ("NETBIOS-NS", 137),
    ("NETBIOS-DGM", 138),
    ("NETBIOS-SSN", 139),
    ("IMAP", 143),
    ("SNMP", 161),
    ("SNMPTRAP", 162),
    ("BGP", 179),
    ("IRC", 194),
    ("LDAP", 389),
    ("HTTPS", 443),
    ("SUBMISSION", 587),
    ("IMAPS", 993),
];

/// Appends an address, a protocol and the set of its ports: `ADDRESS PROTOCOL [SERVICE…]`.
pub(super) fn wks(scanner: &mut Scanner<'_>, out: &mut Vec<u8>) -> Result<(), FaultKind> {
    let address: Ipv4Addr =
        read(scanner, "an IPv4 address", |text| std::str::from_utf8(text).ok()?.parse().ok())?;
    let protocol = read(scanner, "a protocol: TCP, UDP, or a number of 0 to 255", |text| {
        named(&PROTOCOLS, text).or_else(|| u8::try_from(decimal(text)?).ok())
    })?;
    out.extend_from_slice(&address.octets());
    out.push(protocol);
    let start = out.len();
    while let Some(token) = scanner.next()? {
        let port = named(&SERVICES, token.text).or_else(|| u16::try_from(decimal(token.text)?).ok());
        let field = "a service: a name such as SMTP, or a port of 0 to 65535";
        let port = port.filter(|_| !token.quoted).ok_or_else(|| found(field, token))?;
        let at = start + usize::from(port / 8);
        out.resize(out.len().max(at + 1), 0);
        if let Some(byte) = out.get_mut(at) {
            *byte |= 0x80 >> (port % 8);
        }
    }
    Ok(())
}

/// The number of a name, ignoring case.
fn named<T: Copy>(list: &[(&str, T)], text: &[u8]) -> Option<T> {
    list.iter().find(|(name, _)| text.eq_ignore_ascii_case(name.as_bytes())).map(|(_, number)| *number)
}
