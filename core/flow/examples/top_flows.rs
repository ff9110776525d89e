//! Prints the flows with the most packets of a capture (pcap with Ethernet frames, as `tcpdump -w` writes).
//!
//! ```sh
//! cargo run -p hashlane-flow --example top_flows FILE.pcap
//! ```

use hashlane_flow::burst::{BURST, Burst, Decode, Visitor};
use hashlane_flow::table::{Flows, Full, Limits};
use hashlane_flow::tuple::Tuple;
use pcap_file::pcap::PcapReader;
use std::error::Error;
use std::fs::File;

/// Counts the packets of each flow.
#[derive(Default)]
struct Count {
    refused: u64,
}

impl Visitor<u64> for Count {
    fn on_known_flow(&mut self, _: usize, packets: &mut u64) {
        *packets += 1;
    }

    fn on_new_flow(&mut self, _: usize, _: &Tuple) -> Option<u64> {
        Some(1)
    }

    fn on_table_full(&mut self, _: usize, _: Full<u64>) {
        self.refused += 1;
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: top_flows FILE.pcap")?;
    let mut reader = PcapReader::new(File::open(&path).map_err(|error| format!("{path}: {error}"))?)?;
    let mut frames = Vec::new();
    while let Some(packet) = reader.next_packet() {
        frames.push(packet?.data.into_owned());
    }

    let mut flows = Flows::with_random_key(Limits { flows: 1 << 20, idle: 300 }, 0)?;
    let (mut decode, mut count) = (Decode::default(), Count::default());
    for frames in frames.chunks(BURST) {
        let mut burst = Burst::default();
        for frame in frames {
            assert!(burst.push(frame), "a burst has room for a chunk");
        }
        flows.receive(&mut decode, &mut burst, 0, &mut count);
    }

    println!("{} packets, {} flows, {} without room", frames.len(), flows.len(), count.refused);
    let mut sorted: Vec<(u64, &Tuple)> = flows.iter().map(|(tuple, packets)| (*packets, tuple)).collect();
    sorted.sort_unstable_by_key(|(packets, _)| std::cmp::Reverse(*packets));
    for (packets, tuple) in sorted.iter().take(10) {
        println!("{packets:8}  {tuple}");
    }
    Ok(())
}
