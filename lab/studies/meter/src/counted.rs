//! Flows in a file of IPFIX, counted.

use crate::traffic::Flood;
use hashlane_ipfix::{EndReason, IpfixReader};
use hashlane_lab::study::TurnError;
use std::fs::File;
use std::io::BufReader;
use std::net::IpAddr;
use std::path::Path;

/// Counts of the records that a meter wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) records: u64,
    /// Packets of all records, both directions.
    pub(crate) packets: u64,
    /// Records of flows that ended early, as the table was full.
    pub(crate) evicted: u64,
    /// Records of the established flows of a flood.
    pub(crate) established: u64,
    /// Packets of established flows that their records miss or have too many.
    pub(crate) miscounted: u64,
}

impl Counted {
    /// Reads a file. With a flood, the established flows among the records are compared with it.
    pub(crate) fn read(path: &Path, flood: Option<Flood>) -> Result<Self, TurnError> {
        let file = File::open(path).map_err(TurnError::io("cannot open the flows of the meter"))?;
        let mut counted = Self::default();
        let mut established = vec![0_u64; flood.map_or(0, |flood| flood.established as usize)];
        for record in IpfixReader::new(BufReader::with_capacity(1 << 20, file)) {
            let record = record.map_err(|error| TurnError::Failed(error.to_string()))?;
            let packets = record.forward.packets + record.reverse.packets;
            counted.records += 1;
            counted.packets += packets;
            counted.evicted += u64::from(record.end == EndReason::LackOfResources);
            if Flood::is_established(&record) {
                counted.established += 1;
                let ends = [record.source, record.destination];
                let flow = ends.into_iter().find_map(|end| match end {
                    IpAddr::V4(end) => Flood::flow_of(end),
                    IpAddr::V6(_) => None,
                });
                if let Some(sum) = flow.and_then(|flow| established.get_mut(flow as usize)) {
                    *sum += packets;
                }
            }
        }
        if let Some(flood) = flood {
            let off = |(flow, sum): (u32, &u64)| flood.packets_of(flow).abs_diff(*sum);
            counted.miscounted = (0..).zip(&established).map(off).sum();
        }
        Ok(counted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_meter::record::Counters;
    use hashlane_meter::{Exporter as _, FileOptions, FlowRecord, IpfixExporter, IpfixOptions, Sink};
    use std::net::Ipv4Addr;

    fn record(source: [u8; 4], destination: [u8; 4], packets: [u64; 2], end: EndReason) -> FlowRecord {
        let count = |packets| Counters { packets, bytes: packets * 40, ..Counters::default() };
        FlowRecord {
            domain: 1,
            source: Ipv4Addr::from(source).into(),
            destination: Ipv4Addr::from(destination).into(),
            source_port: 40_000,
            destination_port: 443,
            protocol: 6,
            icmp: None,
            vlan: None,
            inner_vlan: None,
            tunnel: None,
            ingress: 0,
            forward: count(packets[0]),
            reverse: count(packets[1]),
            end,
        }
    }

    #[test]
    fn compares_established_flows_with_the_flood() {
        let flood = Flood { syns: 300, established: 2 };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("flows.ipfix");
        let sink = Sink::file(FileOptions::new(&path)).unwrap();
        let mut exporter = IpfixExporter::new(sink, IpfixOptions::default());
        let server = [198, 51, 100, 2];
        // The first has 3 + 2 packets, in two records; the second 3 + 1, and one is missing.
        for flow in [
            record([192, 0, 0, 0], server, [2, 1], EndReason::LackOfResources),
            record(server, [192, 0, 0, 0], [1, 1], EndReason::ForcedEnd),
            record([192, 0, 0, 1], server, [2, 1], EndReason::ForcedEnd),
            record([10, 0, 0, 0], [198, 51, 100, 1], [1, 0], EndReason::LackOfResources),
        ] {
            exporter.write(&flow, 0).unwrap();
        }
        exporter.finish(0).unwrap();
        let counted = Counted::read(&path, Some(flood)).unwrap();
        let expected = Counted { records: 4, packets: 9, evicted: 2, established: 3, miscounted: 1 };
        assert_eq!(counted, expected);
        assert!(Counted::read(&folder.path().join("none"), None).is_err());
    }
}
