//! Proofs that a name or a type does not exist (RFC 4035 §3.1.3, RFC 5155 §7.2).

use super::answer::Answer;
use super::writer::{Full, Owner};
use crate::wire::{RecordType, Section};
use crate::zone::{Denial, Located, NameId, Zone};
use hashlane_name::dns::{Name, NameBuf};

/// The wildcard below a name; `None` if it would be too long to be asked for.
fn wildcard(encloser: Name<'_>) -> Option<NameBuf> {
    let mut name = NameBuf::ROOT;
    name.push(b"*").ok()?;
    encloser.labels().try_for_each(|label| name.push(label)).ok()?;
    Some(name)
}

impl Answer<'_, '_> {
    /// Adds the record that matches or covers a name in the order of NSEC.
    fn add_nsec(&mut self, number: usize, zone: &Zone, name: Name<'_>) {
        self.scratch.proofs.add(number, zone.nsec_before(name));
    }

    /// Adds the record that matches the hash of a name, or covers it. Returns true if it matches.
    fn add_nsec3(&mut self, number: usize, zone: &Zone, name: Name<'_>, only_match: bool) -> bool {
        match zone.nsec3_find(&zone.nsec3_hash(name)) {
            Some((owner, matches)) => {
                if matches || !only_match {
                    self.scratch.proofs.add(number, Some(owner));
                }
                matches
            }
            None => false,
        }
    }

    /// Adds the proof of the closest provable encloser of a name (RFC 5155 §7.2.1): the record that matches
    /// the closest ancestor with one, from the one with `below` labels less on, and the record that covers
    /// the next closer name. Returns the encloser: names within a span of opt-out have no record.
    fn add_encloser<'n>(
        &mut self,
        number: usize,
        zone: &Zone,
        name: Name<'n>,
        below: usize,
    ) -> Option<Name<'n>> {
        let apex = zone.apex_name().len();
        for from in below.max(1).. {
            let encloser = name.labels_from(from).as_name().filter(|name| name.len() >= apex)?;
            if self.add_nsec3(number, zone, encloser, true) {
                if let Some(next) = name.labels_from(from - 1).as_name() {
                    self.add_nsec3(number, zone, next, false);
                }
                return Some(encloser);
            }
        }
        None
    }

    /// Adds the proof of the closest provable encloser, and the record that matches or covers the wildcard
    /// below it.
    fn add_encloser_and_wildcard(&mut self, number: usize, zone: &Zone, name: Name<'_>, below: usize) {
        let encloser = self.add_encloser(number, zone, name, below);
        if let Some(star) = encloser.and_then(wildcard) {
            self.add_nsec3(number, zone, star.view(), false);
        }
    }

    /// Proves that `name` does not exist, and no wildcard for it (RFC 5155 §7.2.2).
    #[cold]
    pub(super) fn prove_name_error(&mut self, number: usize, zone: &Zone, name: Name<'_>, located: Located) {
        match zone.denial() {
            Denial::None => {}
            Denial::Nsec => {
                self.add_nsec(number, zone, name);
                if let Some(star) = name.labels_from(located.below).as_name().and_then(wildcard) {
                    self.add_nsec(number, zone, star.view());
                }
            }
            Denial::Nsec3(_) => self.add_encloser_and_wildcard(number, zone, name, located.below),
        }
    }

    /// Proves that `name` has no records of the type (RFC 5155 §7.2.3 to §7.2.5). `star` is the wildcard that
    /// stands for it, if it does not exist.
    #[cold]
    pub(super) fn prove_no_data(
        &mut self,
        number: usize,
        zone: &Zone,
        name: Name<'_>,
        located: Located,
        star: Option<NameId>,
    ) {
        match (zone.denial(), star) {
            (Denial::None, _) => {}
            (Denial::Nsec, star) => {
                // In this order: unbound 1.17 takes the last of several wildcards for the one that matches.
                self.add_nsec(number, zone, name);
                if let Some(star) = star {
                    self.add_nsec(number, zone, zone.name(star).view());
                }
            }
            (Denial::Nsec3(_), Some(_)) => self.add_encloser_and_wildcard(number, zone, name, located.below),
            (Denial::Nsec3(_), None) => {
                if !self.add_nsec3(number, zone, name, true) {
                    // A delegation within a span of opt-out (RFC 5155 §7.2.4).
                    self.add_encloser(number, zone, name, 1);
                }
            }
        }
    }

    /// Proves that no closer name than the wildcard matches (RFC 5155 §7.2.6).
    #[cold]
    pub(super) fn prove_expansion(&mut self, number: usize, zone: &Zone, name: Name<'_>, located: Located) {
        match zone.denial() {
            Denial::None => {}
            Denial::Nsec => self.add_nsec(number, zone, name),
            Denial::Nsec3(_) => {
                if let Some(next) = name.labels_from(located.below.saturating_sub(1)).as_name() {
                    self.add_nsec3(number, zone, next, false);
                }
            }
        }
    }

    /// Proves that a delegation has no DS records (RFC 5155 §7.2.7).
    #[cold]
    pub(super) fn prove_no_ds(&mut self, number: usize, zone: &Zone, cut: NameId) {
        let name = zone.name(cut);
        match zone.denial() {
            Denial::None => {}
            Denial::Nsec => self.add_nsec(number, zone, name.view()),
            Denial::Nsec3(_) => {
                if !self.add_nsec3(number, zone, name.view(), true) {
                    self.add_encloser(number, zone, name.view(), 1);
                }
            }
        }
    }

    /// Writes the records of the proofs into the authority section.
    ///
    /// # Errors
    /// No room is left.
    pub(super) fn write_proofs(&mut self) -> Result<(), Full> {
        for at in 0..self.scratch.proofs.len {
            let Some(&(number, owner)) = self.scratch.proofs.owners.get(at) else { break };
            let (number, zones) = (number as usize, self.zones);
            let Some(zone) = zones.zone(number) else { continue };
            let rtype = match zone.denial() {
                Denial::None => continue,
                Denial::Nsec => RecordType::NSEC,
                Denial::Nsec3(_) => RecordType::NSEC3,
            };
            if let Some(set) = zone.set(owner, rtype) {
                self.enter(number);
                self.write(Section::Authority, Owner::Name(owner), zone, &set, self.form())?;
            }
        }
        Ok(())
    }
}
