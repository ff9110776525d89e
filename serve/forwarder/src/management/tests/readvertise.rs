//! Prefixes that NLSR is asked to advertise.

use super::*;
use crate::management::readvertise::{RESTART, Timing};
use hashlane_ndn::wire::DataBuilder;

const REFRESH: u64 = Timing::NLSR.refresh;
const RETRY_MIN: u64 = Timing::NLSR.retry_min;
const LIFETIME: u64 = Timing::NLSR.lifetime;

fn client(prefix: &str) -> ControlParameters {
    ControlParameters { origin: Some(RouteOrigin::CLIENT), ..named(prefix) }
}

/// A forwarder with an application at face 300, and NLSR at face 301.
fn with_nlsr() -> TestForwarder {
    let mut bench = TestForwarder::new();
    bench.manager.set_readvertise(true, NOW);
    bench.manager.face_up(face(301, "fd://21"), NOW);
    bench.ok("rib/register", &ControlParameters { face_id: Some(301), ..named("/localhost/nlsr") });
    bench
}

impl TestForwarder {
    /// Verb and prefix of the command sent at this time, with its name.
    fn sent(&mut self) -> Option<(String, OwnedName<Ndn>)> {
        assert!(self.manager.tick(at(self.time), &mut self.plane).is_empty());
        let packet = self.plane.interests.pop()?;
        assert!(self.plane.interests.is_empty(), "one at a time");
        let interest = Interest::parse(&packet).unwrap();
        let parts: Vec<_> = interest.name().components().map(|part| part.value.to_vec()).collect();
        assert_eq!(parts[..3], [b"localhost".to_vec(), b"nlsr".to_vec(), b"rib".to_vec()]);
        let parameters = ControlParameters::parse(&parts[4]).unwrap();
        let verb = String::from_utf8(parts[3].clone()).unwrap();
        Some((format!("{verb} {}", parameters.name.unwrap()), OwnedName::from(&interest.name())))
    }

    /// Verb and prefix of the command sent at this time, which NLSR answers.
    fn answers(&mut self, code: u64) -> Option<String> {
        let (sent, name) = self.sent()?;
        let content = ControlResponse::new(code, "text").to_bytes();
        let data = DataBuilder::new(name.view(), &content).build();
        assert!(self.manager.answered(&data, at(self.time), &mut self.plane).is_empty());
        Some(sent)
    }

    fn counted(&self) -> (usize, usize, u64) {
        let (_, counts) = self.manager.advertised().next().unwrap();
        (counts.advertised, counts.waiting, counts.left_out)
    }
}

#[test]
fn a_prefix_is_advertised_while_a_client_has_a_route_and_refreshed() {
    let mut bench = with_nlsr();
    bench.ok("rib/register", &client("/a"));
    bench.ok("rib/register", &ControlParameters { face_id: Some(301), ..client("/a") });
    bench.ok("rib/register", &named("/app"));
    bench.ok("rib/register", &client("/localhop/b"));
    assert_eq!(bench.answers(200).as_deref(), Some("register /a"));
    assert_eq!((bench.answers(200), bench.counted()), (None, (1, 0, 0)));
    bench.time = REFRESH;
    assert_eq!(bench.answers(200).as_deref(), Some("register /a"));
    bench.ok("rib/unregister", &client("/a"));
    assert_eq!(bench.answers(200), None);
    bench.ok("rib/unregister", &ControlParameters { face_id: Some(301), ..client("/a") });
    assert_eq!(bench.answers(200).as_deref(), Some("unregister /a"));
    bench.time = 3 * REFRESH;
    assert_eq!((bench.answers(200), bench.counted()), (None, (0, 0, 0)));
}

#[test]
fn a_command_that_is_refused_or_not_answered_is_sent_again_after_longer_pauses() {
    let mut bench = with_nlsr();
    bench.ok("rib/register", &client("/a"));
    assert_eq!(bench.answers(403).as_deref(), Some("register /a"));
    bench.time = RETRY_MIN - 1;
    assert_eq!(bench.answers(200), None);
    bench.time = RETRY_MIN;
    assert!(bench.sent().is_some());
    bench.time += LIFETIME;
    assert_eq!(bench.sent(), None);
    bench.time += 2 * RETRY_MIN - 1;
    assert_eq!(bench.sent(), None);
    bench.time += 1;
    bench.manager.tick(at(bench.time), &mut bench.plane);
    let interest = bench.plane.interests.pop().expect("a command");
    bench.manager.answered(&nack(&interest, NackReason::NO_ROUTE), at(bench.time), &mut bench.plane);
    bench.time += 4 * RETRY_MIN;
    assert_eq!((bench.answers(200).is_some(), bench.counted()), (true, (1, 0, 0)));
}

#[test]
fn a_route_that_goes_before_the_answer_is_withdrawn_after_it() {
    let mut bench = with_nlsr();
    bench.ok("rib/register", &client("/a"));
    let (_, name) = bench.sent().expect("a command");
    bench.ok("rib/unregister", &client("/a"));
    assert_eq!(bench.sent(), None);
    let content = ControlResponse::new(200, "OK").to_bytes();
    let data = DataBuilder::new(name.view(), &content).build();
    bench.manager.answered(&data, at(bench.time), &mut bench.plane);
    assert_eq!(bench.answers(200).as_deref(), Some("unregister /a"));
}

#[test]
fn all_prefixes_are_advertised_when_nlsr_comes_back() {
    let mut bench = with_nlsr();
    bench.ok("rib/register", &client("/a"));
    bench.ok("rib/register", &client("/b"));
    assert!(bench.answers(200).is_some() && bench.answers(200).is_some());
    bench.manager.face_down(301, at(0), &mut bench.plane);
    bench.ok("rib/unregister", &client("/a"));
    bench.ok("rib/register", &client("/c"));
    assert_eq!((bench.answers(200), bench.counted()), (None, (0, 2, 0)));
    bench.time = RESTART;
    bench.manager.face_up(face(302, "fd://22"), at(bench.time));
    bench.ok("rib/register", &ControlParameters { face_id: Some(302), ..named("/localhost/nlsr") });
    let sent: Vec<_> = std::iter::from_fn(|| bench.answers(200)).collect();
    assert_eq!((sent, bench.counted()), (vec!["register /b".into(), "register /c".into()], (2, 0, 0)));
}

#[test]
fn prefixes_of_one_user_leave_room_for_those_of_others() {
    let mut bench = with_nlsr();
    bench.manager.owners.insert(300, hashlane_table::share::Owner::User(1000));
    for number in 0..600 {
        bench.ok("rib/register", &client(&format!("/a/{number}")));
    }
    let _ = bench.sent();
    assert_eq!(bench.counted(), (0, 512, 88));
    bench.manager.owners.clear();
    for number in 0..4000 {
        bench.ok("rib/register", &client(&format!("/b/{number}")));
    }
    let _ = bench.sent();
    assert_eq!(bench.counted(), (0, 4096, 88 + 416));
}

#[test]
fn routes_made_before_the_setting_are_advertised_after_it() {
    let mut bench = TestForwarder::new();
    bench.manager.face_up(face(301, "fd://21"), NOW);
    bench.ok("rib/register", &ControlParameters { face_id: Some(301), ..named("/localhost/nlsr") });
    bench.ok("rib/register", &client("/a"));
    assert_eq!(bench.sent(), None);
    bench.manager.set_readvertise(true, NOW);
    assert_eq!(bench.answers(200).as_deref(), Some("register /a"));
    bench.manager.set_readvertise(false, NOW);
    bench.ok("rib/register", &client("/b"));
    assert_eq!(bench.sent(), None);
}
