//! Overview of flows: sums, top hosts, conversations and services, and the sizes of flows.
//!
//! Memory is bounded, whatever the flows: see [`Top`].

mod quantiles;
mod top;

pub use quantiles::Quantiles;
pub use top::Top;

use crate::export::ExportError;
use crate::record::FlowRecord;
use crate::run::Output;
use crate::stats::MeterStats;
use std::net::IpAddr;

/// Keys that each ranking keeps at most.
const KEYS: usize = 1 << 18;

/// SYN of the TCP flags.
const SYN: u8 = 0x02;
/// Protocol number of TCP.
const TCP: u8 = 6;

/// Traffic of a host, a conversation, a service or a protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Flows.
    pub flows: u64,
    /// Packets of both directions.
    pub packets: u64,
    /// Bytes of the IP packets of both directions.
    pub bytes: u64,
    /// Bytes in one direction: those that a host sent, or those from the first address of a conversation, or
    /// those that the clients of a service sent.
    pub sent: u64,
}

impl Traffic {
    /// Adds other traffic.
    pub const fn add(&mut self, other: Self) {
        self.flows = self.flows.saturating_add(other.flows);
        self.packets = self.packets.saturating_add(other.packets);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.sent = self.sent.saturating_add(other.sent);
    }
}

/// Protocol and port of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Service {
    /// Protocol, as in the IP header.
    pub protocol: u8,
    /// Port of the end that was called.
    pub port: u16,
}

impl Service {
    /// The service of a flow; `None` for protocols without ports.
    ///
    /// The server is the end that the SYN went to. Without a SYN it is the end with the lower port, as a
    /// capture often begins within a connection.
    #[must_use]
    pub fn of(flow: &FlowRecord) -> Option<Self> {
        let FlowRecord { protocol, source_port, destination_port, forward, .. } = *flow;
        if source_port == 0 && destination_port == 0 {
            return None;
        }
        let opened = protocol == TCP && forward.tcp_flags & SYN != 0;
        let port = if opened { destination_port } else { source_port.min(destination_port) };
        Some(Self { protocol, port })
    }
}

/// Sums and rankings of flows.
#[derive(Debug)]
pub struct Overview {
    /// Traffic of all flows.
    pub total: Traffic,
    /// Flows with packets in both directions.
    pub answered: u64,
    /// Times of the first and the last packet, in nanoseconds since 1970.
    pub span: Option<(u64, u64)>,
    /// Traffic of each host, in and out.
    pub hosts: Top<IpAddr>,
    /// Traffic between two hosts, the lower address first.
    pub conversations: Top<[IpAddr; 2]>,
    /// Traffic of services.
    pub services: Top<Service>,
    /// Traffic of each protocol number.
    pub protocols: [Traffic; 256],
    /// Durations of flows in nanoseconds.
    pub durations: Quantiles,
    /// Bytes of flows.
    pub sizes: Quantiles,
    /// Packets of flows.
    pub packets: Quantiles,
}

impl Default for Overview {
    fn default() -> Self {
        Self {
            total: Traffic::default(),
            answered: 0,
            span: None,
            hosts: Top::new(KEYS),
            conversations: Top::new(KEYS),
            services: Top::new(KEYS),
            protocols: [Traffic::default(); 256],
            durations: Quantiles::default(),
            sizes: Quantiles::default(),
            packets: Quantiles::default(),
        }
    }
}

impl Overview {
    /// Adds a flow.
    pub fn add(&mut self, flow: &FlowRecord) {
        let FlowRecord { forward, reverse, source, destination, .. } = *flow;
        let packets = forward.packets.saturating_add(reverse.packets);
        let bytes = forward.bytes.saturating_add(reverse.bytes);
        let traffic = Traffic { flows: 1, packets, bytes, sent: forward.bytes };
        let back = Traffic { sent: reverse.bytes, ..traffic };
        self.total.add(traffic);
        self.answered += u64::from(flow.is_biflow());
        self.hosts.add(source, traffic);
        if source != destination {
            self.hosts.add(destination, back);
        }
        if source <= destination {
            self.conversations.add([source, destination], traffic);
        } else {
            self.conversations.add([destination, source], back);
        }
        if let Some(service) = Service::of(flow) {
            let from_client = service.port == flow.destination_port;
            self.services.add(service, if from_client { traffic } else { back });
        }
        if let Some(protocol) = self.protocols.get_mut(usize::from(flow.protocol)) {
            protocol.add(traffic);
        }
        let halves = [forward, reverse].into_iter().filter(|half| half.packets > 0);
        let ends = halves.map(|half| (half.first, half.last));
        if let Some((first, last)) = ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))) {
            self.durations.add(last.saturating_sub(first));
            let span = self.span.get_or_insert((first, last));
            *span = (span.0.min(first), span.1.max(last));
        }
        self.sizes.add(bytes);
        self.packets.add(packets);
    }

    /// Protocols with traffic, by bytes, the most first.
    #[must_use]
    pub fn protocols(&self) -> Vec<(u8, Traffic)> {
        let mut all: Vec<(u8, Traffic)> =
            (0..=u8::MAX).zip(self.protocols).filter(|(_, traffic)| traffic.flows > 0).collect();
        all.sort_by_key(|(number, traffic)| (std::cmp::Reverse(traffic.bytes), *number));
        all
    }
}

impl Output for Overview {
    fn flows(&mut self, flows: &[FlowRecord], _: u64) -> Result<(), ExportError> {
        flows.iter().for_each(|flow| self.add(flow));
        Ok(())
    }

    fn tick(&mut self, _: &[MeterStats], _: u64) -> Result<(), ExportError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Counters;

    fn half(packets: u64, first: u64, last: u64) -> Counters {
        Counters { packets, bytes: 100 * packets, tcp_flags: 0, first, last }
    }

    fn flow(source: [u8; 4], destination: [u8; 4], ports: [u16; 2]) -> FlowRecord {
        FlowRecord {
            source: source.into(),
            destination: destination.into(),
            source_port: ports[0],
            destination_port: ports[1],
            protocol: 17,
            forward: half(2, 10, 30),
            reverse: half(3, 20, 50),
            ..FlowRecord::EMPTY
        }
    }

    #[test]
    fn both_directions_count_for_hosts_and_conversations() {
        let (client, server) = ([10, 0, 0, 1], [192, 0, 2, 1]);
        let mut all = Overview::default();
        all.flows(&[flow(client, server, [4000, 53]), flow(server, client, [53, 4001])], 0).unwrap();
        assert_eq!(all.total, Traffic { flows: 2, packets: 10, bytes: 1000, sent: 400 });
        assert_eq!((all.answered, all.span), (2, Some((10, 50))));
        let both = Traffic { flows: 2, packets: 10, bytes: 1000, sent: 500 };
        assert_eq!(all.hosts.top(9), [(client.into(), both), (server.into(), both)]);
        assert_eq!(all.conversations.top(9), [([client.into(), server.into()], both)]);
        assert_eq!(all.services.top(9), [(Service { protocol: 17, port: 53 }, both)]);
        assert_eq!(all.protocols(), [(17, Traffic { sent: 400, ..both })]);
        assert_eq!(all.durations.quantile(0.5), Some(40));
    }

    #[test]
    fn a_connection_belongs_to_the_port_that_its_syn_went_to() {
        let mut tcp = FlowRecord { protocol: TCP, ..flow([10, 0, 0, 1], [10, 0, 0, 2], [1024, 8080]) };
        assert_eq!(Service::of(&tcp), Some(Service { protocol: TCP, port: 1024 }));
        tcp.forward.tcp_flags = SYN;
        assert_eq!(Service::of(&tcp), Some(Service { protocol: TCP, port: 8080 }));
        assert_eq!(Service::of(&FlowRecord::EMPTY), None);
    }

    #[test]
    fn a_host_that_talks_to_itself_counts_once() {
        let mut all = Overview::default();
        all.add(&flow([127, 0, 0, 1], [127, 0, 0, 1], [4000, 53]));
        assert_eq!(all.hosts.top(9).len(), 1);
        assert_eq!(all.hosts.top(9)[0].1.bytes, 500);
    }
}
