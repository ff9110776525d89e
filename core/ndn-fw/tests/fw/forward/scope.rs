//! Names that stay on a host, or on it and the next.

use crate::rig::Rig;
use crate::support::{ask, data};
use hashlane_ndn::wire::{LpHeader, NackReason};
use hashlane_ndn_fw::face::{Face, FaceId, LinkType, Scope};
use hashlane_ndn_fw::forward::DropReason;

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
    rig.route("/", outside, 0);
    rig.route("/localhost", outside, 0);
    assert_eq!(rig.asks(app, &ask("/localhost/y", 5)), [], "nor does a shorter route lead out");
    rig.route("/localhostess", outside, 0);
    assert_eq!(rig.asks(app, &ask("/localhostess", 4)), [outside], "that is another name");
    let header = LpHeader { nack: Some(NackReason::NO_ROUTE), ..LpHeader::default() };
    let bytes = ask("/localhost/x/1", 2).build();
    let (sent, done) = rig.try_take(outside, &crate::rig::packet(header, &bytes));
    assert_eq!((sent, done), (vec![], Err(DropReason::Scope)));
}

#[test]
fn only_the_management_answers_for_its_names() {
    let mut rig = Rig::new();
    let prefix = crate::support::uri("/localhost/nfd");
    rig.forwarder.add_management(Face::new(Scope::Local, LinkType::PointToPoint), &[prefix.view()]);
    let (victim, consumer, producer) = (rig.app(), rig.app(), rig.app());
    rig.route("/", producer, 0);
    // Interests for a shorter name, or with a hint, lead to an application, whose answer would be cached.
    assert_eq!(rig.asks(consumer, &ask("/localhost", 1).prefix()), [producer]);
    assert_eq!(rig.asks(consumer, &ask("/localhost/nfd/cs/info", 2).prefix().hint("/hint")), [producer]);
    for name in ["/localhost/nfd/status/general/1/0", "/localhost/nfd/cs/info/1/0"] {
        assert_eq!(rig.drops(producer, &data(name, 3_600_000)), DropReason::Scope);
    }
    for name in ["/localhost/nfd/status/general", "/localhost/nfd/cs/info"] {
        assert_eq!(rig.asks(victim, &ask(name, 3).prefix().fresh()), [FaceId::MANAGEMENT]);
    }
    assert_eq!(
        rig.gives(producer, &data("/localhost/nfdx/1", 0)),
        [(consumer, vec![])],
        "that is another name"
    );
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
