//! Options templates and their records: interfaces, sampling, statistics of the meter and of the export.

use super::IpfixOptions;
use crate::export::shape::{Field, Shape, field};
use crate::ipfix::{FIRST_TEMPLATE, VARIABLE, element as ie};
use crate::stats::MeterStats;

/// An options template. The first field is its scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(super) enum OptionsTemplate {
    Interface,
    Sampling,
    /// RFC 7011 section 4.1.
    Exported,
    /// RFC 7011 section 4.2.
    Ignored,
    /// RFC 7011 section 4.3.
    NotSent,
}

impl OptionsTemplate {
    pub(super) const fn template_id(self) -> u16 {
        FIRST_TEMPLATE + Shape::COUNT + self as u16
    }

    pub(super) const fn bit(self) -> u8 {
        1 << self as u16
    }

    pub(super) const fn fields(self) -> &'static [Field] {
        match self {
            Self::Interface => {
                const { &[field(ie::INGRESS_INTERFACE, 4), field(ie::INTERFACE_NAME, VARIABLE)] }
            }
            Self::Sampling => {
                const {
                    &[
                        field(ie::SELECTOR_ID, 8),
                        field(ie::SELECTOR_ALGORITHM, 2),
                        field(ie::SAMPLING_PACKET_INTERVAL, 4),
                        field(ie::SAMPLING_PACKET_SPACE, 4),
                    ]
                }
            }
            Self::Exported => {
                const {
                    &[
                        field(ie::OBSERVATION_DOMAIN_ID, 4),
                        field(ie::EXPORTED_MESSAGE_TOTAL_COUNT, 8),
                        field(ie::EXPORTED_FLOW_RECORD_TOTAL_COUNT, 8),
                        field(ie::EXPORTED_OCTET_TOTAL_COUNT, 8),
                    ]
                }
            }
            Self::Ignored => {
                const { &[field(ie::OBSERVATION_DOMAIN_ID, 4), field(ie::IGNORED_PACKET_TOTAL_COUNT, 8)] }
            }
            Self::NotSent => {
                const { &[field(ie::EXPORTING_PROCESS_ID, 4), field(ie::NOT_SENT_FLOW_TOTAL_COUNT, 8)] }
            }
        }
    }
}

/// Records that hold as long as the meter runs.
pub(super) fn standing(options: &IpfixOptions) -> Vec<(OptionsTemplate, Vec<u8>)> {
    let mut records = Vec::new();
    for (index, name) in &options.interfaces {
        // Linux limits names to 15 bytes.
        let name = &name.as_bytes()[..name.len().min(254)];
        let mut record = index.to_be_bytes().to_vec();
        record.push(u8::try_from(name.len()).unwrap_or(u8::MAX));
        record.extend_from_slice(name);
        records.push((OptionsTemplate::Interface, record));
    }
    if options.sampling > 1 {
        let mut record = 1_u64.to_be_bytes().to_vec();
        // Systematic count-based sampling: one packet, then none of the next.
        record.extend_from_slice(&1_u16.to_be_bytes());
        record.extend_from_slice(&1_u32.to_be_bytes());
        record.extend_from_slice(&(options.sampling - 1).to_be_bytes());
        records.push((OptionsTemplate::Sampling, record));
    }
    records
}

/// Messages, flows and bytes that a domain has exported.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Exported {
    pub(super) messages: u64,
    pub(super) flows: u64,
    pub(super) bytes: u64,
}

/// Statistics of a domain.
pub(super) fn statistics(
    domain: u32,
    exported: Exported,
    stats: &MeterStats,
) -> [(OptionsTemplate, Vec<u8>); 3] {
    let record = |counts: &[u64]| {
        let mut record = domain.to_be_bytes().to_vec();
        record.extend(counts.iter().flat_map(|count| count.to_be_bytes()));
        record
    };
    [
        (OptionsTemplate::Exported, record(&[exported.messages, exported.flows, exported.bytes])),
        (OptionsTemplate::Ignored, record(&[stats.dropped.total()])),
        (OptionsTemplate::NotSent, record(&[stats.flows_lost])),
    ]
}
