//! Reasons why a frame has no flow, and how often each occurred.

use crate::packet::PacketError;

/// The rule that a frame breaks; `at` counts bytes from the start of the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DissectError {
    /// A rule of Ethernet or IP.
    #[error("{0}")]
    Packet(PacketError),
    /// More than sixteen MPLS labels.
    #[error("more than sixteen MPLS labels, at offset {at}")]
    TooManyLabels {
        /// Offset of the seventeenth label.
        at: usize,
    },
    /// More than four layers of Ethernet in MPLS.
    #[error("more than four layers of Ethernet, at offset {at}")]
    TooManyLayers {
        /// Offset of the fifth layer.
        at: usize,
    },
    /// A link whose frames cannot be parsed here.
    #[error("unsupported link type {link}")]
    UnknownLink {
        /// Its LINKTYPE number.
        link: u32,
    },
}

impl From<PacketError> for DissectError {
    #[inline(always)]
    fn from(error: PacketError) -> Self {
        Self::Packet(error)
    }
}

/// Frames without a flow, by cause: one counter for each rule of [`DissectError`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "each counter has the name of a reason that is documented there")]
pub struct Undissected {
    pub too_short: u64,
    pub not_ip: u64,
    pub too_many_tags: u64,
    pub too_many_labels: u64,
    pub too_many_layers: u64,
    pub version: u64,
    pub header_length: u64,
    pub too_many_headers: u64,
    pub unknown_link: u64,
}

impl Undissected {
    /// Counts a frame.
    pub fn count(&mut self, error: DissectError) {
        let counter = match error {
            DissectError::Packet(PacketError::TooShort { .. }) => &mut self.too_short,
            DissectError::Packet(PacketError::NotIp { .. }) => &mut self.not_ip,
            DissectError::Packet(PacketError::TooManyTags { .. }) => &mut self.too_many_tags,
            DissectError::Packet(PacketError::Version { .. }) => &mut self.version,
            DissectError::Packet(PacketError::HeaderLength { .. }) => &mut self.header_length,
            DissectError::Packet(PacketError::TooManyHeaders { .. }) => &mut self.too_many_headers,
            DissectError::TooManyLabels { .. } => &mut self.too_many_labels,
            DissectError::TooManyLayers { .. } => &mut self.too_many_layers,
            DissectError::UnknownLink { .. } => &mut self.unknown_link,
            DissectError::Packet(PacketError::Fragment { .. } | PacketError::NoPorts { .. }) => {
                debug_assert!(false, "fragments and packets without ports have flows: {error}");
                return;
            }
        };
        *counter += 1;
    }

    /// Each cause in words that follow a count, and its counter.
    pub fn causes(&self) -> [(&'static str, u64); 9] {
        [
            ("not IP", self.not_ip),
            ("cut off before their IP header ends", self.too_short),
            ("of an unknown IP version", self.version),
            ("with a wrong length in a header", self.header_length),
            ("with more than four VLAN tags", self.too_many_tags),
            ("with more than sixteen MPLS labels", self.too_many_labels),
            ("with more than four layers of Ethernet", self.too_many_layers),
            ("with more than sixteen extension headers", self.too_many_headers),
            ("of unknown links", self.unknown_link),
        ]
    }

    /// Frames without a flow for any reason.
    pub fn total(&self) -> u64 {
        self.causes().iter().map(|(_, count)| count).sum()
    }

    /// Adds the counters of another worker.
    pub fn add(&mut self, other: &Self) {
        self.too_short += other.too_short;
        self.not_ip += other.not_ip;
        self.too_many_tags += other.too_many_tags;
        self.too_many_labels += other.too_many_labels;
        self.too_many_layers += other.too_many_layers;
        self.version += other.version;
        self.header_length += other.header_length;
        self.too_many_headers += other.too_many_headers;
        self.unknown_link += other.unknown_link;
    }
}
