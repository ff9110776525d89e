//! Data of every type, as BIND's named-compilezone reads it or as the RFC of the type prints it.

use super::*;
use crate::types::{Form, NUMBERS, form};
use domain::base::rdata::ComposeRecordData as _;
use domain::zonefile::inplace::{Entry, Zonefile};

#[test]
fn reads_the_examples_of_the_rfcs() {
    let wks = ["0a00000511", "80", &"00".repeat(5), "04", &"00".repeat(8_184), "01"].concat();
    for (text, expected) in [
        // RFC 1876, appendix A, in the wire form that named-compilezone reads.
        ("LOC 42 21 54 N 71 06 18 W -24m 30m", "00331613 89172dd0 70be15f0 00988d20"),
        ("LOC 52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000m 10m", "00001613 8b3cf018 810cbce0 009895b8"),
        // RFC 3123 §7, without the address bytes that are 0.
        (
            "APL 1:192.168.32.0/21 !1:192.168.38.0/28 2:FF00:0:0:0:0:0:0:0/8",
            "00011503c0a820 00011c83c0a826 00020801ff",
        ),
        // RFC 6742 §2.
        ("NID 10 0014:4fff:ff20:ee64", "000a 00144fffff20ee64"),
        ("L64 10 2001:0DB8:1140:1000", "000a 20010db811401000"),
        ("L32 10 10.1.2.0", "000a 0a010200"),
        // RFC 7043 §3.2, §4.2.
        ("EUI48 00-00-5e-00-53-2a", "00005e00532a"),
        ("EUI64 00-00-5e-ef-10-00-00-2a", "00005eef1000002a"),
        // RFC 4034 §4.3, §5.4.
        (
            "NSEC host.example.com. ( A MX RRSIG NSEC TYPE1234 )",
            "04686f7374076578616d706c6503636f6d00 0006400100000003 \
             041b0000000000000000000000000000000000000000000000000000 20",
        ),
        (
            "DS 60485 5 1 ( 2BB183AF5F22588179A53B0A\n 98631FAD1A292118 )",
            "ec450501 2bb183af5f22588179a53b0a98631fad1a292118",
        ),
        // RFC 7477 §2.2.
        ("CSYNC 66 3 A NS AAAA", "00000042 0003 000460000008"),
        // RFC 8078 §4.
        ("CDS 0 0 0 00", "0000000000"),
        ("CDNSKEY 0 3 0 AA==", "0000030000"),
        ("CDNSKEY 0 3 0 0", "0000030000"),
        // RFC 7553 §4.5, RFC 8659 §4.1.
        ("URI 10 1 \"ftp://x\"", "000a0001 6674703a2f2f78"),
        ("CAA 0 issue \"ca;\"", "0005 6973737565 63613b"),
        ("CERT PKIX 1 RSASHA256 AQID", "0001000108010203"),
        ("NSEC3PARAM 1 0 0 -", "0100000000"),
        (
            "NSEC3 1 1 12 aabb 2t7b4g4vsa5smi47k61mv5bv1a22bojr A",
            "0101000c02aabb 14174eb2409fe28bcb4887a1836f957f0a8425e27b 000140",
        ),
        ("HIP 2 0011 AAAA .", "020200030011000000 00"),
        ("SSHFP 4 2 1234", "04021234"),
        ("OPENPGPKEY AQID", "010203"),
        ("ZONEMD 1 1 1 ABCD", "000000010101abcd"),
        // RFC 1706 §7, in the wire form of its figure.
        (
            "NSAP 0x47.0005.80.005a00.0000.0001.e133.ffffff000161.00",
            "47000580005a0000000001e133ffffff00016100",
        ),
        ("NSAP 0X39840F80005A0000000001E13708002010726E00", "39840f80005a0000000001e13708002010726e00"),
        // RFC 1035 §3.4.2: the 26th bit stands for SMTP.
        ("WKS 10.0.0.1 TCP SMTP", "0a000001 06 00000040"),
        ("WKS 10.0.0.5 17 ( domain 0\n 65535 ) ; DNS", &wks),
        ("WKS 10.0.0.5 udp", "0a00000511"),
        // RFC 8777 §4.3.1 to §4.4.
        ("AMTRELAY 10 0 1 203.0.113.15", "0a01 cb00710f"),
        ("AMTRELAY 10 0 2 2001:db8::15", "0a02 20010db8000000000000000000000015"),
        ("AMTRELAY 128 1 3 amtrelays.example.com.", "8083 09616d7472656c617973076578616d706c6503636f6d00"),
        ("AMTRELAY 10 1 0 .", "0a80"),
        // RFC 2874 §5.1.
        (
            "A6 48 0:0:0:1:1234:5678:9abc:def0 subscriber.ip6.",
            "30 0001123456789abcdef0 0a73756273637269626572036970360 0",
        ),
        ("A6 0 2345:00C1:CA11::1", "00 234500c1ca1100000000000000000001"),
        ("A6 3 ffff::1 x.", "03 1fff0000000000000000000000000001 017800"),
        ("A6 128 x.", "80 017800"),
        ("A6 128 :: x.", "80 017800"),
        // RFC 2535 §5.2, §5.3: the first bit stands for type 0.
        ("NXT medium.foo.tld. A MX SIG NXT", "066d656469756d03666f6f03746c6400 40010082"),
        ("X25 311061700956", "0c333131303631373030393536"),
        ("ISDN 1 2", "01310132"),
    ] {
        assert_eq!(data(&format!("a 1 {text}")), hex(expected), "{text}");
    }
}

#[test]
fn refuses_malformed_data() {
    for text in [
        "A 1.2.3",
        "A 1.2.3.4.5",
        "A 01.2.3.4",
        "AAAA 1::2::3",
        "AAAA 1.2.3.4",
        "MX 65536 a",
        "MX -1 a",
        "MX 1",
        "SRV 1 1 1",
        "SOA a a 1 1 1 1",
        "SOA a a 4294967296 1 1 1 1",
        "TXT",
        "CAA 256 a b",
        "CAA 0 a",
        "DS 1 1 1 zz",
        "DS 1 1 1 \"00\"",
        "DS 1 FOO 1 00",
        "RRSIG FOO 1 1 1 20300101000000 20250101000000 1 a AAAA",
        "RRSIG A 1 1 1 2030010100000 20250101000000 1 a AAAA",
        "RRSIG A 1 1 1 1 1 1 a",
        "NSEC a FOO",
        "NSEC3 1 0 0 - - A",
        "NSEC3 1 0 0 z 00 A",
        "NSEC3 1 0 0 - 0w A",
        "NSEC3PARAM 1 0 0",
        "EUI48 00-00-5e-00-53",
        "EUI48 0-00-5e-00-53-2a",
        "EUI64 00-00-5e-ef-10-00-00-2a-00",
        "NID 1 1:2:3",
        "NID 1 1:2:3:12345",
        "NID 1 1:2:3:+1",
        "LOC 91 N 1 E 0",
        "LOC 90 0 1 N 1 E 0",
        "LOC 1 60 N 1 E 0",
        "LOC 1 N 1 N 0",
        "LOC 1 N 1 E",
        "LOC 1 N 1 E 0 99999999999",
        "LOC 1 N 1 E -100001",
        "LOC 1 N 1 E 1.234",
        "LOC 1 N 1 E 0 1 1 1 1",
        "APL 1:2001:db8::/32",
        "APL 1:1.2.3.4/33",
        "APL 3:1.2.3.4/3",
        "APL 1.2.3.4/3",
        "HIP 2 zz AAAA",
        "HIP 2 00 AAA",
        "CERT FOO 1 1 AAAA",
        "HTTPS x",
        "HTTPS 1",
        "SVCB 1 . alpn",
        "SVCB 1 . port=1 port=2",
        "IPSECKEY 10 1 2 x AAAA",
        "NSAP",
        "NSAP 47",
        "NSAP 0x",
        "NSAP 0x4.7.0",
        "NSAP 0x47 00",
        "NSAP 0xzz",
        "WKS 1.2.3 TCP",
        "WKS 1.2.3.4",
        "WKS 1.2.3.4 IPX",
        "WKS 1.2.3.4 256",
        "WKS 1.2.3.4 TCP 65536",
        "WKS 1.2.3.4 TCP nothing",
        "AMTRELAY 256 0 0 .",
        "AMTRELAY 1 2 0 .",
        "AMTRELAY 1 0 4 .",
        "AMTRELAY 1 0 0",
        "AMTRELAY 1 0 0 x",
        "AMTRELAY 1 0 1 x",
        "AMTRELAY 1 0 2 1.2.3.4",
        "AMTRELAY 1 0 3 x y",
        "A6 129 ::",
        "A6 0",
        "A6 0 x",
        "A6 0 :: x",
        "A6 64 ::",
        "A6 64 x",
        "NXT x",
        "NXT x TYPE128",
        "NXT x FOO",
    ] {
        assert!(read(&format!("a 1 {text}")).is_err(), "{text}");
    }
}

#[test]
fn the_library_reads_the_parameters_of_services() {
    let domain = b"\x03foo\x07example\x03com\0";
    assert_eq!(data("a 1 SVCB 0 foo"), [b"\0\0", &domain[..]].concat());
    assert_eq!(data("a 1 SVCB 16 foo port=53"), [b"\0\x10", &domain[..], b"\0\x03\0\x02\0\x35"].concat());
    let quoted = [b"\0\x01", &domain[..], b"\x02\x9b\0\x09hello\xd2qoo"].concat();
    assert_eq!(data("a 1 HTTPS 1 foo ( key667=\"hello\\210qoo\"\n )"), quoted);
    assert_eq!(data("a 1 HTTPS 1 @"), b"\0\x01\x07example\x03com\0");
    assert_eq!(data("a 1 IPSECKEY 10 0 2 . AQID"), [10, 0, 2, 1, 2, 3]);
}

/// Types that the library reads, too, are read alike.
#[test]
fn agrees_with_the_library() {
    let hash = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    let mut seen = 0;
    for text in [
        "A 192.0.2.1",
        "AAAA 2001:db8::ffff:192.0.2.1",
        "NS a.b",
        "CNAME a\\.b",
        "MX 10 a.",
        "TXT \"a b\" c\\\"d",
        "PTR a",
        "SOA a b 1 2 3 4 5",
        "HINFO a b",
        "MINFO a b",
        "MB a",
        "MD a",
        "MF a",
        "MG a",
        "MR a",
        "SRV 1 2 3 a",
        "DNAME a.",
        "NAPTR 1 2 \"a\" \"b\" \"c\" .",
        "RP a b",
        "CAA 0 issue \"a b\"",
        "SSHFP 1 2 0011",
        "OPENPGPKEY AQIDBA==",
        "CDS 1 8 2 00",
        "CDNSKEY 1 3 8 AQID",
        "DNSKEY 256 3 13 AQIDBA==",
        "NSEC3PARAM 1 0 5 ab",
        "NSEC a A NS CAA TYPE65280",
        "NSEC3 1 0 5 ab 2t7b4g4vsa5smi47k61mv5bv1a22bojr A RRSIG",
        "RRSIG A 13 2 300 20300101000000 20250101000000 7 a AQID",
        "TYPE65280 \\# 2 0102",
        &format!("DS 1 13 2 {hash}"),
        &format!("TLSA 3 1 1 {hash}"),
        &format!("ZONEMD 1 1 1 {hash}{}", &hash[..32]),
    ] {
        let line = format!("a 1 IN {text}\n");
        let mut library = Zonefile::with_capacity(line.len() + 1);
        library.extend_from_slice(line.as_bytes());
        library.set_origin("example.com".parse().unwrap());
        let Ok(Some(Entry::Record(record))) = library.next_entry() else { panic!("{text}") };
        let mut expected = Vec::new();
        let Ok(()) = record.data().compose_rdata(&mut expected);
        assert_eq!(data(&line), expected, "{text}");
        seen += 1;
    }
    assert_eq!(seen, 33);
}

#[test]
fn every_type_has_one_mnemonic_and_a_number() {
    let mut numbers = NUMBERS.to_vec();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), NUMBERS.len());
    for number in numbers {
        let mnemonic = RecordType(number).mnemonic();
        if let Some(mnemonic) = mnemonic {
            assert_eq!(crate::types::rtype(mnemonic.as_bytes()), Some(number));
        }
        assert!(form(number).is_some_and(|form| form != Form::Fields(&[])));
    }
    assert_eq!(form(65_280), None);
}
