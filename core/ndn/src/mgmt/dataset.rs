//! Records of datasets and of the face event stream.

use super::record::record;
use super::values::{FaceEventKind, FacePersistency, FaceScope, LinkType, RouteOrigin};
use alloc::string::String;
use alloc::vec::Vec;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;

record! {
    /// General status of the forwarder: dataset status/general. The dataset contains these fields without an
    /// element around them: see [`Record::parse_fields`](super::Record::parse_fields).
    ForwarderStatus = 21 {
        /// Version of the forwarder.
        version: String = 128,
        /// Start of the forwarder, in milliseconds since 1970.
        start: u64 = 129,
        /// Time of this record, in milliseconds since 1970.
        current: u64 = 130,
        /// Entries of the name tree, if the forwarder has one.
        name_tree_entries: u64 = 131,
        /// Entries of the FIB.
        fib_entries: u64 = 132,
        /// Entries of the PIT.
        pit_entries: u64 = 133,
        /// Entries with strategy measurements.
        measurements_entries: u64 = 134,
        /// Packets in the content store.
        cs_entries: u64 = 135,
        /// Interests received.
        in_interests: u64 = 144,
        /// Data packets received.
        in_data: u64 = 145,
        /// Nacks received.
        in_nacks: u64 = 151,
        /// Interests sent.
        out_interests: u64 = 146,
        /// Data packets sent.
        out_data: u64 = 147,
        /// Nacks sent.
        out_nacks: u64 = 152,
        /// PIT entries satisfied by Data; absent before NFD 0.7.
        satisfied: Option<u64> = 153,
        /// PIT entries that expired.
        unsatisfied: Option<u64> = 154,
        /// Counters that NFD does not have, such as dropped packets by reason. Other clients ignore them.
        counts: Vec<Count> = 854,
        /// Age of the packet that the content store evicts next, in milliseconds: since its last use, or
        /// since it arrived or became stale. NFD does not have it.
        cs_oldest: Option<u64> = 862,
    }
}

record! {
    /// Counter that NFD does not have, in dataset status/general. The type is one of those for applications,
    /// and even: clients that do not know it ignore it.
    Count = 854 {
        /// Name of the counter.
        name: String = 129,
        /// Value of the counter.
        value: u64 = 130,
    }
}

record! {
    /// Face: datasets faces/list and faces/query.
    FaceStatus = 128 {
        /// Face id.
        face_id: u64 = 105,
        /// Remote endpoint.
        uri: String = 114,
        /// Local endpoint.
        local_uri: String = 129,
        /// Time until an idle face closes, in milliseconds.
        expiration: Option<u64> = 109,
        /// Scope.
        scope: FaceScope = 132,
        /// Persistency.
        persistency: FacePersistency = 133,
        /// Link type.
        link_type: LinkType = 134,
        /// First interval between congestion marks, in nanoseconds.
        marking_interval: Option<u64> = 135,
        /// Queue length above which packets are marked, in bytes.
        congestion_threshold: Option<u64> = 136,
        /// Largest link packet, in bytes.
        mtu: Option<u64> = 137,
        /// Interests received.
        in_interests: u64 = 144,
        /// Data packets received.
        in_data: u64 = 145,
        /// Nacks received.
        in_nacks: u64 = 151,
        /// Interests sent.
        out_interests: u64 = 146,
        /// Data packets sent.
        out_data: u64 = 147,
        /// Nacks sent.
        out_nacks: u64 = 152,
        /// Bytes received.
        in_bytes: u64 = 148,
        /// Bytes sent.
        out_bytes: u64 = 149,
        /// Flags: [`FACE_LOCAL_FIELDS`](super::values::FACE_LOCAL_FIELDS) and others.
        flags: u64 = 108,
    }
}

record! {
    /// Channel, a socket that creates faces: dataset faces/channels.
    ChannelStatus = 130 {
        /// Local endpoint.
        local_uri: String = 129,
    }
}

record! {
    /// Filter of faces, a component in the name of dataset faces/query. A face must match all fields.
    #[derive(Default)]
    FaceQueryFilter = 150 {
        /// Face id.
        face_id: Option<u64> = 105,
        /// Scheme of the remote or local endpoint.
        uri_scheme: Option<String> = 131,
        /// Remote endpoint.
        uri: Option<String> = 114,
        /// Local endpoint.
        local_uri: Option<String> = 129,
        /// Scope.
        scope: Option<FaceScope> = 132,
        /// Persistency.
        persistency: Option<FacePersistency> = 133,
        /// Link type.
        link_type: Option<LinkType> = 134,
    }
}

record! {
    /// Face event: the stream faces/events.
    FaceEventNotification = 192 {
        /// Kind of event.
        kind: FaceEventKind = 193,
        /// Face id.
        face_id: u64 = 105,
        /// Remote endpoint.
        uri: String = 114,
        /// Local endpoint.
        local_uri: String = 129,
        /// Scope.
        scope: FaceScope = 132,
        /// Persistency.
        persistency: FacePersistency = 133,
        /// Link type.
        link_type: LinkType = 134,
        /// Flags: [`FACE_LOCAL_FIELDS`](super::values::FACE_LOCAL_FIELDS) and others.
        flags: u64 = 108,
    }
}

record! {
    /// FIB entry: dataset fib/list.
    FibEntry = 128 {
        /// Prefix.
        name: OwnedName<Ndn> = 7,
        /// Next hops.
        next_hops: Vec<NextHopRecord> = 129,
    }
}

record! {
    /// Next hop of a FIB entry.
    NextHopRecord = 129 {
        /// Face id.
        face_id: u64 = 105,
        /// Cost.
        cost: u64 = 106,
    }
}

record! {
    /// RIB entry: dataset rib/list.
    RibEntry = 128 {
        /// Prefix.
        name: OwnedName<Ndn> = 7,
        /// Routes.
        routes: Vec<Route> = 129,
    }
}

record! {
    /// Route of a RIB entry.
    Route = 129 {
        /// Face id.
        face_id: u64 = 105,
        /// Origin.
        origin: RouteOrigin = 111,
        /// Cost.
        cost: u64 = 106,
        /// Flags: [`ROUTE_CHILD_INHERIT`](super::values::ROUTE_CHILD_INHERIT) and
        /// [`ROUTE_CAPTURE`](super::values::ROUTE_CAPTURE).
        flags: u64 = 108,
        /// Remaining lifetime in milliseconds; unlimited if absent.
        expiration: Option<u64> = 109,
    }
}

record! {
    /// Strategy of a prefix: dataset strategy-choice/list.
    StrategyChoice = 128 {
        /// Prefix.
        name: OwnedName<Ndn> = 7,
        /// Name of the strategy.
        strategy: OwnedName<Ndn> = 107,
    }
}

record! {
    /// Content store: dataset cs/info.
    CsInfo = 128 {
        /// Capacity in packets.
        capacity: u64 = 131,
        /// Flags: [`CS_ADMIT`](super::values::CS_ADMIT) and [`CS_SERVE`](super::values::CS_SERVE).
        flags: u64 = 108,
        /// Packets in the store.
        entries: u64 = 135,
        /// Lookups that found Data.
        hits: u64 = 129,
        /// Lookups that found none.
        misses: u64 = 130,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mgmt::Record;
    use crate::tlv::WireError;
    use core::fmt;
    use hashlane_name::uri::parse_uri;

    fn name(uri: &str) -> OwnedName<Ndn> {
        parse_uri(uri.as_bytes()).unwrap()
    }

    /// Checks that `record` encodes as `bytes`, and parses from them.
    fn golden<R: Record + PartialEq + fmt::Debug>(record: &R, bytes: &str) {
        let digits = bytes.split_whitespace().collect::<Vec<_>>().concat();
        let bytes = data_encoding::HEXLOWER.decode(digits.as_bytes()).unwrap();
        assert_eq!(record.to_bytes(), bytes);
        assert_eq!(R::parse(&bytes).as_ref(), Ok(record));
        assert_eq!(R::parse_all(&[&bytes[..], &bytes].concat()).map(|all| all.len()), Ok(2));
        for len in 0..bytes.len() {
            assert!(R::parse(&bytes[..len]).is_err());
        }
    }

    // The bytes come from ndn-cxx, tests/unit/mgmt/nfd/*.t.cpp.

    #[test]
    fn face_status_is_as_published() {
        let status = FaceStatus {
            face_id: 100,
            uri: "tcp4://192.0.2.1:6363".into(),
            local_uri: "tcp4://192.0.2.2:55555".into(),
            expiration: Some(10_000),
            scope: FaceScope::Local,
            persistency: FacePersistency::OnDemand,
            link_type: LinkType::MultiAccess,
            marking_interval: Some(5),
            congestion_threshold: Some(7),
            mtu: Some(9),
            in_interests: 10,
            in_data: 200,
            in_nacks: 1,
            out_interests: 3000,
            out_data: 4,
            out_nacks: 2,
            in_bytes: 1_329_719_163,
            out_bytes: 999_110_448,
            flags: 7,
        };
        golden(
            &status,
            "806a690164 7215746370343a2f2f3139322e302e322e313a36333633 8116746370343a2f2f3139322e302e322e323a3535353535
             6d022710 840101 850101 860101 870105 880107 890109 90010a 9101c8 970101 92020bb8 930104 980102 94044f41e77b
             95043b8d3730 6c0107",
        );
        let plain = FaceStatus { expiration: None, marking_interval: None, mtu: None, ..status };
        assert_eq!(FaceStatus::parse(&plain.to_bytes()), Ok(plain));
    }

    #[test]
    fn forwarder_status_is_as_published() {
        let status = ForwarderStatus {
            version: "0.5.1-14-g05dd444".into(),
            start: 375_193_249_325,
            current: 886_109_034_272,
            name_tree_entries: 1_849_943_160,
            fib_entries: 621_739_748,
            pit_entries: 482_129_741,
            measurements_entries: 1_771_725_298,
            cs_entries: 1_264_968_688,
            in_interests: 612_811_615,
            in_data: 1_843_576_050,
            in_nacks: 1234,
            out_interests: 952_144_445,
            out_data: 138_198_826,
            out_nacks: 4321,
            satisfied: Some(961_020),
            unsatisfied: Some(941_024),
            counts: Vec::new(),
            cs_oldest: None,
        };
        golden(
            &status,
            "15718011302e352e312d31342d67303564643434348108000000575b42a62d8208000000ce5036d72083046e43e4788404250efee4
             85041cbcb74d8604699a61f287044b65e3f090042486c35f91046de2bcf2970204d2920438c0923d9304083cbf2a980210e1
             9904000ea9fc9a04000e5be0",
        );
    }

    #[test]
    fn counters_of_our_own_follow_those_of_nfd_and_may_be_ignored() {
        let count = Count { name: "loop".into(), value: 3 };
        golden(&count, "fd035609 81046c6f6f70 820103");
        // As clients do that do not know the type.
        let bytes = count.to_bytes();
        let element = crate::tlv::single(&bytes).unwrap();
        assert_eq!(element.ignored(), Ok(()));
    }

    #[test]
    fn fib_and_rib_entries_are_as_published() {
        let hop = |face_id, cost| NextHopRecord { face_id, cost };
        let entry = FibEntry {
            name: name("ndn:/this/is/a/test"),
            next_hops: [hop(10, 200), hop(20, 300), hop(30, 400), hop(40, 500)].into(),
        };
        golden(
            &entry,
            "80380713080474686973080269730801610804746573748106 69010a6a01c8 8107690114 6a02012c 810769011e6a020190
             8107690128 6a0201f4",
        );
        let route = Route {
            face_id: 1,
            origin: RouteOrigin::NLSR,
            cost: 100,
            flags: super::super::values::ROUTE_CAPTURE,
            expiration: Some(10_000),
        };
        golden(&route, "81106901016f01806a01646c01026d022710");
        golden(&Route { expiration: None, ..route.clone() }, "810c6901016f01806a01646c0102");
        let second =
            Route { face_id: 2, origin: RouteOrigin::APP, cost: 32, flags: 1, expiration: Some(5000) };
        let entry = RibEntry { name: name("ndn:/hello/world"), routes: [route, second].into() };
        golden(
            &entry,
            "8034070e080568656c6c6f0805776f726c64 81106901016f01806a01646c01026d022710 81106901026f01006a01206c01016d021388",
        );
    }

    #[test]
    fn strategy_choice_and_cs_info_are_as_published() {
        let choice = StrategyChoice {
            name: name("ndn:/hello/world"),
            strategy: name("ndn:/some/non/existing/strategy/name"),
        };
        golden(
            &choice,
            "8039070e080568656c6c6f0805776f726c646b2707250804736f6d6508036e6f6e08086578697374696e6708087374726174656779
             08046e616d65",
        );
        let info = CsInfo { capacity: 20177, flags: 2, entries: 5509, hits: 12951, misses: 28179 };
        golden(&info, "801383024ed16c01028702158581023297 82026e13");
    }

    #[test]
    fn filters_and_events_are_as_published() {
        let filter = FaceQueryFilter {
            face_id: Some(100),
            uri_scheme: Some("tcp4".into()),
            uri: Some("tcp4://192.0.2.1:6363".into()),
            local_uri: Some("tcp4://192.0.2.2:55555".into()),
            scope: Some(FaceScope::Local),
            persistency: Some(FacePersistency::OnDemand),
            link_type: Some(LinkType::MultiAccess),
        };
        golden(
            &filter,
            "96416901648304746370347215746370343a2f2f3139322e302e322e313a363336338116746370343a2f2f3139322e302e322e323a
             3535353535840101850101860101",
        );
        let event = FaceEventNotification {
            kind: FaceEventKind::Created,
            face_id: 20,
            uri: "tcp4://192.0.2.1:55555".into(),
            local_uri: "tcp4://192.0.2.2:6363".into(),
            scope: FaceScope::Local,
            persistency: FacePersistency::OnDemand,
            link_type: LinkType::MultiAccess,
            flags: 3,
        };
        golden(
            &event,
            "c041c101016901147216746370343a2f2f3139322e302e322e313a35353535358115746370343a2f2f3139322e302e322e323a3633
             36338401018501018601016c0103",
        );
    }

    #[test]
    fn a_value_without_a_meaning_is_refused() {
        let scope = FaceQueryFilter::parse(b"\x96\x03\x84\x01\x02");
        assert_eq!(scope, Err(WireError::Value { typ: 132, at: 2 }));
        let missing = NextHopRecord::parse(b"\x81\x03\x69\x01\x01");
        assert_eq!(missing, Err(WireError::Missing { typ: 106 }));
    }
}
