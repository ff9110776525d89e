//! Names of all lengths go through all tables.

use crate::support::{Ask, Log, data_of};
use hashlane_hash::scheme::Key;
use hashlane_name::build::OwnedName;
use hashlane_name::component::Component;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::{Interest, MAX_PACKET};
use hashlane_ndn_fw::face::{Face, LinkType, Scope};
use hashlane_ndn_fw::fib::NextHop;
use hashlane_ndn_fw::forward::{Config, DropReason, Forwarder};
use hashlane_ndn_fw::hashed::NameHasher;
use hashlane_ndn_fw::pit::{ByName, Pit as _};

#[test]
fn names_of_1_to_255_components_are_forwarded_and_longer_ones_refused() {
    let mut forwarder = Forwarder::new(Config::default(), &Key::VECTOR, 1);
    let [consumer, producer, other] = [0; 3].map(|_| {
        forwarder.add_face(Face::new(Scope::NonLocal, LinkType::PointToPoint)).expect("room for a face")
    });
    let now = Time::from_millis(1);
    let mut log = Log::default();
    let mut receive = |forwarder: &mut Forwarder, face, bytes: &[u8]| {
        let done = forwarder.receive_bytes(face, bytes, now, &mut log);
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
    let mut bytes = [&b"\x07\xfd\x03\x00"[..], &components].concat();
    bytes.extend_from_slice(b"\x0a\x04\x00\x00\x00\x01");
    let interest = [&b"\x05\xfd\x03\x0a"[..], &bytes].concat();
    assert_eq!(receive(&mut forwarder, consumer, &interest), (vec![], Err(DropReason::Malformed)));
    // And one that has as many as it may is well.
    components.truncate(3 * 255);
    let name = [&b"\x07\xfd\x02\xfd"[..], &components].concat();
    let interest = [&b"\x05\xfd\x03\x07"[..], &name, b"\x0a\x04\x00\x00\x00\x01"].concat();
    assert_eq!(receive(&mut forwarder, consumer, &interest).1, Ok(()));
}

/// An Interest and Data of a name of so many components of one letter. Neither is checked.
fn packets_of(count: usize) -> [Vec<u8>; 2] {
    let element = |typ: u8, value: &[u8]| {
        [&[typ, 253][..], &u16::try_from(value.len()).expect("a short packet").to_be_bytes(), value].concat()
    };
    let name = element(7, &b"\x08\x01x".repeat(count));
    let interest = element(5, &[&name[..], b"\x0a\x04\x00\x00\x00\x01"].concat());
    let data = element(6, &[&name[..], b"\x16\x03\x1b\x01\xc8\x17\x00"].concat());
    [interest, data]
}

#[test]
fn thousands_of_components_and_packets_beyond_the_limit_are_refused_and_counted() {
    let mut forwarder = Forwarder::new(Config::default(), &Key::VECTOR, 1);
    let face = Face::new(Scope::NonLocal, LinkType::PointToPoint);
    let face = forwarder.add_face(face).expect("room for a face");
    forwarder.add_route(&crate::support::uri("/").view(), NextHop { face, cost: 0 });
    let now = Time::from_millis(1);
    let mut log = Log::default();
    let mut dropped = |forwarder: &mut Forwarder, bytes: &[u8]| {
        forwarder.receive_bytes(face, bytes, now, &mut log).expect_err("a packet that is dropped")
    };
    for count in [256, 257, 1000, 2000, 2900] {
        for bytes in packets_of(count) {
            assert_eq!(dropped(&mut forwarder, &bytes), DropReason::Malformed, "{count}");
        }
    }
    for count in [3000, 10_000, 21_000] {
        for bytes in packets_of(count) {
            assert_eq!(dropped(&mut forwarder, &bytes), DropReason::TooLong, "{count}");
        }
    }
    let drops = &forwarder.counters().drops;
    assert_eq!((drops.value(DropReason::Malformed), drops.value(DropReason::TooLong)), (10, 6));
    assert_eq!(forwarder.faces().find(face).expect("the face").counters.in_drops.value(), 16);
    // The same packets with as many components as may be are well.
    let [interest, data] = packets_of(255);
    assert!(Interest::parse(&interest).is_ok() && hashlane_ndn::wire::Data::parse(&data).is_ok());
    assert!(forwarder.pit().is_empty() && forwarder.cs().is_empty());
}

#[test]
fn a_packet_of_as_many_bytes_as_may_be_is_forwarded_and_one_of_more_is_not() {
    let mut forwarder = Forwarder::new(Config::default(), &Key::VECTOR, 1);
    let [consumer, producer] = [0; 2].map(|_| {
        forwarder.add_face(Face::new(Scope::NonLocal, LinkType::PointToPoint)).expect("room for a face")
    });
    forwarder.add_route(&crate::support::uri("/").view(), NextHop { face: producer, cost: 0 });
    // A component of many bytes, and all besides it.
    let interest = |len: usize, nonce: Option<u32>| {
        let value = vec![if nonce.is_some() { b'x' } else { b'y' }; len];
        let name = OwnedName::<Ndn>::from_components([Component::generic(&value)]).expect("one component");
        Ask { nonce, ..Ask::of(name, 1) }.build()
    };
    let besides = interest(8000, Some(1)).len() - 8000;
    let now = Time::from_millis(1);
    for (bytes, nonce, sent, result) in [
        (MAX_PACKET, Some(1), 1, Ok(())),
        (MAX_PACKET + 1, Some(1), 0, Err(DropReason::TooLong)),
        // The Nonce that the forwarder puts in takes six bytes, too.
        (MAX_PACKET - 6, None, 1, Ok(())),
        (MAX_PACKET - 5, None, 0, Err(DropReason::TooLong)),
    ] {
        let packet = interest(bytes - besides + if nonce.is_none() { 6 } else { 0 }, nonce);
        assert_eq!(packet.len(), bytes);
        let mut log = Log::default();
        let done = forwarder.receive_bytes(consumer, &packet, now, &mut log);
        assert_eq!((log.0.len(), done), (sent, result), "{bytes} bytes");
        assert!(log.0.iter().all(|sent| sent.packet.len() <= MAX_PACKET));
    }
}

/// Entries compared by lookups in a PIT of these names: mean and maximum.
fn compared(names: &[OwnedName<Ndn>]) -> (f64, usize) {
    let mut hasher = NameHasher::new(&Key::VECTOR);
    let mut pit = ByName::default();
    let packets: Vec<Vec<u8>> = names.iter().map(|name| Ask::of(name.clone(), 1).build()).collect();
    for packet in &packets {
        let interest = Interest::parse(packet).expect("an Interest");
        pit.insert(&hasher.hash_name(&interest.name()), &interest, (), Time::from_millis(1));
    }
    let of = |packet: &Vec<u8>, hasher: &mut NameHasher| {
        let interest = Interest::parse(packet).expect("an Interest");
        let name = hasher.hash_name(&interest.name());
        assert!(pit.find(&name, &interest, &()).is_some());
        pit.compared(&name, &interest)
    };
    let compared: Vec<usize> = packets.iter().map(|packet| of(packet, &mut hasher)).collect();
    let most = compared.iter().copied().max().unwrap_or_default();
    (compared.iter().sum::<usize>() as f64 / compared.len() as f64, most)
}

#[test]
fn names_that_collide_in_a_hash_of_xors_are_spread_as_any_others() {
    // The XOR of the components' hashes is the same for all permutations, and pairs of equal components
    // cancel.
    let name = |parts: &[String]| {
        OwnedName::<Ndn>::from_components(parts.iter().map(|part| Component::generic(part.as_bytes())))
            .expect("a short name")
    };
    let letters: Vec<String> = ('a'..='g').map(String::from).collect();
    let permuted: Vec<OwnedName<Ndn>> = (0..5040)
        .map(|mut number| {
            let mut left = letters.clone();
            let parts: Vec<String> = (1..=7)
                .rev()
                .map(|count| {
                    let part = left.remove(number % count);
                    number /= count;
                    part
                })
                .collect();
            name(&parts)
        })
        .collect();
    let paired: Vec<OwnedName<Ndn>> =
        (0..5040).map(|number| name(&["x".to_owned(), number.to_string(), number.to_string()])).collect();
    let mut rng = hashlane_ndn_fw::strategy::Rng::new(1);
    let random: Vec<OwnedName<Ndn>> =
        (0..5040).map(|_| name(&[rng.next_u64().to_string(), rng.next_u64().to_string()])).collect();
    let (usual, most_usual) = compared(&random);
    assert!((1.0..1.01).contains(&usual) && most_usual <= 3, "{usual} {most_usual}");
    for flood in [permuted, paired] {
        let (mean, most) = compared(&flood);
        assert!((1.0..1.01).contains(&mean) && most <= 3, "{mean} of {usual}, {most} of {most_usual}");
    }
}
