//! Properties of catalog zones.

use hashlane_dns::zone::{Builder, Zone};
use hashlane_hash::scheme::Key;
use hashlane_name::dns::{Name, NameBuf};
use hashlane_transfer::catalog::{Catalog, CatalogError, Entry, Member, changes, members, produce};
use hashlane_transfer::records::Records;
use hashlane_transfer::zonemd::{Zonemd, verify};
use hashlane_zone_file::{Options, Record, records_of};

/// Members of a catalog at most.
const MOST: usize = 20;

/// Zone files, separated by a byte ff, are catalogs or not. A catalog has members of different names, in
/// order and within the limit; one that is made of its members has the same. The changes from each catalog to
/// the next lead there. Each zone is looked through for a digest, too.
pub fn check_catalogs(octets: &[u8]) {
    let origin: NameBuf = "catalog.example".parse().expect("a name");
    let mut before = Catalog::default();
    for text in octets.split(|byte| *byte == 0xff) {
        let Some(zone) = zone(text, origin.view()) else { continue };
        let verified = verify(&zone);
        assert_eq!(verified, verify(&zone));
        assert!(!matches!(verified, Zonemd::Serial { theirs } if theirs == zone.serial()));
        let after = match members(&zone, MOST) {
            Ok(catalog) => catalog,
            Err(error) => {
                assert!(error.to_string().len() < 4_000);
                assert!(!matches!(error, CatalogError::TooMany(most) if zone.records() < most));
                continue;
            }
        };
        check_catalog(&after);
        check_changes(&before, &after);
        before = after;
    }
}

fn check_catalog(catalog: &Catalog) {
    let all = catalog.members();
    assert!(all.len() <= MOST);
    assert!(all.windows(2).all(|pair| pair[0].name().as_bytes() < pair[1].name().as_bytes()));
    let groups: Vec<Vec<&[u8]>> = all.iter().map(|member| member.groups().collect()).collect();
    let entries = all.iter().zip(&groups).map(|(member, groups)| {
        assert_eq!(catalog.get(member.name()), Some(member));
        assert!((1..=63).contains(&member.id().len()));
        Entry { name: member.name(), groups, next_owner: member.next_owner() }
    });
    let apex: NameBuf = "made.example".parse().expect("a name");
    let Ok(records) = produce(apex.view(), 1, entries) else {
        assert!(groups.iter().flatten().any(|group| group.len() > 255));
        return;
    };
    let made = members(&build(apex.view(), &records), MOST).expect("a catalog that was made");
    let properties = |member: &Member| {
        let groups: Vec<Vec<u8>> = member.groups().map(<[u8]>::to_vec).collect();
        (member.name().as_bytes().to_vec(), groups, member.next_owner().map(|name| name.as_bytes().to_vec()))
    };
    let of = |catalog: &Catalog| catalog.members().iter().map(properties).collect::<Vec<_>>();
    assert_eq!(of(&made), of(catalog));
}

fn check_changes(before: &Catalog, after: &Catalog) {
    let changes = changes(before, after);
    let without = |member: &&Member| !changes.removed.iter().any(|removed| removed.name() == member.name());
    let kept = before.members().iter().filter(without).count();
    assert_eq!(kept + changes.added.len(), after.members().len());
    for member in after.members() {
        let (old, is) = (before.get(member.name()), |list: &[&Member]| list.contains(&member));
        assert_eq!(is(&changes.added), old.is_none());
        assert_eq!(is(&changes.reset), old.is_some_and(|old| old.id() != member.id()));
        assert_eq!(is(&changes.regrouped), old.is_some_and(|old| old.id() == member.id() && old != member));
    }
    assert!(changes.removed.iter().all(|member| after.get(member.name()).is_none()));
}

/// The zone of a text; records that it cannot have are left out.
fn zone(text: &[u8], apex: Name<'_>) -> Option<Zone> {
    let mut builder = Builder::new(apex, &Key::VECTOR);
    let options = Options { threads: 1, max_generated_bytes: 100_000, ..Options::default() };
    let mut sink = |Record { owner, rtype, ttl, data }: Record<'_>| {
        let _ = builder.add(owner, rtype, ttl, data);
        Ok(())
    };
    records_of("zone", text.to_vec(), Some(apex), &options, &mut sink).ok()?;
    builder.finish().ok()
}

fn build(apex: Name<'_>, records: &Records) -> Zone {
    let mut builder = Builder::new(apex, &Key::VECTOR);
    for record in records {
        builder.add(record.owner, record.rtype, record.ttl, record.data).expect("a record of a catalog");
    }
    builder.finish().expect("a zone")
}
