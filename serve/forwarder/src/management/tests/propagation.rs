//! Prefixes that are registered at a gateway.

use super::*;
use crate::management::readvertise::RESTART;
use crate::management::{AdvertisedCounts, Identity, Propagation};
use hashlane_ndn::security::{Signed, Signer};
use hashlane_ndn::wire::DataBuilder;

const GATEWAY: u64 = 400;
const REFRESH: u64 = 25_000;
const RETRY_MIN: u64 = 50_000;
const RETRY_MAX: u64 = 150_000;
const TIMEOUT: u64 = 10_000;

fn identity(uri: &str, number: u8) -> Identity {
    let key = name(&format!("{uri}/KEY/{number}"));
    Identity::new(name(uri).view(), key.view(), Signer::ed25519(&[number; 32]))
}

fn propagation(identities: Vec<Identity>) -> Propagation {
    Propagation {
        identities,
        cost: 15,
        timeout: TIMEOUT,
        refresh: REFRESH,
        retry_min: RETRY_MIN,
        retry_max: RETRY_MAX,
    }
}

/// A forwarder with an application at face 300 and identities `/site`, `/site/user` and `/other/nrd`.
fn propagating() -> TestForwarder {
    let mut bench = TestForwarder::new();
    let identities = vec![identity("/site/user", 2), identity("/site", 1), identity("/other/nrd", 3)];
    bench.manager.set_propagation(propagation(identities), NOW);
    bench
}

/// One with a route to the gateway.
fn with_gateway() -> TestForwarder {
    let mut bench = propagating();
    bench.opens(GATEWAY);
    bench.routes("/localhop/nfd", GATEWAY);
    bench
}

/// A command that was sent: verb, prefix, name, number of its key.
struct Sent {
    text: String,
    name: OwnedName<Ndn>,
    face: u64,
}

impl TestForwarder {
    fn opens(&mut self, id: u64) {
        let remote = format!("udp4://192.0.2.{}:6363", id - 399);
        let face = FaceInfo { scope: FaceScope::NonLocal, ..face(id, &remote) };
        self.manager.face_up(face, at(self.time));
    }

    fn routes(&mut self, prefix: &str, face: u64) {
        self.ok("rib/register", &ControlParameters { face_id: Some(face), ..named(prefix) });
    }

    /// The commands sent at this time.
    fn propagates(&mut self) -> Vec<Sent> {
        assert!(self.manager.tick(at(self.time), &mut self.plane).is_empty());
        let packets = std::mem::take(&mut self.plane.interests).into_iter();
        packets.map(|packet| self.check_sent(&packet)).collect()
    }

    fn check_sent(&self, packet: &[u8]) -> Sent {
        let link = LpPacket::parse(packet).unwrap();
        let interest = Interest::parse(link.fragment).unwrap();
        let command = Command::parse(&interest).unwrap();
        assert_eq!((command.target.scope, command.target.module), (Scope::Localhop, &b"rib"[..]));
        assert_eq!(command.parameters.origin, Some(RouteOrigin::CLIENT));
        let registers = command.target.verb == b"register";
        assert_eq!(command.parameters.cost, registers.then_some(15));
        let prefix = command.parameters.name.clone().unwrap();
        // The key of the prefix has signed it.
        let number = match prefix.to_string().as_str() {
            "/site" => 1,
            "/other" => 3,
            other => other.len() as u8,
        };
        let signature = &command.signature;
        let signed = Signed { info: signature.info, pieces: signature.covered, value: signature.value };
        let [head, tail] = signed.pieces;
        assert!(Signer::ed25519(&[number; 32]).verifier().is_signature(&[head, tail], signed.value));
        let text = format!("{} {prefix}", String::from_utf8_lossy(command.target.verb));
        Sent { text, name: OwnedName::from(&interest.name()), face: link.header.next_hop_face.unwrap() }
    }

    fn gateway_answers(&mut self, sent: &Sent, code: u64) {
        let content = ControlResponse::new(code, "text").to_bytes();
        let data = DataBuilder::new(sent.name.view(), &content).build();
        assert!(self.manager.answered(&data, at(self.time), &mut self.plane).is_empty());
    }

    /// The commands sent at this time, each answered with this code.
    fn gateway(&mut self, code: u64) -> Vec<String> {
        let sent = self.propagates();
        sent.iter().for_each(|sent| self.gateway_answers(sent, code));
        let mut texts: Vec<String> = sent.into_iter().map(|sent| sent.text).collect();
        texts.sort();
        texts
    }

    fn propagated(&self) -> AdvertisedCounts {
        self.manager.advertised().find(|(destination, _)| *destination == "gateway").unwrap().1
    }
}

#[test]
fn the_shortest_identity_of_a_prefix_is_registered_while_an_application_has_a_route_below_it() {
    let mut bench = with_gateway();
    for prefix in ["/site/user/app", "/site/x", "/sitex", "/elsewhere", "/localhost/app", "/other"] {
        bench.routes(prefix, 300);
    }
    assert_eq!(bench.gateway(200), ["register /other", "register /site"]);
    // Routes to neighbours are not applications' routes.
    bench.routes("/site/remote", GATEWAY);
    assert_eq!((bench.gateway(200), bench.propagated().advertised), (vec![], 2));
    bench.time = REFRESH;
    assert_eq!(bench.gateway(200), ["register /other", "register /site"]);
    bench.ok("rib/unregister", &named("/site/user/app"));
    bench.ok("rib/unregister", &named("/other"));
    assert_eq!(bench.gateway(200), ["unregister /other"]);
    bench.ok("rib/unregister", &named("/site/x"));
    assert_eq!(bench.gateway(200), ["unregister /site"]);
    bench.time = 3 * REFRESH;
    assert_eq!((bench.gateway(200), bench.propagated()), (vec![], AdvertisedCounts::default()));
}

#[test]
fn prefixes_of_an_application_that_ends_are_withdrawn() {
    let mut bench = with_gateway();
    bench.manager.face_up(face(301, "fd://21"), NOW);
    bench.routes("/site/a", 301);
    bench.routes("/site/a", 300);
    assert_eq!(bench.gateway(200), ["register /site"]);
    bench.manager.face_down(301, NOW, &mut bench.plane);
    assert_eq!(bench.gateway(200), [""; 0]);
    bench.manager.face_down(300, NOW, &mut bench.plane);
    assert_eq!(bench.gateway(200), ["unregister /site"]);
}

#[test]
fn a_refused_command_is_sent_again_after_pauses_that_grow_up_to_a_limit() {
    let mut bench = with_gateway();
    bench.routes("/site/a", 300);
    assert_eq!(bench.gateway(403), ["register /site"]);
    for pause in [RETRY_MIN, 2 * RETRY_MIN, RETRY_MAX, RETRY_MAX] {
        bench.time += pause - 1;
        assert_eq!(bench.gateway(403), [""; 0]);
        bench.time += 1;
        assert_eq!(bench.gateway(403), ["register /site"]);
    }
    bench.time += RETRY_MAX;
    let sent = bench.propagates();
    assert_eq!(
        (sent.len(), bench.propagated().pending, bench.manager.deadline()),
        (1, 1, Some(at(bench.time + TIMEOUT).monotonic))
    );
    // No answer.
    bench.time += TIMEOUT;
    assert_eq!(bench.gateway(200), [""; 0]);
    let counts = bench.propagated();
    assert_eq!((counts.refused, counts.unanswered, counts.waiting, counts.pending), (5, 1, 1, 0));
    bench.time += RETRY_MAX;
    assert_eq!((bench.gateway(200), bench.propagated().advertised), (vec!["register /site".into()], 1));
    bench.time += REFRESH;
    assert_eq!(bench.gateway(403), ["register /site"]);
    bench.time += RETRY_MIN;
    assert_eq!(bench.gateway(200), ["register /site"]);
}

#[test]
fn all_prefixes_are_registered_when_the_route_to_the_gateway_comes_back() {
    let mut bench = with_gateway();
    bench.routes("/site/a", 300);
    assert_eq!(bench.gateway(200), ["register /site"]);
    bench.manager.face_down(GATEWAY, NOW, &mut bench.plane);
    bench.routes("/other/a", 300);
    assert_eq!((bench.gateway(200), bench.propagated().waiting), (vec![], 2));
    bench.time = RESTART;
    bench.opens(GATEWAY + 1);
    bench.routes("/localhop/nfd", GATEWAY + 1);
    assert_eq!(bench.gateway(200), ["register /other", "register /site"]);
    // Its connection was lost, and works again.
    bench.time += RESTART;
    bench.manager.face_link(GATEWAY + 1, false, at(bench.time));
    assert_eq!(bench.gateway(200), [""; 0]);
    bench.manager.face_link(GATEWAY + 1, true, at(bench.time));
    assert_eq!(bench.gateway(200), ["register /other", "register /site"]);
}

#[test]
fn the_gateway_is_the_neighbour_of_the_longest_route_and_then_of_the_lowest_cost() {
    let mut bench = propagating();
    bench.routes("/site/a", 300);
    // A group of neighbours, and an application, are no gateways.
    let group = FaceInfo {
        scope: FaceScope::NonLocal,
        link_type: LinkType::MultiAccess,
        ..face(390, "udp4://224.0.23.170:56363")
    };
    bench.manager.face_up(group, NOW);
    bench.routes("/localhop/nfd", 390);
    bench.routes("/", 300);
    assert_eq!(bench.gateway(200), [""; 0]);
    for (prefix, face, cost, expected) in
        [("/", 400, 9, 400), ("/", 401, 5, 401), ("/localhop", 402, 9, 402), ("/localhop/nfd", 403, 9, 403)]
    {
        bench.time += RESTART;
        bench.opens(face);
        bench.ok(
            "rib/register",
            &ControlParameters { face_id: Some(face), cost: Some(cost), ..named(prefix) },
        );
        let sent = bench.propagates();
        assert_eq!(sent.iter().map(|sent| sent.face).collect::<Vec<_>>(), [expected]);
        bench.gateway_answers(&sent[0], 200);
    }
    bench.time += RESTART;
    bench.ok("rib/unregister", &ControlParameters { face_id: Some(403), ..named("/localhop/nfd") });
    assert_eq!(bench.propagates()[0].face, 402);
}

#[test]
fn only_those_with_all_rights_route_the_prefix_of_the_gateway_and_to_neighbours_only() {
    let mut bench = propagating();
    bench.opens(GATEWAY);
    let to = |face, prefix: &str| ControlParameters { face_id: Some(face), ..named(prefix) };
    bench.ok("rib/register", &to(GATEWAY, "/localhop/nfd"));
    bench.ok("rib/unregister", &to(GATEWAY, "/localhop/nfd"));
    bench.ok("fib/add-nexthop", &to(GATEWAY, "/localhop/nfd"));
    for (face, prefix) in
        [(300, "/localhop/nfd"), (GATEWAY, "/localhop/nfd/rib"), (GATEWAY, "/localhost/nfd")]
    {
        assert_eq!(bench.refused("rib/register", &to(face, prefix)).0, 403, "{face} {prefix}");
    }
    bench.from.peer = Peer::User { uid: 1000, over: Over::Unix };
    assert_eq!(bench.refused("rib/register", &named("/localhop/nfd")).0, 403);
}

#[test]
fn changed_identities_are_registered_and_removed_ones_withdrawn_by_their_own_key() {
    let mut bench = with_gateway();
    bench.routes("/site/a", 300);
    bench.routes("/other/a", 300);
    assert_eq!(bench.gateway(200), ["register /other", "register /site"]);
    let kept = vec![identity("/other/nrd", 3)];
    bench.manager.set_propagation(propagation(kept.clone()), NOW);
    assert_eq!(bench.gateway(200), ["register /other", "unregister /site"]);
    bench.manager.set_propagation(propagation(kept), NOW);
    assert_eq!(bench.gateway(200), [""; 0], "nothing has changed");
    bench.manager.set_propagation(propagation(vec![]), NOW);
    assert_eq!(bench.gateway(200), ["unregister /other"]);
    bench.gateway(200);
    assert_eq!(bench.manager.advertised().count(), 0);
    bench.manager.set_propagation(propagation(vec![identity("/site", 1)]), NOW);
    assert_eq!(bench.gateway(200), ["register /site"], "routes of before");
}

#[test]
fn commands_of_many_identities_wait_for_few_answers_at_once() {
    let mut bench = with_gateway();
    let identities = (20..40).map(|number| identity(&format!("/{}", "a".repeat(number)), number as u8 + 1));
    bench.manager.set_propagation(propagation(identities.collect()), NOW);
    for number in 20..40 {
        bench.routes(&format!("/{}/app", "a".repeat(number)), 300);
    }
    let first = bench.propagates();
    assert_eq!((first.len(), bench.propagates().len(), bench.propagated().pending), (8, 0, 8));
    assert_eq!(bench.manager.deadline(), Some(NOW.monotonic + TIMEOUT));
    first.iter().for_each(|sent| bench.gateway_answers(sent, 200));
    assert_eq!((bench.gateway(200).len(), bench.gateway(200).len()), (8, 4));
    assert_eq!(bench.propagated().advertised, 20);
}

#[test]
fn prefixes_of_one_user_leave_room_for_those_of_others_under_one_identity() {
    let mut bench = with_gateway();
    bench.manager.owners.insert(300, hashlane_table::share::Owner::User(1000));
    for number in 0..600 {
        bench.routes(&format!("/site/{number}"), 300);
    }
    assert_eq!(bench.gateway(200), ["register /site"]);
    assert_eq!((bench.propagated().left_out, bench.propagated().advertised), (88, 1));
    bench.manager.face_down(300, NOW, &mut bench.plane);
    while bench.gateway(200).is_empty() {}
    assert_eq!(bench.propagated(), AdvertisedCounts { left_out: 88, ..AdvertisedCounts::default() });
}

#[test]
fn commands_have_the_time_of_a_clock_that_was_set_back() {
    let mut bench = with_gateway();
    bench.routes("/site/a", 300);
    // The clock was a day ahead, and is set right.
    let day = 86_400_000;
    let signed = |bench: &mut TestForwarder, now: Now| {
        bench.manager.tick(now, &mut bench.plane);
        let packet = bench.plane.interests.pop().expect("a command");
        let link = LpPacket::parse(&packet).unwrap();
        let sent = bench.check_sent(&packet);
        bench.gateway_answers(&sent, 200);
        Command::parse(&Interest::parse(link.fragment).unwrap()).unwrap().signature.time.unwrap()
    };
    let ahead = Now { unix: NOW.unix + day, ..NOW };
    assert_eq!(signed(&mut bench, ahead), ahead.unix);
    bench.time = REFRESH;
    assert_eq!(signed(&mut bench, at(REFRESH)), at(REFRESH).unix);
    // A correction by seconds: times rise all the same.
    bench.time = 2 * REFRESH;
    let corrected = Now { unix: at(REFRESH).unix - 5000, ..at(2 * REFRESH) };
    assert_eq!(signed(&mut bench, corrected), at(REFRESH).unix + 1);
}
