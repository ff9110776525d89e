//! One forwarder, its faces, and a clock.

use crate::support::{Ask, Log, Sent, check};
use hashlane_hash::scheme::Key;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::{LpHeader, LpPacket, NackReason};
use hashlane_ndn_fw::face::{Face, FaceId, LinkType, Scope};
use hashlane_ndn_fw::fib::NextHop;
use hashlane_ndn_fw::forward::{Config, DropReason, Forwarder};
use hashlane_ndn_fw::pit::{ByName, Pit};
use hashlane_ndn_fw::strategy::Strategy;
use hashlane_table::share::Holder;

pub struct Rig<P: Pit = ByName> {
    pub forwarder: Forwarder<P>,
    pub now: Time,
}

/// A packet with a header.
pub fn packet<'a>(header: LpHeader<'a>, fragment: &'a [u8]) -> LpPacket<'a> {
    LpPacket { header, fragment }
}

impl Rig {
    pub fn new() -> Self {
        Self::with(Config::default())
    }

    pub fn with(config: Config) -> Self {
        Self::of(config, ByName::default())
    }
}

impl<P: Pit> Rig<P> {
    pub fn of(config: Config, pit: P) -> Self {
        let forwarder = Forwarder::with_pit(config, &Key::VECTOR, 7, pit);
        Self { forwarder, now: Time::from_millis(1000) }
    }

    /// A face to another host.
    pub fn face(&mut self) -> FaceId {
        self.face_of(Scope::NonLocal, LinkType::PointToPoint)
    }

    /// Several faces to other hosts.
    pub fn faces<const N: usize>(&mut self) -> [FaceId; N] {
        core::array::from_fn(|_| self.face())
    }

    /// A face to an application.
    pub fn app(&mut self) -> FaceId {
        self.face_of(Scope::Local, LinkType::PointToPoint)
    }

    pub fn face_of(&mut self, scope: Scope, link: LinkType) -> FaceId {
        self.forwarder.add_face(Face::new(scope, link)).expect("room for a face")
    }

    /// A face of another holder of shares.
    pub fn face_of_holder(&mut self, holder: u32, scope: Scope) -> FaceId {
        let mut face = Face::new(scope, LinkType::PointToPoint);
        face.holder = Holder::new(holder, scope == Scope::NonLocal);
        self.forwarder.add_face(face).expect("room for a face")
    }

    pub fn local_fields(&mut self, face: FaceId) {
        self.forwarder.face_mut(face).expect("a face").local_fields = true;
    }

    pub fn route(&mut self, prefix: &str, face: FaceId, cost: u64) {
        self.forwarder.add_route(&crate::support::uri(prefix).view(), NextHop { face, cost });
    }

    pub fn strategy(&mut self, prefix: &str, strategy: &str) {
        let name = crate::support::uri(&format!("/localhost/nfd/strategy/{strategy}"));
        let strategy = Strategy::from_name(name.view()).expect("a strategy");
        self.forwarder.set_strategy(&crate::support::uri(prefix).view(), strategy);
    }

    /// Receives a packet, which may be dropped.
    pub fn try_take(&mut self, face: FaceId, packet: &LpPacket<'_>) -> (Vec<Sent>, Result<(), DropReason>) {
        let mut log = Log::default();
        let done = self.forwarder.receive(face, packet, self.now, &mut log);
        check(&self.forwarder);
        (log.0, done)
    }

    /// Receives a packet, which is not dropped.
    pub fn take(&mut self, face: FaceId, header: LpHeader<'_>, bytes: &[u8]) -> Vec<Sent> {
        let (sent, done) = self.try_take(face, &packet(header, bytes));
        assert_eq!(done, Ok(()));
        sent
    }

    /// Receives an Interest; returns the faces that it is sent to.
    pub fn asks(&mut self, face: FaceId, ask: &Ask) -> Vec<FaceId> {
        self.asks_with(face, LpHeader::default(), ask)
    }

    pub fn asks_with(&mut self, face: FaceId, header: LpHeader<'_>, ask: &Ask) -> Vec<FaceId> {
        let sent = self.take(face, header, &ask.build());
        sent.iter()
            .map(|sent| {
                assert_eq!((sent.brief().1, sent.nack), ("interest", None));
                assert!(sent.token.is_empty(), "a token that went on");
                sent.face
            })
            .collect()
    }

    /// Receives Data; returns the faces that it is sent to, with the tokens.
    pub fn gives(&mut self, face: FaceId, data: &[u8]) -> Vec<(FaceId, Vec<u8>)> {
        self.gives_with(face, LpHeader::default(), data)
    }

    pub fn gives_with(&mut self, face: FaceId, header: LpHeader<'_>, data: &[u8]) -> Vec<(FaceId, Vec<u8>)> {
        let mut faces: Vec<_> = self
            .take(face, header, data)
            .into_iter()
            .map(|sent| {
                assert_eq!(sent.packet, data);
                (sent.face, sent.token)
            })
            .collect();
        faces.sort();
        faces
    }

    /// Receives a Nack; returns the faces that get a Nack, with the reasons.
    pub fn nacks(&mut self, face: FaceId, reason: NackReason, ask: &Ask) -> Vec<(FaceId, NackReason)> {
        let header = LpHeader { nack: Some(reason), ..LpHeader::default() };
        let sent = self.take(face, header, &ask.build());
        sent.iter().map(|sent| (sent.face, sent.nack.expect("a Nack"))).collect()
    }

    /// Receives an Interest that is dropped; returns the reason, and the reason in the Nack to its sender.
    pub fn refuses(&mut self, face: FaceId, ask: &Ask) -> (DropReason, Option<NackReason>) {
        let bytes = ask.build();
        let (sent, done) = self.try_take(face, &packet(LpHeader::default(), &bytes));
        assert!(sent.iter().all(|sent| sent.face == face && sent.packet == bytes));
        (done.expect_err("a packet that is dropped"), sent.first().map(|sent| sent.nack.expect("a Nack")))
    }

    /// Receives bytes that are dropped without a packet sent; returns the reason.
    pub fn drops(&mut self, face: FaceId, bytes: &[u8]) -> DropReason {
        let (sent, done) = self.try_take(face, &packet(LpHeader::default(), bytes));
        assert!(sent.is_empty());
        done.expect_err("a packet that is dropped")
    }

    /// Advances the time by this many milliseconds.
    pub fn passes(&mut self, millis: u64) {
        self.now = self.now.after_millis(millis);
        self.forwarder.handle_timeout(self.now);
        check(&self.forwarder);
    }

    /// Advances the time by this many milliseconds, one at a time; returns the retries that are sent.
    pub fn retries(&mut self, millis: u64) -> Vec<Sent> {
        let mut log = Log::default();
        for _ in 0..millis {
            self.now = self.now.after_millis(1);
            self.forwarder.handle_retries(self.now, &mut log);
            self.forwarder.handle_timeout(self.now);
        }
        check(&self.forwarder);
        log.0
    }
}
