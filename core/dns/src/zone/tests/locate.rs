//! Names that exist, and names that do not.

use super::*;

const A: &[u8] = &[192, 0, 2, 1];

#[test]
fn locates_names_and_closest_enclosers() {
    let zone = zone("Example", &[("a.b.c.Example", RecordType::A, A), ("x.Example", RecordType::A, A)]);
    for (queried, node, below) in [
        ("example", "example", 0),
        ("X.EXAMPLE", "x.example", 0),
        ("c.example", "c.example", 0),
        ("b.c.example", "b.c.example", 0),
        ("y.x.example", "x.example", 1),
        ("1.2.3.4.5.6.7.8.b.c.example", "b.c.example", 8),
        ("d.c.example", "c.example", 1),
        ("q.r.s.example", "example", 3),
    ] {
        let node = find(&zone, node);
        assert_eq!(locate(&zone, queried), Located { node, below, cut: None, dname: None }, "{queried}");
    }
    assert_eq!((zone.apex(), zone.serial()), (find(&zone, "example"), 7));
    assert_eq!(zone.name(find(&zone, "b.c.example")), name("b.c.Example"));
}

#[test]
fn locates_delegations_and_not_what_is_below() {
    let ns = name("ns.sub.example");
    let records = [
        ("sub.example", RecordType::NS, ns.as_bytes()),
        ("ns.sub.example", RecordType::A, A),
        ("deeper.sub.example", RecordType::NS, ns.as_bytes()),
    ];
    let zone = zone("example", &records);
    let node = find(&zone, "sub.example");
    for (queried, below) in [("sub.example", 0), ("ns.sub.example", 1), ("a.deeper.sub.example", 2)] {
        assert_eq!(locate(&zone, queried), Located { node, below, cut: Some(node), dname: None });
    }
    // The glue is one step from the name server.
    let server = zone.set(node, RecordType::NS).unwrap().records().next().unwrap().names[0].unwrap();
    assert!(zone.is_occluded(server) && zone.exists(server) && !zone.is_cut(server) && zone.is_cut(node));
    assert_eq!(zone.set(server, RecordType::A).unwrap().records().next().unwrap().before, A);
    assert_eq!(zone.locate_id(server).unwrap().cut, Some(node));
}
