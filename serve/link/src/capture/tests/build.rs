//! Captures in both byte orders.

/// Fields in one byte order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Order(pub(super) bool);

impl Order {
    pub(super) const BOTH: [Self; 2] = [Self(false), Self(true)];

    pub(super) fn w16(self, value: u16) -> [u8; 2] {
        if self.0 { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    pub(super) fn w32(self, value: u32) -> [u8; 4] {
        if self.0 { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    pub(super) fn words(self, values: &[u32]) -> Vec<u8> {
        values.iter().flat_map(|value| self.w32(*value)).collect()
    }

    /// The header of a pcap file.
    pub(super) fn pcap(self, nanoseconds: bool, link: u32) -> Vec<u8> {
        let magic = if nanoseconds { 0xa1b2_3c4d } else { 0xa1b2_c3d4 };
        [self.words(&[magic]), self.w16(2).into(), self.w16(4).into(), self.words(&[0, 0, 262_144, link])]
            .concat()
    }

    /// A record of a pcap file.
    pub(super) fn record(self, seconds: u32, part: u32, original: u32, bytes: &[u8]) -> Vec<u8> {
        [&self.words(&[seconds, part, bytes.len() as u32, original]), bytes].concat()
    }

    /// A block of a pcapng file.
    pub(super) fn block(self, kind: u32, body: &[u8]) -> Vec<u8> {
        let mut body = body.to_vec();
        body.resize(body.len().next_multiple_of(4), 0);
        let length = 12 + body.len() as u32;
        [self.words(&[kind, length]), body, self.words(&[length])].concat()
    }

    pub(super) fn section(self) -> Vec<u8> {
        let version = [self.w16(1), self.w16(0)].concat();
        self.block(0x0a0d_0d0a, &[self.words(&[0x1a2b_3c4d]), version, vec![0xff; 8]].concat())
    }

    /// An interface with options, each a code and its value.
    pub(super) fn interface(self, link: u16, snap: u32, options: &[(u16, &[u8])]) -> Vec<u8> {
        let mut body = [&self.w16(link)[..], &[0; 2], &self.w32(snap)].concat();
        for (code, value) in options {
            body.extend([self.w16(*code), self.w16(value.len() as u16)].concat());
            body.extend_from_slice(value);
            body.resize(body.len().next_multiple_of(4), 0);
        }
        self.block(1, &body)
    }

    pub(super) fn enhanced(self, interface: u32, ticks: u64, original: u32, bytes: &[u8]) -> Vec<u8> {
        let words = [interface, (ticks >> 32) as u32, ticks as u32, bytes.len() as u32, original];
        self.block(6, &[&self.words(&words), bytes].concat())
    }
}
