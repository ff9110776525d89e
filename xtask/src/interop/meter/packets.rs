//! Captures with a few flows of each protocol.

/// A capture of Ethernet: its name, and frames 1.5 ms apart.
pub(super) struct Capture {
    pub(super) name: &'static str,
    /// Bytes of a frame before the innermost IP header.
    pub(super) before: u64,
    /// The protocol behind that header.
    pub(super) protocol: u8,
    frames: Vec<Vec<u8>>,
}

/// The first end in a tunnel.
pub(super) const INNER: &str = "10.0.0.9";

const A: u8 = 1;
const B: u8 = 2;
const ICMP: u8 = 1;
const IPIP: u8 = 4;
const TCP: u8 = 6;
const UDP: u8 = 17;
const GRE: u8 = 47;
const SCTP: u8 = 132;
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;

/// Seconds since 1970 of the first frame.
const START: u64 = 1_767_323_045;

impl Capture {
    /// One of each kind.
    pub(super) fn all() -> Vec<Self> {
        let one = Self::of;
        let wide = |from, payload: &[u8]| [ethernet(from, IPV6), v6(from, UDP, &[], payload)].concat();
        let vlan = |from, tags: &[u16]| {
            let mut frame = ethernet(from, 0x8100);
            for (at, tag) in tags.iter().enumerate() {
                frame.extend(tag.to_be_bytes());
                frame.extend(if at + 1 < tags.len() { 0x8100_u16 } else { IPV4 }.to_be_bytes());
            }
            frame
        };
        vec![
            one("tcp", 14, TCP, &|from, bytes| [ethernet(from, IPV4), v4(from, TCP, &[], bytes)].concat()),
            one("udp", 14, UDP, &|from, bytes| [ethernet(from, IPV4), v4(from, UDP, &[], bytes)].concat()),
            one("icmp", 14, ICMP, &|from, bytes| [ethernet(from, IPV4), v4(from, ICMP, &[], bytes)].concat()),
            one("sctp", 14, SCTP, &|from, bytes| [ethernet(from, IPV4), v4(from, SCTP, &[], bytes)].concat()),
            one("ipv4-options", 14, TCP, &|from, bytes| {
                [ethernet(from, IPV4), v4(from, TCP, &[0x94, 4, 0, 0, 1, 1, 1, 0], bytes)].concat()
            }),
            one("ipv6-tcp", 14, TCP, &|from, bytes| {
                [ethernet(from, IPV6), v6(from, TCP, &[], bytes)].concat()
            }),
            one("ipv6-udp", 14, UDP, &wide),
            one("ipv6-extensions", 14, UDP, &|from, bytes| {
                // Hop-by-hop options, then destination options, of padding.
                let headers = [60, 0, 1, 4, 0, 0, 0, 0, UDP, 0, 1, 4, 0, 0, 0, 0];
                [ethernet(from, IPV6), v6(from, 0, &headers, bytes)].concat()
            }),
            one("vlan", 18, UDP, &|from, bytes| [vlan(from, &[7]), v4(from, UDP, &[], bytes)].concat()),
            one("qinq", 22, TCP, &|from, bytes| [vlan(from, &[7, 9]), v4(from, TCP, &[], bytes)].concat()),
            one("mpls", 22, UDP, &|from, bytes| {
                let labels = [0, 1, 0x00, 64, 0, 2, 0x01, 64];
                [ethernet(from, 0x8847), labels.to_vec(), v4(from, UDP, &[], bytes)].concat()
            }),
            one("pppoe", 22, TCP, &|from, bytes| {
                let packet = v4(from, TCP, &[], bytes);
                let length = (packet.len() as u16 + 2).to_be_bytes();
                let header = [0x11, 0, 0, 1, length[0], length[1], 0, 0x21];
                [ethernet(from, 0x8864), header.to_vec(), packet].concat()
            }),
            Self::fragments(),
            one("gre", 38, UDP, &|from, bytes| {
                let inner = [vec![0, 0, 8, 0], v4(from + 8, UDP, &[], bytes)].concat();
                [ethernet(from, IPV4), v4(from, GRE, &[], &inner)].concat()
            }),
            one("vxlan", 64, UDP, &|from, bytes| {
                let inner = [ethernet(from, IPV4), v4(from + 8, UDP, &[], bytes)].concat();
                let inner = [vec![8, 0, 0, 0, 0, 0, 42, 0], inner].concat();
                [ethernet(from, IPV4), v4(from, UDP, &[], &udp([4789, 4789], &inner))].concat()
            }),
            one("gtp-u", 50, TCP, &|from, bytes| {
                let inner = v4(from + 8, TCP, &[], bytes);
                let length = (inner.len() as u16).to_be_bytes();
                let inner = [vec![0x30, 255, length[0], length[1], 0, 0, 0, from], inner].concat();
                [ethernet(from, IPV4), v4(from, UDP, &[], &udp([2152, 2152], &inner))].concat()
            }),
            one("ipip", 34, TCP, &|from, bytes| {
                let inner = v4(from + 8, TCP, &[], bytes);
                [ethernet(from, IPV4), v4(from, IPIP, &[], &inner)].concat()
            }),
        ]
    }

    /// Three conversations of a protocol, each in a frame that `wrap` makes.
    fn of(name: &'static str, before: u64, protocol: u8, wrap: Wrap<'_>) -> Self {
        let mut frames = Vec::new();
        for number in 0..3 {
            for (forward, payload) in conversation(protocol, number) {
                frames.push(wrap(if forward { A } else { B }, &payload));
            }
        }
        Self { name, before, protocol, frames }
    }

    /// A datagram in three parts, and one in two whose last part comes first.
    fn fragments() -> Self {
        let whole = udp([4000, 53], &[7; 2_592]);
        let part = |id: u16, at: usize, end: usize| {
            let more = if end < whole.len() { 0x2000 } else { 0 };
            let mut packet = v4(A, UDP, &[], whole.get(at..end).unwrap_or_default());
            packet.splice(4..6, id.to_be_bytes());
            packet.splice(6..8, (more | (at / 8) as u16).to_be_bytes());
            [ethernet(A, IPV4), packet].concat()
        };
        let frames = vec![
            part(1, 0, 1_200),
            part(1, 1_200, 2_400),
            part(1, 2_400, 2_600),
            part(2, 1_600, 2_600),
            part(2, 0, 1_600),
        ];
        Self { name: "fragments", before: 14, protocol: UDP, frames }
    }

    /// The file, as pcap to the microsecond.
    pub(super) fn file(&self) -> Vec<u8> {
        let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
        let mut file = words(&[0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, 1]);
        for (number, frame) in (0_u64..).zip(&self.frames) {
            let micros = number * 1_500;
            let (seconds, length) = (START + micros / 1_000_000, frame.len() as u32);
            file.extend(words(&[seconds as u32, (micros % 1_000_000) as u32, length, length]));
            file.extend(frame);
        }
        file
    }
}

/// Makes a frame of the end that sends, and the bytes behind IP.
type Wrap<'a> = &'a dyn Fn(u8, &[u8]) -> Vec<u8>;

/// Packets of a conversation: `true` from its first end, and the bytes behind IP.
fn conversation(protocol: u8, number: u16) -> Vec<(bool, Vec<u8>)> {
    let ports = [40_000 + number, 80];
    match protocol {
        TCP => {
            const STEPS: [(bool, u8, usize); 8] = [
                (true, 2, 0),
                (false, 18, 0),
                (true, 16, 0),
                (true, 24, 300),
                (false, 16, 1_100),
                (true, 17, 0),
                (false, 25, 40),
                (true, 16, 0),
            ];
            let reset = (false, 4, 0);
            // The second connection is refused.
            let steps: &[_] = if number == 1 { &[(true, 2, 0), reset] } else { &STEPS };
            let one = |&(forward, flags, size)| (forward, tcp(turned(ports, forward), flags, size));
            steps.iter().map(one).collect()
        }
        ICMP => vec![(true, echo(8, number)), (false, echo(0, number))],
        SCTP => {
            let chunk = |forward| [header(turned(ports, forward)), vec![0; 8], vec![11, 0, 0, 4]].concat();
            vec![(true, chunk(true)), (false, chunk(false))]
        }
        _ => [true, false, true]
            .iter()
            .map(|forward| (*forward, udp(turned(ports, *forward), &[1; 100])))
            .collect(),
    }
}

fn turned([from, to]: [u16; 2], forward: bool) -> [u16; 2] {
    if forward { [from, to] } else { [to, from] }
}

fn header(ports: [u16; 2]) -> Vec<u8> {
    ports.iter().flat_map(|port| port.to_be_bytes()).collect()
}

fn echo(kind: u8, number: u16) -> Vec<u8> {
    [vec![kind, 0, 0, 0], number.to_be_bytes().to_vec(), vec![0; 58]].concat()
}

fn tcp(ports: [u16; 2], flags: u8, size: usize) -> Vec<u8> {
    let rest = vec![0, 0, 0, 1, 0, 0, 0, 1, 0x50, flags, 255, 255, 0, 0, 0, 0];
    [header(ports), rest, vec![0; size]].concat()
}

fn udp(ports: [u16; 2], payload: &[u8]) -> Vec<u8> {
    let [high, low] = (payload.len() as u16 + 8).to_be_bytes();
    [header(ports), vec![high, low, 0, 0], payload.to_vec()].concat()
}

fn ethernet(from: u8, ether_type: u16) -> Vec<u8> {
    let ends = [2, 0, 0, 0, 0, other(from), 2, 0, 0, 0, 0, from];
    [ends.to_vec(), ether_type.to_be_bytes().to_vec()].concat()
}

/// The end that an end talks to; those inside a tunnel are 8 more.
const fn other(end: u8) -> u8 {
    end ^ 3
}

fn v4(from: u8, protocol: u8, options: &[u8], payload: &[u8]) -> Vec<u8> {
    let words = 5 + options.len() / 4;
    let [high, low] = ((words * 4 + payload.len()) as u16).to_be_bytes();
    let mut packet = vec![0x40 + words as u8, 0, high, low, 0, 0, 0x40, 0, 64, protocol, 0, 0];
    packet.extend([10, 0, 0, from, 10, 0, 0, other(from)]);
    packet.extend(options);
    // RFC 1071.
    let pairs = packet.chunks_exact(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
    let sum: u32 = pairs.sum();
    let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
    packet.splice(10..12, sum.to_be_bytes());
    packet.extend(payload);
    packet
}

fn v6(from: u8, next: u8, extensions: &[u8], payload: &[u8]) -> Vec<u8> {
    let [high, low] = ((extensions.len() + payload.len()) as u16).to_be_bytes();
    let end = |end| [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, end];
    let start = [0x60, 0, 0, 0, high, low, next, 64];
    [&start[..], &end(from), &end(other(from)), extensions, payload].concat()
}
