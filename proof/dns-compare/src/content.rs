//! Records of the zones.

use crate::draw::Draw;
use crate::zone::{Signed, Zone};

/// Zones with little in them.
const SMALL_ZONES: usize = 1_000;

/// All zones.
pub(crate) fn zones(seed: u64) -> Vec<Zone> {
    use Signed::{LdnsNsec, LdnsNsec3, No, Nsec, Nsec3};
    let mut zones = Vec::new();
    for (apex, signed) in [
        ("plain.test.", No),
        ("nsec.test.", Nsec),
        ("nsec3.test.", Nsec3(0, "-", false)),
        ("salt.test.", Nsec3(5, "aabbccdd", false)),
        ("optout.test.", Nsec3(0, "-", true)),
        ("ldns.test.", LdnsNsec),
        ("ldns3.test.", LdnsNsec3(1, "5a17", true)),
    ] {
        let mut zone = Zone::new(apex, signed);
        everything(&mut zone);
        fill(&mut zone, &mut Draw::new(seed ^ apex.len() as u64));
        zones.push(zone);
    }
    for (apex, signed) in [
        ("wild.plain.", No),
        ("wild.nsec.", Nsec),
        ("wild.nsec3.", Nsec3(0, "-", false)),
        ("wild.optout.", Nsec3(0, "beef", true)),
    ] {
        zones.push(wildcard_at_apex(apex, signed));
    }
    for (apex, signed) in
        [("dname.plain.", No), ("dname.nsec.", Nsec), ("dname.nsec3.", Nsec3(0, "-", false))]
    {
        zones.push(dname_at_apex(apex, signed));
    }
    for (apex, signed) in [("bare.nsec.", Nsec), ("bare.nsec3.", Nsec3(0, "-", false)), ("MiXed.Plain.", No)]
    {
        let mut zone = Zone::new(apex, signed);
        start(&mut zone);
        zones.push(zone);
    }
    zones.extend(family("family.nsec.", Nsec, Nsec3(0, "-", false)));
    zones.extend(family("family.nsec3.", Nsec3(0, "-", true), Nsec));
    for number in 0..SMALL_ZONES {
        zones.push(small(number));
    }
    zones
}

fn start(zone: &mut Zone) {
    zone.add("@", "SOA", "ns1.@ hostmaster.@ 2026 7200 3600 1209600 300");
    zone.add("@", "NS", "ns1.@");
    zone.add("@", "NS", "ns.outside.example.");
    zone.add("ns1", "A", "192.0.2.1");
    zone.add("ns1", "AAAA", "2001:db8::1");
}

fn small(number: usize) -> Zone {
    let mut zone = Zone::new(&format!("s{number:04}.small."), Signed::No);
    start(&mut zone);
    zone.add("www", "CNAME", "host.@");
    zone.add("host", "A", &format!("192.0.2.{}", number % 250 + 1));
    zone.add("other", "CNAME", &format!("www.s{:04}.small.", (number + 1) % SMALL_ZONES));
    zone
}

fn wildcard_at_apex(apex: &str, signed: Signed) -> Zone {
    let mut zone = Zone::new(apex, signed);
    start(&mut zone);
    zone.add("*", "A", "192.0.2.7");
    zone.add("*", "MX", "10 mail.@");
    zone.add("mail", "A", "192.0.2.8");
    zone.add("a.b.c", "TXT", "\"below empty non-terminals\"");
    zone.add("alias", "CNAME", "made.up.@");
    zone.add("*.alias2", "CNAME", "made.up.@");
    zone.add("cut", "NS", "ns.cut.@");
    zone.add("ns.cut", "A", "192.0.2.9");
    zone.add("d", "DNAME", "e.@");
    zone
}

fn dname_at_apex(apex: &str, signed: Signed) -> Zone {
    let mut zone = Zone::new(apex, signed);
    zone.add("@", "SOA", "ns1.nsec.test. hostmaster.@ 2026 7200 3600 1209600 300");
    zone.add("@", "NS", "ns1.nsec.test.");
    zone.add("@", "NS", "ns.outside.example.");
    zone.add("@", "DNAME", "nsec.test.");
    zone.add("@", "MX", "10 mail.nsec.test.");
    zone
}

/// A zone, its children and a grandchild, all served. The DS records of the signed ones are added with their
/// keys.
fn family(apex: &str, signed: Signed, child: Signed) -> Vec<Zone> {
    let of = |label: &str, signed: Signed| {
        let mut zone = Zone::new(&format!("{label}.{apex}"), signed);
        start(&mut zone);
        zone.add("www", "A", "192.0.2.20");
        zone.add("up", "CNAME", &format!("www.{apex}"));
        zone.add("*.w", "TXT", "wildcard");
        zone
    };
    let mut parent = Zone::new(apex, signed);
    start(&mut parent);
    for cut in ["child", "plain", "under.an.empty"] {
        parent.add(cut, "NS", &format!("ns1.{cut}.@"));
        parent.add(&format!("ns1.{cut}"), "A", "192.0.2.1");
    }
    parent.add("www", "A", "192.0.2.21");
    parent.add("down", "CNAME", "www.child.@");
    parent.add("downplain", "CNAME", "up.plain.@");
    parent.add("downnothing", "CNAME", "nothing.child.@");
    parent.add("dname", "DNAME", "child.@");
    let mut son = of("child", child);
    son.add("grand", "NS", "ns1.grand.@");
    son.add("ns1.grand", "A", "192.0.2.1");
    vec![parent, son, of("plain", Signed::No), of("under.an.empty", Signed::No), of("grand.child", signed)]
}

fn ds(tag: u16) -> String {
    format!("{tag} 13 2 {:064x}", 0x1234_5678_9abc_def0_u128 * u128::from(tag))
}

/// Every case that a server distinguishes.
fn everything(zone: &mut Zone) {
    start(zone);
    apex(zone);
    wildcards(zone);
    aliases(zone);
    dnames(zone);
    delegations(zone);
    types(zone);
    large(zone);
    odd(zone);
}

fn apex(zone: &mut Zone) {
    zone.add("@", "NS", "ns2.@");
    zone.add("ns2", "A", "192.0.2.2");
    zone.add("@", "A", "192.0.2.3");
    zone.add("@", "AAAA", "2001:db8::3");
    zone.add("@", "MX", "10 mail.@");
    zone.add("@", "MX", "20 alias.@");
    zone.add("@", "MX", "30 mx.outside.example.");
    zone.add("@", "MX", "40 host.secure.@");
    zone.add("@", "TXT", "\"v=spf1 -all\"");
    zone.add("@", "CAA", "0 issue \"ca.example\"");
    zone.add("@", "TYPE65280", "\\# 4 01020304");
    zone.add("mail", "A", "192.0.2.4");
    zone.add("mail", "AAAA", "2001:db8::4");
    zone.add("www", "A", "192.0.2.5");
    zone.add("www", "A", "192.0.2.6");
    zone.add("www", "AAAA", "2001:db8::5");
    zone.add("a.b.c.ent", "A", "192.0.2.7");
    zone.add("z.b.c.ent", "TXT", "z");
    zone.add_with_ttl("zero", 0, "A", "192.0.2.8");
    zone.add_with_ttl("day", 86_400, "A", "192.0.2.8");
    zone.add("_sip._udp", "SRV", "1 2 5060 mail.@");
    zone.add("_sip._udp", "SRV", "1 2 5060 glue.insecure.@");
    zone.add("_sip._udp", "SRV", "1 2 5060 x.wild.@");
}

fn wildcards(zone: &mut Zone) {
    zone.add("*.wild", "A", "192.0.2.10");
    zone.add("*.wild", "TXT", "wild");
    zone.add("here.wild", "MX", "10 any.wild.@");
    zone.add("below.here.wild", "A", "192.0.2.11");
    zone.add("sub.*.wild", "A", "192.0.2.12");
    zone.add("*.wildmx", "MX", "10 mail.@");
    zone.add("*.wildmx", "MX", "20 x.wild.@");
    zone.add("*.wildcname", "CNAME", "www.@");
    zone.add("*.wildcname2", "CNAME", "x.wildcname.@");
    zone.add("*.wildcnameout", "CNAME", "www.outside.example.");
    zone.add("*.wildcnamenx", "CNAME", "nothing.@");
    zone.add("*.wildloop", "CNAME", "x.wildloop.@");
    zone.add("*.a.b.wild2", "A", "192.0.2.13");
    zone.add("*.wild2", "TXT", "higher");
    zone.add("x.y.b.wild2", "A", "192.0.2.14");
    zone.add("x.*.entwild", "A", "192.0.2.15");
    zone.add("*.*.star", "A", "192.0.2.16");
    zone.add("*.cutwild", "A", "192.0.2.17");
    zone.add("cut.cutwild", "NS", "ns.outside.example.");
    zone.add("d.*.starcut", "NS", "ns.outside.example.");
    zone.add("*.wildsrv", "SRV", "0 0 1 mail.@");
    zone.add("dn.*.stardname", "DNAME", "target.@");
}

fn aliases(zone: &mut Zone) {
    for (owner, target) in [
        ("alias", "www.@"),
        ("alias2", "alias.@"),
        ("alias3", "alias2.@"),
        ("toapex", "@"),
        ("toout", "www.outside.example."),
        ("tonx", "nothing.@"),
        ("tonx2", "tonx.@"),
        ("tonodata", "ns2.@"),
        ("toent", "b.c.ent.@"),
        ("towild", "x.wild.@"),
        ("towildcname", "x.wildcname.@"),
        ("towildnodata", "x.wildmx.@"),
        ("tosecure", "host.secure.@"),
        ("tosecurecut", "secure.@"),
        ("toinsecure", "host.insecure.@"),
        ("todname", "x.dname.@"),
        ("todnameowner", "dname.@"),
        ("todnameout", "x.dnameout.@"),
        ("toplain", "www.plain.test."),
        ("tonsec", "alias.nsec.test."),
        ("tonsec3nx", "nothing.nsec3.test."),
        ("torefused", "www.nobody.invalid."),
        ("toupper", "UPPER.Case.@"),
        ("loop", "loop.@"),
        ("loop1", "loop2.@"),
        ("loop2", "loop1.@"),
        ("loop3", "loop1.@"),
    ] {
        zone.add(owner, "CNAME", target);
    }
    for number in 0..8 {
        zone.add(&format!("chain{number}"), "CNAME", &format!("chain{}.@", number + 1));
    }
    zone.add("chain8", "A", "192.0.2.18");
    for number in 0..30 {
        zone.add(&format!("long{number}"), "CNAME", &format!("long{}.@", number + 1));
    }
    zone.add("long30", "A", "192.0.2.19");
}

fn dnames(zone: &mut Zone) {
    zone.add("dname", "DNAME", "target.@");
    zone.add("dname", "A", "192.0.2.20");
    zone.add("dname", "TXT", "beside the DNAME");
    zone.add("target", "A", "192.0.2.21");
    zone.add("x.target", "A", "192.0.2.22");
    zone.add("c.target", "CNAME", "x.target.@");
    zone.add("*.w.target", "A", "192.0.2.23");
    zone.add("cut.target", "NS", "ns.outside.example.");
    zone.add("dnameout", "DNAME", "outside.example.");
    zone.add("dnamenx", "DNAME", "nothing.@");
    zone.add("dnamechain", "DNAME", "dname.@");
    zone.add("dnameloop", "DNAME", "x.dnameloop.@");
    zone.add("dnameself", "DNAME", "dnameself.@");
    zone.add("dnameback", "DNAME", "@");
    zone.add("dnameroot", "DNAME", ".");
    zone.add("dnameplain", "DNAME", "plain.test.");
    let label = "l".repeat(63);
    zone.add("dnamelong", "DNAME", &format!("{label}.{label}.{label}.@"));
    zone.add("deep.ent.dn", "DNAME", "wild.@");
}

fn delegations(zone: &mut Zone) {
    zone.add("secure", "NS", "ns1.secure.@");
    zone.add("secure", "NS", "ns2.secure.@");
    zone.add("secure", "DS", &ds(11));
    zone.add("secure", "DS", &ds(12));
    zone.add("ns1.secure", "A", "192.0.2.30");
    zone.add("ns1.secure", "AAAA", "2001:db8::30");
    zone.add("ns2.secure", "A", "192.0.2.31");
    zone.add("host.secure", "A", "192.0.2.32");
    zone.add("insecure", "NS", "ns1.insecure.@");
    zone.add("insecure", "NS", "ns1.@");
    zone.add("ns1.insecure", "A", "192.0.2.33");
    zone.add("glue.insecure", "A", "192.0.2.34");
    zone.add("glueless", "NS", "ns.outside.example.");
    zone.add("noaddress", "NS", "ns.noaddress.@");
    zone.add("noaddress", "DS", &ds(13));
    zone.add("sibling", "NS", "ns1.secure.@");
    zone.add("sibling", "NS", "ns1.insecure.@");
    zone.add("self", "NS", "self.@");
    zone.add("self", "A", "192.0.2.35");
    zone.add("cut.under.empty", "NS", "ns.cut.under.empty.@");
    zone.add("ns.cut.under.empty", "AAAA", "2001:db8::36");
    zone.add("cut2.under.empty", "NS", "ns.cut.under.empty.@");
    zone.add("cut2.under.empty", "DS", &ds(14));
    zone.add("occluding", "NS", "ns1.@");
    zone.add("txt.occluding", "TXT", "occluded");
    zone.add("a.b.occluding", "A", "192.0.2.37");
    zone.add("cut.occluding", "NS", "ns2.@");
    zone.add("*.occluding", "A", "192.0.2.38");
    zone.add("alias.occluding", "CNAME", "www.@");
    zone.add("inservice", "NS", "www.@");
    zone.add("inservice", "NS", "alias.@");
    zone.add("inservice", "NS", "x.wild.@");
    for number in 0..13 {
        zone.add("many", "NS", &format!("server{number}.many.@"));
        zone.add(&format!("server{number}.many"), "A", &format!("192.0.2.{}", 40 + number));
        zone.add(&format!("server{number}.many"), "AAAA", &format!("2001:db8::{number}"));
    }
    for number in 0..12 {
        zone.add(&format!("deleg{number}"), "NS", &format!("ns.deleg{number}.@"));
        zone.add(&format!("ns.deleg{number}"), "A", "192.0.2.60");
        if number % 4 == 0 {
            zone.add(&format!("deleg{number}"), "DS", &ds(100 + number));
        }
    }
}

fn types(zone: &mut Zone) {
    for (rtype, data) in [
        ("A", "192.0.2.70"),
        ("PTR", "www.@"),
        ("HINFO", "\"cpu\" \"os\""),
        ("MX", "0 ."),
        ("TXT", "\"one\" \"two three\" \"\" \"\\000\\255\\\"\""),
        ("RP", "hostmaster.@ www.@"),
        ("AFSDB", "1 mail.@"),
        ("RT", "10 mail.@"),
        ("PX", "10 www.@ mail.@"),
        ("AAAA", "2001:db8::70"),
        ("LOC", "52 14 05.000 N 00 08 50.000 E 10m 1m 10000m 10m"),
        ("SRV", "0 0 0 ."),
        ("NAPTR", "100 50 \"s\" \"http\" \"\" _sip._udp.@"),
        ("KX", "1 mail.@"),
        ("CERT", "1 2 3 AQID"),
        ("SSHFP", "1 1 0123456789abcdef0123456789abcdef01234567"),
        ("TLSA", "3 1 1 d2abde240d7cd3ee6b4b28c54df034b97983a1d16e8a410e4561cb106618e971"),
        ("SMIMEA", "3 1 1 d2abde240d7cd3ee6b4b28c54df034b97983a1d16e8a410e4561cb106618e971"),
        ("OPENPGPKEY", "AQIDBA=="),
        ("SVCB", "1 mail.@ alpn=h2 port=8443"),
        ("HTTPS", "1 . alpn=\"h2,h3\" ipv4hint=192.0.2.71"),
        ("SPF", "\"v=spf1\""),
        ("EUI48", "00-00-5e-00-53-2a"),
        ("EUI64", "00-00-5e-ef-10-00-00-2a"),
        ("URI", "10 1 \"https://www.example/\""),
        ("CAA", "128 iodef \"mailto:x\""),
        ("TYPE65280", "\\# 0"),
        ("TYPE65281", "\\# 8 c000000000000001"),
    ] {
        zone.add("types", rtype, data);
        if rtype.len() % 2 == 0 {
            zone.add(&format!("only-{}", rtype.to_lowercase()), rtype, data);
        }
    }
    zone.add("x25", "X25", "311061700956");
    zone.add("isdn", "ISDN", "\"150862028003217\" \"004\"");
    zone.add("minfo", "MINFO", "hostmaster.@ www.@");
}

fn large(zone: &mut Zone) {
    for (owner, count) in
        [("large20", 20), ("large28", 28), ("large30", 30), ("large70", 70), ("large75", 75), ("large99", 99)]
    {
        for number in 0..count {
            zone.add(owner, "A", &format!("198.51.100.{number}"));
        }
    }
    for number in 0..60 {
        zone.add("texts", "TXT", &format!("\"{number} {}\"", "t".repeat(200)));
        zone.add("exchanges", "MX", &format!("{number} mx{number}.large.@"));
        zone.add(&format!("mx{number}.large"), "A", &format!("203.0.113.{number}"));
    }
    zone.add("tolarge", "CNAME", "large99.@");
    for number in 0..9 {
        zone.add("exchanges9", "MX", &format!("{number} mx{number}.large.@"));
    }
}

fn odd(zone: &mut Zone) {
    for owner in [
        "UPPER.Case",
        "\\000",
        "nul\\000inside",
        "sp\\032ace",
        "dot\\.ted",
        "\\255\\254",
        "se\\;mi",
        "back\\\\slash",
        "under_score",
        "*x",
        "x*",
        "foo.*.bar",
        "a\\200",
        "a",
        "a-",
        "aa",
        "0",
        "\\091",
        "\\{",
    ] {
        zone.add(owner, "A", "192.0.2.80");
    }
    // ldns-signzone does not escape it in its output.
    if !zone.is_signed_by_ldns() {
        zone.add("qu\\\"ote", "A", "192.0.2.80");
    }
    let label = "n".repeat(63);
    zone.add(&label, "TXT", "a label of 63 bytes");
    zone.add(&format!("{label}.{label}.{label}"), "TXT", "long");
    zone.add("case", "MX", "10 UPPER.CASE.@");
    zone.add("case", "MX", "20 MAIL.@");
    zone.add(&vec!["i"; 60].join("."), "A", "192.0.2.81");
}

/// Random names with random types.
fn fill(zone: &mut Zone, draw: &mut Draw) {
    let mut names = vec!["fill".to_owned()];
    for number in 0..60 {
        let below = draw.pick(&names).clone();
        let owner = match draw.below(8) {
            0 => format!("*.{}.{below}", draw.label()),
            1 => format!("{}.{}.{below}", draw.label(), draw.label()),
            _ => format!("{}.{below}", draw.label()),
        };
        if names.contains(&owner) {
            continue;
        }
        match draw.below(10) {
            0 => {
                zone.add(&owner, "CNAME", &format!("{}.@", draw.pick(&names)));
                names.push(owner);
            }
            1 if !owner.starts_with('*') => zone.add(&owner, "NS", "ns1.@"),
            2 if !owner.starts_with('*') => {
                zone.add(&owner, "NS", "ns.outside.example.");
                zone.add(&owner, "DS", &ds(number));
            }
            kind => {
                zone.add(&owner, "A", "192.0.2.90");
                if kind > 5 {
                    zone.add(&owner, "TXT", "filled");
                }
                names.push(owner);
            }
        }
    }
}
