//! Zones that are refused, and warnings.

use super::*;
use crate::zone::Rule;

fn rule(records: &[Added<'_>]) -> Rule {
    try_zone("example", records).unwrap_err().rule
}

#[test]
fn refuses_what_no_zone_may_have() {
    let target = name("target.example");
    let target = target.as_bytes();
    let alias = ("a.example", RecordType::CNAME, target);
    assert_eq!(rule(&[("example.com", RecordType::A, &[0; 4])]), Rule::OutOfZone);
    assert_eq!(rule(&[("a.example", RecordType::ANY, &[])]), Rule::NotAType);
    assert_eq!(rule(&[alias, ("a.example", RecordType::A, &[0; 4])]), Rule::BesideCname);
    assert_eq!(rule(&[alias, ("a.example", RecordType::CNAME, b"\0")]), Rule::SeveralCname);
}
