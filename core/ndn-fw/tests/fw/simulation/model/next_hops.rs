//! Next hops of Interests under the strategy `access`, and their retries.

use super::super::access::Plan;
use super::{Done, Entry, In, Model, Question, Retry};
use crate::support::Sent;
use hashlane_ndn::time::Time;
use hashlane_ndn::wire::Interest;
use hashlane_ndn_fw::face::{FaceId, Scope};
use std::collections::{BTreeMap, BTreeSet};

impl Model {
    /// Faces that an Interest under the strategy access goes to, and when it goes to others; `None` under
    /// other strategies, for Interests with a hint, and if there are several shards.
    pub(super) fn plan(
        &mut self,
        interest: &Interest<'_>,
        question: &Question,
        from: FaceId,
        expires: Time,
        now: Time,
    ) -> Option<(BTreeSet<FaceId>, Option<Retry>)> {
        let name = &question.name;
        if !question.hint.is_empty() || self.access.shards > 1 || !self.access.has(name) {
            return None;
        }
        let eligible = self.access.eligible(name, from);
        let entry = self.entries.iter().find(|entry| entry.question == *question).expect("it was put there");
        if entry.outs.iter().any(|out| out.expires > now && out.nack.is_none()) {
            let last = entry.outs.iter().map(|out| out.sent).max();
            let is_early = last.is_some_and(|last| now.since(last).as_millis() < 100);
            let faces = if is_early { BTreeSet::new() } else { eligible };
            return Some((self.reachable(interest, faces), None));
        }
        Some(match self.access.plan(name, &eligible, now) {
            Plan::All => (self.reachable(interest, eligible), None),
            Plan::One(face, due) => {
                self.access.singles += usize::from(eligible.len() > 1);
                let retry = match due {
                    Some(due) if due < expires => Some(Retry::At(due)),
                    None if eligible.len() > 1 => Some(Retry::Sometime),
                    // An earlier timer of the entry stays.
                    _ => None,
                };
                (self.reachable(interest, BTreeSet::from([face])), retry)
            }
        })
    }

    /// Faces that the hop limit of an Interest allows.
    fn reachable(&self, interest: &Interest<'_>, faces: BTreeSet<FaceId>) -> BTreeSet<FaceId> {
        let is_last = interest.hop_limit() == Some(1);
        faces
            .into_iter()
            .filter(|face| !(is_last && self.faces.get(face) == Some(&Scope::NonLocal)))
            .collect()
    }

    /// Checks what any of several shards may do under the strategy access.
    pub(super) fn may_go(
        &mut self,
        interest: &Interest<'_>,
        question: &Question,
        from: FaceId,
        sent: &[Sent],
        now: Time,
    ) {
        self.entry(question).expect("it was put there").retry = Retry::Sometime;
        let eligible = self.access.eligible(&question.name, from);
        let all = self.reachable(interest, eligible.clone());
        let went: BTreeSet<FaceId> = sent.iter().map(|sent| sent.face).collect();
        if !question.hint.is_empty() || went.is_empty() || went == all {
            return;
        }
        let [face] = sent else { panic!("some of several next hops: {went:?} of {eligible:?}") };
        assert!(self.access.may_know(&question.name, face.face, now), "{face:?} has returned no Data");
        self.access.singles += 1;
    }

    /// Compares the Interests that go to other next hops because a timeout has passed.
    pub fn retried(&mut self, sent: &[Sent], now: Time) {
        let mut by_entry: BTreeMap<Question, Vec<&Sent>> = BTreeMap::new();
        for sent in sent {
            assert!(self.faces.contains_key(&sent.face) && sent.nack.is_none(), "{sent:?}");
            let question = self.question(&sent.interest());
            by_entry.entry(question).or_default().push(sent);
        }
        let due = |entry: &Entry| match entry.retry {
            // A timer is due at the first millisecond that is not before its time.
            Retry::At(due) => due.0.div_ceil(1_000_000) <= now.millis(),
            _ => false,
        };
        let questions: Vec<Question> = self.entries.iter().map(|entry| entry.question.clone()).collect();
        for question in questions {
            let sent = by_entry.remove(&question).unwrap_or_default();
            let entry = self.entry(&question).expect("an entry").clone();
            let record = entry.ins.iter().find(|record| record.expires > now);
            if let Retry::At(due) = entry.retry {
                // Timers have ticks of a millisecond, and turns are a millisecond apart.
                assert!(now.since(due).as_millis() < 3, "a late retry, due at {due:?}: {entry:?} at {now:?}");
            }
            if let (true, Some(record)) = (due(&entry), record) {
                let faces = entry.unused(self.access.eligible(&question.name, record.face), now);
                let interest = Interest::parse(&entry.packet).expect("an Interest");
                let faces = self.reachable(&interest, faces);
                let went: BTreeSet<FaceId> = sent.iter().map(|sent| sent.face).collect();
                assert_eq!(went, faces, "where {question:?} goes after a timeout");
                self.access.predicted += usize::from(!went.is_empty());
            } else {
                assert!(sent.is_empty() || entry.retry == Retry::Sometime, "{sent:?} too soon: {entry:?}");
            }
            if due(&entry) || !sent.is_empty() {
                self.entry(&question).expect("an entry").retry = Retry::Never;
            }
            if let Some(record) = record {
                self.others_went(&entry, record, &sent, now);
            }
        }
        assert!(by_entry.is_empty(), "Interests that nobody waits for: {by_entry:?}");
    }

    /// The Interest of an entry went to other next hops, for a downstream.
    fn others_went(&mut self, entry: &Entry, record: &In, sent: &[&Sent], now: Time) {
        let interest = Interest::parse(&entry.packet).expect("an Interest");
        for sent in sent {
            assert_eq!(sent.interest().nonce(), Some(record.nonce));
            assert!(
                !entry.outs.iter().any(|out| out.face == sent.face && out.expires > now),
                "{sent:?} again"
            );
            self.went(&interest, record.face, &entry.question, record.nonce, sent, record.expires, now);
            self.interests_out += 1;
        }
        self.access.retries += sent.len();
    }

    /// Compares the Interests that go to other next hops, as all used ones have sent Nacks. Returns false if
    /// there are no others.
    pub(super) fn tries_others(&mut self, question: &Question, done: &Done<'_>, now: Time) -> bool {
        let entry = self.entry(question).expect("it was there");
        entry.retry = Retry::Never;
        let entry = entry.clone();
        let Some(record) = entry.ins.iter().find(|record| record.expires > now) else { return false };
        let sent: Vec<&Sent> = done.sent.iter().collect();
        if question.hint.is_empty() {
            let others = entry.unused(self.access.eligible(&question.name, record.face), now);
            if others.is_empty() {
                return false;
            }
            let interest = Interest::parse(&entry.packet).expect("an Interest");
            let went: BTreeSet<FaceId> = sent.iter().map(|sent| sent.face).collect();
            assert_eq!(went, self.reachable(&interest, others), "where {question:?} goes after Nacks");
        } else if sent.first().is_some_and(|sent| sent.nack.is_some()) {
            return false;
        }
        let interests = self.interests_out;
        self.others_went(&entry, record, &sent, now);
        // The caller counts them.
        self.interests_out = interests;
        true
    }
}
