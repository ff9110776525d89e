//! Sets of the fields of ControlParameters: which ones a command requires, accepts and has.

use hashlane_ndn::mgmt::ControlParameters;

/// Defines one bit for each field, and the functions over all of them.
macro_rules! fields {
    ($($bit:ident = $number:literal $name:literal $field:ident,)+) => {
        $(pub(super) const $bit: u16 = 1 << $number;)+

        /// The set of fields that are present.
        pub(super) fn present(parameters: &ControlParameters) -> u16 {
            let ControlParameters { $($field),+ } = parameters;
            0 $(| if $field.is_some() { $bit } else { 0 })+
        }

        /// Names of the fields in a set, in the order of their bits.
        pub(super) fn names(set: u16) -> impl Iterator<Item = &'static str> {
            [$(($bit, $name)),+].into_iter().filter(move |(bit, _)| set & bit != 0).map(|(_, name)| name)
        }
    };
}

fields! {
    NAME = 0 "Name" name,
    FACE_ID = 1 "FaceId" face_id,
    URI = 2 "Uri" uri,
    LOCAL_URI = 3 "LocalUri" local_uri,
    ORIGIN = 4 "Origin" origin,
    COST = 5 "Cost" cost,
    CAPACITY = 6 "Capacity" capacity,
    COUNT = 7 "Count" count,
    FLAGS = 8 "Flags" flags,
    MASK = 9 "Mask" mask,
    STRATEGY = 10 "Strategy" strategy,
    EXPIRATION = 11 "ExpirationPeriod" expiration,
    PERSISTENCY = 12 "FacePersistency" persistency,
    MARKING = 13 "BaseCongestionMarkingInterval" marking_interval,
    THRESHOLD = 14 "DefaultCongestionThreshold" congestion_threshold,
    MTU = 15 "Mtu" mtu,
}

/// Fields that hold the options of a face.
pub(super) const FACE_OPTIONS: u16 = FLAGS | MASK | PERSISTENCY | MARKING | THRESHOLD | MTU;
