//! Names of all lengths go through all tables.

use crate::support::{Ask, Log, data_of};
use hash::scheme::Key;
use name::build::OwnedName;
use name::component::Component;
use name::ndn::Ndn;
use ndn::face::{Face, LinkType, Scope};
use ndn::fib::NextHop;
use ndn::forward::{Config, DropReason, Forwarder};
use ndn::time::Time;

#[test]
fn names_of_1_to_255_components_are_forwarded_and_longer_ones_refused() {
    let mut forwarder = Forwarder::new(Config::default(), &Key::VECTOR, 1);
    let [consumer, producer, other] = [0; 3].map(|_| {
        forwarder.add_face(Face::new(Scope::NonLocal, LinkType::PointToPoint)).expect("room for a face")
    });
    let now = Time::from_millis(1);
    let mut log = Log::default();
    let mut receive = |forwarder: &mut Forwarder, face, octets: &[u8]| {
        let done = forwarder.receive_octets(face, octets, now, &mut log);
        (log.0.drain(..).map(|sent| sent.face).collect::<Vec<_>>(), done)
    };
    let name_of = |count: usize| {
        let value = [b'x'];
        let first = [count as u8];
        let parts = (0..count).map(|at| Component::generic(if at == 0 { &first } else { &value }));
        OwnedName::<Ndn>::from_components(parts).expect("a name of at most 255 components")
    };
    for count in 1..=255 {
        let name = name_of(count);
        forwarder.add_route(&name.view(), NextHop { face: producer, cost: 0 });
        let asked = receive(&mut forwarder, consumer, &Ask::of(name.clone(), 1).build());
        assert_eq!(asked, (vec![producer], Ok(())), "{count}");
        let given = receive(&mut forwarder, producer, &data_of(&name, 0, b""));
        assert_eq!(given, (vec![consumer], Ok(())), "{count}");
        let again = receive(&mut forwarder, other, &Ask::of(name_of(count), 2).prefix().build());
        assert_eq!(again, (vec![other], Ok(())), "{count}: from the store");
    }
    // One component more than a name may have.
    let mut components = b"\x08\x01x".repeat(256);
    let mut octets = [&b"\x07\xfd\x03\x00"[..], &components].concat();
    octets.extend_from_slice(b"\x0a\x04\x00\x00\x00\x01");
    let interest = [&b"\x05\xfd\x03\x0a"[..], &octets].concat();
    assert_eq!(receive(&mut forwarder, consumer, &interest), (vec![], Err(DropReason::Malformed)));
    // And one that has as many as it may is well.
    components.truncate(3 * 255);
    let name = [&b"\x07\xfd\x02\xfd"[..], &components].concat();
    let interest = [&b"\x05\xfd\x03\x07"[..], &name, b"\x0a\x04\x00\x00\x00\x01"].concat();
    assert_eq!(receive(&mut forwarder, consumer, &interest).1, Ok(()));
}
