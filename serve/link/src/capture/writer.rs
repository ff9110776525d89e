//! Captures in the format pcap, with times in microseconds (`tcpdump -r` reads them).

use std::io::{self, Write};
use std::time::Duration;

/// Longest captured packet that the header states, in bytes.
const SNAPLEN: u32 = 1 << 16;

/// Writer of a capture.
#[derive(Debug)]
pub struct Writer<W: Write>(W);

impl<W: Write> Writer<W> {
    /// Begins a capture of packets of one type of link (LINKTYPE number of the pcap registry).
    ///
    /// # Errors
    /// The error of `to`.
    pub fn new(mut to: W, link: u32) -> io::Result<Self> {
        // Magic number, version 2.4, the offset of the time zone and the accuracy of times, both 0.
        let words = [0xa1b2_c3d4, 0x0004_0002, 0, 0, SNAPLEN, link];
        to.write_all(words.map(u32::to_le_bytes).as_flattened())?;
        Ok(Self(to))
    }

    /// Writes a packet, captured at this time since 1970.
    ///
    /// # Errors
    /// The error of the stream; the packet is longer than 4 GiB, or the time beyond 2106.
    pub fn write(&mut self, time: Duration, packet: &[u8]) -> io::Result<()> {
        let invalid = |_| io::Error::from(io::ErrorKind::InvalidInput);
        let seconds = u32::try_from(time.as_secs()).map_err(invalid)?;
        let length = u32::try_from(packet.len()).map_err(invalid)?;
        let words = [seconds, time.subsec_micros(), length, length];
        self.0.write_all(words.map(u32::to_le_bytes).as_flattened())?;
        self.0.write_all(packet)
    }

    /// The stream.
    pub fn into_inner(self) -> W {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pcap_file::pcap::PcapReader;

    #[test]
    fn an_independent_reader_finds_packets_and_times() {
        let mut writer = Writer::new(Vec::new(), 101).unwrap();
        let packets: [(u64, &[u8]); 3] = [(0, b"first"), (1_700_000_000_123_456, b""), (7, &[9; 1500])];
        for (micros, packet) in packets {
            writer.write(Duration::from_micros(micros), packet).unwrap();
        }
        let file = writer.into_inner();
        let mut reader = PcapReader::new(file.as_slice()).unwrap();
        assert_eq!(u32::from(reader.header().datalink), 101);
        for (micros, packet) in packets {
            let found = reader.next_packet().unwrap().unwrap();
            assert_eq!((found.timestamp, &*found.data), (Duration::from_micros(micros), packet));
        }
        assert!(reader.next_packet().is_none());
        assert!(Writer::new(Vec::new(), 1).unwrap().write(Duration::from_secs(1 << 32), b"").is_err());
    }
}
