//! Faces of links: over Ethernet, and of multicast groups.

use super::*;
use hashlane_table::share::Owner;

fn create(uri: &str, local: Option<&str>) -> ControlParameters {
    ControlParameters { uri: Some(uri.into()), local_uri: local.map(str::to_owned), ..Default::default() }
}

#[test]
fn ethernet_faces_are_made_for_one_host_on_one_interface() {
    let mut bench = TestForwarder::new();
    let host = "ether://[02:00:00:00:00:09]";
    for (parameters, why) in [
        (create(host, None), "requires a LocalUri with dev:// scheme"),
        (create(host, Some("udp4://192.0.2.1:6363")), "requires a LocalUri with dev:// scheme"),
        (create("ether://[01:00:5e:00:17:aa]", Some("dev://eth0")), "Cannot create multicast Ethernet faces"),
        (create("ether://[00:00:00:00:00:00]", Some("dev://eth0")), "Cannot create multicast Ethernet faces"),
        (ControlParameters { mtu: Some(63), ..create(host, Some("dev://eth0")) }, "cannot be less than 64"),
        (
            create("dev://eth0", None),
            "Unsupported protocol dev: faces are made of udp4, udp6, tcp4, tcp6, ether",
        ),
    ] {
        let (code, text) = bench.refused("faces/create", &parameters);
        assert!(code == 406 && text.contains(why), "{parameters:?}: {code} {text}");
    }
    let parameters = ControlParameters { mtu: Some(1400), ..create(host, Some("dev://eth0")) };
    let packet = command(Scope::Localhost, "faces/create", &parameters, None);
    assert_eq!(bench.send(&packet), [[0; 0]; 0]);
    assert_eq!(bench.plane.asked, ["create [2, 0, 0, 0, 0, 9] on eth0"]);
    let mut made = face(301, host);
    made.local = "dev://eth0".parse().unwrap();
    bench.manager.face_up(made, NOW);
    // The same host on another interface is another face.
    assert_eq!(bench.refused("faces/create", &create(host, Some("dev://eth0"))).0, 409);
    let other = command(Scope::Localhost, "faces/create", &create(host, Some("dev://eth1")), None);
    assert_eq!(bench.send(&other), [[0; 0]; 0]);
    let options = ControlParameters {
        face_id: Some(301),
        mtu: Some(1300),
        persistency: Some(FacePersistency::Permanent),
        ..Default::default()
    };
    assert_eq!(bench.ok("faces/update", &options).mtu, Some(1300));
}

#[test]
fn faces_of_groups_are_found_by_their_uris_and_stay_as_they_are() {
    let mut bench = TestForwarder::new();
    let group = "udp4://224.0.23.170:56363";
    assert_eq!(bench.refused("faces/create", &create(group, None)).0, 406, "no interface has it");
    for (id, local) in [(301, "udp4://192.0.2.1:56363"), (302, "udp4://198.51.100.1:56363")] {
        if id == 302 {
            assert_eq!(bench.refused("faces/create", &create(group, None)).0, 409, "the only one");
        }
        let mut info = face(id, group);
        info.local = local.parse().unwrap();
        (info.scope, info.persistency) = (FaceScope::NonLocal, FacePersistency::Permanent);
        info.link_type = LinkType::MultiAccess;
        bench.manager.face_up(info, NOW);
    }
    assert_eq!(bench.refused("faces/create", &create(group, None)).0, 406, "either could be meant");
    let (code, _) = bench.refused("faces/create", &create(group, Some("udp4://198.51.100.1:56363")));
    assert_eq!(code, 409);
    let faces: Vec<FaceStatus> = bench.records("faces/list");
    let types: Vec<_> = faces.iter().filter(|face| face.uri == group).map(|face| face.link_type).collect();
    assert_eq!(types, [LinkType::MultiAccess; 2]);
    let mut options = ControlParameters { face_id: Some(301), ..Default::default() };
    options.persistency = Some(FacePersistency::OnDemand);
    assert_eq!(bench.refused("faces/update", &options).0, 409);
    options.persistency = Some(FacePersistency::Permanent);
    bench.ok("faces/update", &options);
}

#[test]
fn neighbours_on_a_link_have_the_rights_of_other_neighbours() {
    let mut bench = TestForwarder::new();
    bench.manager.config.access.localhop = true;
    bench.from.scope = FaceScope::NonLocal;
    let ends = "ether://[02:00:00:00:00:09] on dev://eth0".into();
    bench.from.peer = Peer::Link { ends, owner: Owner::of_ethernet([2, 0, 0, 0, 0, 9]) };
    let key = Some(("/op/KEY/1", NOW.unix, &b"good"[..]));
    let packet = command(Scope::Localhop, "rib/register", &named("/app"), key);
    assert_eq!(response(&packet, &bench.send(&packet)).code, 200);
    let packet = command(Scope::Localhop, "rib/register", &named("/app"), None);
    let refused = response(&packet, &bench.send(&packet));
    assert!(refused.code == 403 && refused.text.contains("ether://[02:00:00:00:00:09]"), "{}", refused.text);
}
