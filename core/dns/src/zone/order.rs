//! Canonical order of names (RFC 4034 §6.1), and the NSEC records in it.

use super::Zone;
use super::names::{NameId, Names};
use crate::slices::Parts as _;
use core::cmp::Ordering;
use hashlane_name::dns::{MAX_LABELS, Name};

/// The names from one of them up to the apex, which is left out.
struct Path {
    ids: [NameId; MAX_LABELS],
    len: usize,
}

impl Path {
    fn of(names: &Names, apex: NameId, id: NameId) -> Self {
        let (mut ids, mut len, mut at) = ([NameId::ROOT; MAX_LABELS], 0, id);
        for place in &mut ids {
            if at == apex || at == NameId::ROOT {
                break;
            }
            *place = at;
            len += 1;
            at = names.parent(at);
        }
        Self { ids, len }
    }

    /// From the name below the apex down.
    fn down(&self) -> impl Iterator<Item = NameId> {
        self.ids.iter().take(self.len).rev().copied()
    }
}

/// Compares labels, without their length.
pub(super) fn compare(a: &[u8], b: &[u8]) -> Ordering {
    a.iter().map(u8::to_ascii_lowercase).cmp(b.iter().map(u8::to_ascii_lowercase))
}

/// Sorts names of the zone in canonical order. Names that stand in it are sorted in linear time.
pub(super) fn sort(names: &Names, apex: NameId, ids: &mut [NameId]) {
    ids.sort_by(|a, b| compare_names(names, apex, *a, *b));
}

/// Compares names of the zone.
pub(super) fn compare_names(names: &Names, apex: NameId, a: NameId, b: NameId) -> Ordering {
    let (a, b) = (Path::of(names, apex, a), Path::of(names, apex, b));
    let (mut a, mut b) = (a.down(), b.down());
    loop {
        match (a.next(), b.next()) {
            (None, b) => break if b.is_none() { Ordering::Equal } else { Ordering::Less },
            (Some(_), None) => break Ordering::Greater,
            (Some(a), Some(b)) if a == b => {}
            // Children of one name that are two names.
            (Some(a), Some(b)) => break compare(bytes(names, a), bytes(names, b)),
        }
    }
}

/// The label without its length.
pub(super) fn bytes(names: &Names, id: NameId) -> &[u8] {
    names.label(id).part(1..)
}

impl Zone {
    /// The owner of the NSEC record that matches or covers a name at or below the apex: the last owner of one
    /// that is not after the name in canonical order. `None` if the zone has no NSEC records.
    pub fn nsec_before(&self, name: Name<'_>) -> Option<NameId> {
        let mut labels: [&[u8]; MAX_LABELS] = [&[]; MAX_LABELS];
        let mut count = 0;
        for (place, label) in labels.iter_mut().zip(name.labels()) {
            *place = label;
            count += 1;
        }
        let below_apex = labels.part(..count - self.apex_labels.min(count));
        let is_not_after = |id: &NameId| {
            let path = Path::of(&self.names, self.apex, *id);
            let mut labels = below_apex.iter().rev();
            for id in path.down() {
                let Some(label) = labels.next() else { return false };
                match compare(bytes(&self.names, id), label) {
                    Ordering::Equal => {}
                    order => return order == Ordering::Less,
                }
            }
            true
        };
        // The chain is a circle: before its first name comes the last.
        let before = self.nsec.partition_point(is_not_after).checked_sub(1);
        before.and_then(|at| self.nsec.get(at)).or(self.nsec.last()).copied()
    }
}
