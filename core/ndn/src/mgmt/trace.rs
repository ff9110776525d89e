//! Records of traces, which NFD does not have: what forwarding did with the packets below a prefix.
//!
//! ```text
//! trace/start  Name: prefix, Count: one name in so many, ExpirationPeriod: time limit in milliseconds
//! trace/read   response whose body is a TraceReport: the steps since the last one
//! ```

use super::dataset::NextHopRecord;
use super::record::record;
use alloc::string::String;
use alloc::vec::Vec;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;

record! {
    /// Steps of a trace since the last report. The type is one of those for applications, and even.
    TraceReport = 856 {
        /// Steps lost since the start, because they were read too late.
        lost: u64 = 129,
        /// Time until the trace ends by itself, in milliseconds; 0 if it has ended.
        left: u64 = 109,
        /// The steps, in order of each forwarding thread.
        steps: Vec<TraceStep> = 858,
    }
}

record! {
    /// Record of one packet, or of one timeout.
    TraceStep = 858 {
        /// Time in microseconds since the start of the forwarding thread.
        at: u64 = 130,
        /// Packet or timeout: `interest`, `data`, `nack`, `retry`, `expired`.
        kind: String = 131,
        /// Ingress face; absent at a timeout.
        face_id: Option<u64> = 105,
        /// Name, without its last components if it is long.
        name: OwnedName<Ndn> = 7,
        /// 1 if the name has lost its last components.
        is_cut: Option<u64> = 132,
        /// Reason for dropping the packet, as in the counters.
        dropped: Option<String> = 133,
        /// Reason of a received Nack, or of the one that a strategy decided to send.
        reason: Option<String> = 134,
        /// Prefix of the FIB entry of an Interest.
        prefix: Option<OwnedName<Ndn>> = 135,
        /// Prefix for which the strategy was chosen.
        choice: Option<OwnedName<Ndn>> = 136,
        /// Name of the strategy, without its prefix and version.
        strategy: Option<String> = 137,
        /// Decision: `forward`, `probe`, `try`, `suppress`, `reject`, `chosen`.
        verdict: Option<String> = 138,
        /// Next hops of the FIB entry.
        hops: Vec<NextHopRecord> = 129,
        /// Packets sent; at `expired`, the Interests that were not answered.
        sent: Vec<TraceSent> = 860,
    }
}

record! {
    /// A packet that was sent.
    TraceSent = 860 {
        /// Face that it was sent to.
        face_id: u64 = 105,
        /// `interest`, `data` or `nack`.
        kind: String = 131,
        /// Reason of a Nack.
        reason: Option<String> = 134,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mgmt::Record as _;
    use alloc::vec;
    use hashlane_name::uri::parse_uri;

    #[test]
    fn a_report_is_read_as_it_was_written() {
        let name = |uri: &str| parse_uri(uri.as_bytes()).unwrap();
        let sent = TraceSent { face_id: 300, kind: "nack".into(), reason: Some("NoRoute".into()) };
        let step = TraceStep {
            at: 1_234_567,
            kind: "interest".into(),
            face_id: Some(300),
            name: name("/a/b"),
            is_cut: Some(1),
            dropped: None,
            reason: Some("NoRoute".into()),
            prefix: Some(name("/a")),
            choice: Some(name("/")),
            strategy: Some("best-route".into()),
            verdict: Some("reject".into()),
            hops: vec![NextHopRecord { face_id: 301, cost: 7 }],
            sent: vec![sent.clone(), sent],
        };
        let report = TraceReport { lost: 3, left: 9000, steps: vec![step.clone(), step] };
        assert_eq!(TraceReport::parse(&report.to_bytes()), Ok(report));
    }
}
