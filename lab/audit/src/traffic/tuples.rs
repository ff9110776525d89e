//! Flows in a file of comma-separated values: `src,dst,sport,dport[,proto]`.

use super::flows::{Counter, Flows};
use super::lines::{TextError, lines};
use hashlane_flow::tuple::Tuple;
use std::io::BufRead;
use std::net::{IpAddr, Ipv6Addr};

/// Longest line, in bytes.
const LONGEST: u64 = 1024;

/// TCP, the protocol of a line that states none.
const TCP: u8 = 6;

/// Protocols with ports that a line may name.
const PROTOCOLS: [(&str, u8); 5] = [("tcp", TCP), ("udp", 17), ("dccp", 33), ("sctp", 132), ("udplite", 136)];

/// Reads a file of flows, to its end or to the line that would be of one flow more than `most`. Each line is
/// a packet; a line that is there again is another packet of the flow. The first line may name the columns.
/// `progress` gets the number of packets so far.
///
/// # Errors
/// The file cannot be read, or a line is no flow.
pub fn read(from: impl BufRead, most: usize, progress: &mut dyn FnMut(u64)) -> Result<Flows, TextError> {
    let mut counter = Counter::new(most);
    lines(from, LONGEST, &mut |_, line| {
        let text = str::from_utf8(line).map_err(|_| "not UTF-8 text".to_owned())?;
        if counter.flows.seen == 0 && is_header(text) {
            return Ok(true);
        }
        let (tuple, protocol) = flow(text)?;
        counter.count(tuple, protocol);
        counter.flows.seen += 1;
        progress(counter.flows.seen);
        Ok(counter.flows.limit.is_none())
    })?;
    Ok(counter.flows)
}

fn is_header(text: &str) -> bool {
    let mut cells = text.split(',').map(str::trim);
    cells.next() == Some("src") && cells.next() == Some("dst")
}

/// Flow of a line.
fn flow(text: &str) -> Result<(Tuple, u8), String> {
    let mut cells = text.split(',').map(str::trim);
    let mut cell = |column: &str| {
        cells.next().filter(|cell| !cell.is_empty()).ok_or_else(|| {
            format!("no {column}; a line is src,dst,sport,dport[,proto], as 192.0.2.1,192.0.2.2,1024,443,tcp")
        })
    };
    let source = address("src", cell("src")?)?;
    let destination = address("dst", cell("dst")?)?;
    let source_port = port("sport", cell("sport")?)?;
    let destination_port = port("dport", cell("dport")?)?;
    let protocol = cells.next().filter(|cell| !cell.is_empty()).map_or(Ok(TCP), protocol)?;
    if cells.next().is_some() {
        return Err("more than five columns; a line is src,dst,sport,dport[,proto]".to_owned());
    }
    if source.is_ipv4() != destination.is_ipv4() {
        return Err(format!("src {source} and dst {destination} are of different IP versions"));
    }
    let [source, destination] = [source, destination].map(mapped);
    Ok((Tuple::new(destination, destination_port, source, source_port), protocol))
}

fn mapped(address: IpAddr) -> Ipv6Addr {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    }
}

fn address(column: &str, cell: &str) -> Result<IpAddr, String> {
    cell.parse().map_err(|_| format!("{column} {cell:?} is no IP address"))
}

fn port(column: &str, cell: &str) -> Result<u16, String> {
    cell.parse().map_err(|_| format!("{column} {cell:?} is no port from 0 to 65,535"))
}

fn protocol(cell: &str) -> Result<u8, String> {
    let named = PROTOCOLS.iter().find(|(name, _)| name.eq_ignore_ascii_case(cell)).map(|(_, number)| *number);
    named.or_else(|| cell.parse().ok()).ok_or_else(|| {
        let names = PROTOCOLS.map(|(name, _)| name).join(", ");
        format!("proto {cell:?} is no protocol; write {names}, or a number from 0 to 255")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Flows, String> {
        read(text.as_bytes(), 3, &mut |_| ()).map_err(|error| error.to_string())
    }

    #[test]
    fn lines_are_packets_of_flows() {
        let text = "src,dst,sport,dport,proto\n192.0.2.1,192.0.2.2,1024,443\n\
                    192.0.2.1, 192.0.2.2, 1024, 443, TCP\n2001:db8::1,2001:db8::2,53,53,17\n";
        let flows = of(text).unwrap();
        assert_eq!(flows.to_string(), "2 flows from 3 packets");
        assert_eq!(flows.flows[0].tuple.to_string(), "192.0.2.2:443 > 192.0.2.1:1024");
        assert_eq!((flows.flows[0].packets, flows.flows[0].protocol, flows.flows[1].protocol), (2, 6, 17));
        let many: String = (0..9).map(|port| format!("::1,::2,{port},1\n")).collect();
        let flows = of(&many).unwrap();
        assert_eq!((flows.flows.len(), flows.limit), (3, Some(3)));
    }

    #[test]
    fn a_wrong_line_is_named_with_its_number() {
        for (line, reason) in [
            ("192.0.2.1,192.0.2.2,1024", "line 2: no dport; a line is src,dst,sport,dport[,proto]"),
            ("192.0.2.300,192.0.2.2,1,2", "line 2: src \"192.0.2.300\" is no IP address"),
            ("192.0.2.1,192.0.2.2,1,65536", "line 2: dport \"65536\" is no port"),
            ("192.0.2.1,192.0.2.2,1,2,tpc", "line 2: proto \"tpc\" is no protocol; write tcp, udp"),
            ("192.0.2.1,::1,1,2", "line 2: src 192.0.2.1 and dst ::1 are of different IP versions"),
            ("192.0.2.1,192.0.2.2,1,2,6,7", "line 2: more than five columns"),
        ] {
            let error = of(&format!("::1,::2,1,2\n{line}\n")).unwrap_err();
            assert!(error.starts_with(reason), "{error}");
        }
        assert_eq!(read(&b"\xff\n"[..], 3, &mut |_| ()).unwrap_err().to_string(), "line 1: not UTF-8 text");
    }
}
