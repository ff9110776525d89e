//! Names that stay on a host, or on it and the next.

use crate::rig::Rig;
use crate::support::{ask, data};
use ndn::forward::DropReason;
use ndn::wire::{LpHeader, NackReason};

#[test]
fn localhost_stays_on_the_host() {
    let mut rig = Rig::new();
    let (app, service) = (rig.app(), rig.app());
    let [outside] = rig.faces();
    rig.route("/localhost/x", outside, 1);
    assert_eq!(rig.drops(outside, &ask("/localhost/x/1", 1).build()), DropReason::Scope);
    assert_eq!(rig.drops(outside, &ask("/localhost", 1).prefix().build()), DropReason::Scope);
    assert_eq!(rig.drops(outside, &data("/localhost/x/1", 0)), DropReason::Scope);
    assert_eq!(rig.asks(app, &ask("/localhost/x/1", 2)), [], "there is only a way out");
    rig.route("/localhost/x", service, 0);
    assert_eq!(rig.asks(app, &ask("/localhost/x/2", 3)), [service]);
    assert_eq!(rig.gives(service, &data("/localhost/x/2", 0)), [(app, vec![])]);
    rig.route("/localhostess", outside, 0);
    assert_eq!(rig.asks(app, &ask("/localhostess", 4)), [outside], "that is another name");
    let header = LpHeader { nack: Some(NackReason::NO_ROUTE), ..LpHeader::default() };
    let octets = ask("/localhost/x/1", 2).build();
    let (sent, done) = rig.try_take(outside, &crate::rig::packet(header, &octets));
    assert_eq!((sent, done), (vec![], Err(DropReason::Scope)));
}

#[test]
fn a_hint_does_not_take_localhost_out() {
    let mut rig = Rig::new();
    let app = rig.app();
    let [outside] = rig.faces();
    rig.route("/hint", outside, 1);
    assert_eq!(rig.asks(app, &ask("/localhost/x/1", 1).hint("/hint")), []);
    let header = LpHeader { next_hop_face: Some(outside.0.into()), ..LpHeader::default() };
    rig.local_fields(app);
    assert_eq!(rig.asks_with(app, header, &ask("/localhost/x/2", 2)), []);
}

#[test]
fn localhop_goes_one_hop() {
    for strategy in ["best-route", "multicast", "asf", "random"] {
        let mut rig = Rig::new();
        rig.strategy("/", strategy);
        let (app, service) = (rig.app(), rig.app());
        let [neighbour, next] = rig.faces();
        rig.route("/localhop/x", next, 1);
        assert_eq!(rig.asks(app, &ask("/localhop/x/1", 1)), [next], "{strategy}: from here to the next host");
        let back = rig.take(neighbour, LpHeader::default(), &ask("/localhop/x/2", 2).build());
        assert_eq!(
            back[0].nack,
            Some(NackReason::NO_ROUTE),
            "{strategy}: not from one host to the next but one"
        );
        rig.route("/localhop/x", service, 9);
        assert_eq!(rig.asks(neighbour, &ask("/localhop/x/3", 3)), [service], "{strategy}");
        assert_eq!(rig.gives(service, &data("/localhop/x/3", 0)), [(neighbour, vec![])], "{strategy}");
    }
}
