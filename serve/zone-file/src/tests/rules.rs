//! The rules of RFC 1035 §5, and of the RFCs that extend it.

use super::*;

#[test]
fn names_end_with_the_origin_unless_a_dot_ends_them() {
    let text = "$TTL 1\n@ A 192.0.2.1\na A 192.0.2.1\nb. A 192.0.2.1\n. A 192.0.2.1\n\
                $ORIGIN sub\nc A 192.0.2.1\n$ORIGIN org.\n@ A 192.0.2.1\n$ORIGIN .\nd A 192.0.2.1\n";
    assert_eq!(
        owners(text),
        "example.com. 1, a.example.com. 1, b. 1, . 1, c.sub.example.com. 1, org. 1, d. 1"
    );
    assert_eq!(data("a 1 MX 5 @"), b"\0\x05\x07example\x03com\0");
    // Escaped, the sign is a label.
    assert_eq!(data("a 1 NS \\@."), b"\x01@\0");
}

#[test]
fn a_blank_owner_is_the_last_one() {
    let text =
        "$TTL 1\na A 192.0.2.1\n A 192.0.2.2\n\n; comment\n\t1 IN A 192.0.2.3\n  ; comment\n \n A 192.0.2.4";
    assert_eq!(owners(text), "a.example.com. 1, a.example.com. 1, a.example.com. 1, a.example.com. 1");
    // An owner whose data are malformed is an owner.
    let twice = errors("a 1 A x\n 1 A y\n");
    assert_eq!(twice.lines().count(), 2, "{twice}");
}

#[test]
fn a_ttl_is_stated_or_that_of_the_directive_or_the_last() {
    assert_eq!(
        owners("a 7 A 192.0.2.1\nb A 192.0.2.1\n$TTL 1h\nc A 192.0.2.1\nd 8 A 192.0.2.1\ne A 192.0.2.1\n"),
        "a.example.com. 7, b.example.com. 7, c.example.com. 3600, d.example.com. 8, e.example.com. 3600"
    );
    let options = Options { default_ttl: Some(9), ..serial() };
    assert_eq!(read_with(b"a A 192.0.2.1", &options).unwrap()[0].2, 9);
    assert_eq!(
        errors("\na A 192.0.2.1\nb A 192.0.2.2"),
        "zone:2: no TTL; state $TTL before the first record"
    );
}

#[test]
fn ttl_and_class_come_in_any_order_and_case() {
    for head in ["1h IN A", "IN 1h A", "in 3600 a", "3600 CLASS1 TYPE1", "1H a", "class1 60m type1"] {
        let text = format!("a {head} 192.0.2.1");
        assert_eq!(read(&text).unwrap(), [("a.example.com.".into(), 1, 3600, vec![192, 0, 2, 1])], "{head}");
    }
    for class in ["CH", "hs", "CLASS3"] {
        let error = errors(&format!("a {class} 1 A 192.0.2.1"));
        assert_eq!(
            error,
            format!("zone:1:3: class {class}; zone files are of class IN alone, remove the record")
        );
    }
}

#[test]
fn times_of_a_soa_record_have_units() {
    let text = "@ 1 SOA @ . ( 7 ; serial\n 1h30m 15M ; two\n\n1w2d 300 )";
    assert_eq!(data(text), hex("076578616d706c6503636f6d00 00 00000007 00001518 00000384 000bdd80 0000012c"));
}

#[test]
fn parentheses_nest_and_continue_a_record() {
    assert_eq!(data("a 1 ( TXT ( a ) (\n;(\"\nb))"), b"\x01a\x01b");
    assert_eq!(owners("(a 1 A 192.0.2.1)\n(\nb) 1 A 192.0.2.1"), "a.example.com. 1, b.example.com. 1");
}

#[test]
fn quotations_keep_spaces_and_line_breaks() {
    assert_eq!(data("a 1 TXT \"a ;(\n)\"\"b\"c\"\""), b"\x06a ;(\n)\x01b\x01c\0");
    assert_eq!(owners("a 1 TXT \"\n\n\"\nb 1 A 192.0.2.1"), "a.example.com. 1, b.example.com. 1");
}

#[test]
fn escapes_are_bytes() {
    assert_eq!(data("a 1 TXT \\\"\\065\\\\ \"\\\"\\255\""), b"\x03\"A\\\x02\"\xff");
    assert_eq!(data("a 1 TXT a\\ b\\;c\\(d"), b"\x07a b;c(d");
    assert_eq!(data("a 1 NS a\\.b\\000.c."), b"\x04a.b\0\x01c\0");
    assert_eq!(owners("\\$a 1 A 192.0.2.1"), "\\$a.example.com. 1");
}

#[test]
fn accepts_line_ends_of_other_systems_and_a_byte_order_mark() {
    assert_eq!(
        owners("\u{feff}$TTL 1\r\na A 192.0.2.1\r\n A 192.0.2.2 ; x\r\n\r\n"),
        "a.example.com. 1, a.example.com. 1"
    );
    assert_eq!(data("a 1 TXT \u{fc}"), b"\x02\xc3\xbc");
}

#[test]
fn reads_types_and_data_in_generic_form() {
    assert_eq!(data("a 1 TYPE65280 \\# 4 0A0b (\n0c 0D )"), [10, 11, 12, 13]);
    assert_eq!(data("a 1 TYPE65280 \\# 0"), Vec::<u8>::new());
    assert_eq!(data("a 1 A ( \\# 4 c0000201 )"), [192, 0, 2, 1]);
}

#[test]
fn generates_records() {
    let text = "$TTL 5\n$GENERATE 1-3 h$ A 192.0.2.$\n A 192.0.2.9\n";
    assert_eq!(
        errors(text),
        "zone:3: no owner, and no record before to take it from; begin the line with a name"
    );
    let text = "$TTL 5\no A 192.0.2.1\n$GENERATE 8-10/2 h${-1,2} 7 IN A 192.0.2.$ ; x\n A 192.0.2.9\n";
    assert_eq!(owners(text), "o.example.com. 5, h07.example.com. 7, h09.example.com. 7, o.example.com. 5");
    let two = read("$GENERATE 1-2 @ 1 MX \"$ m$\"").unwrap();
    assert_eq!(two[1].3, b"\0\x02\x02m2\x07example\x03com\0");
    assert_eq!(data("$GENERATE 7-7 @ 1 MX $ m$"), b"\0\x07\x02m7\x07example\x03com\0");
    assert_eq!(data("$GENERATE 7-7 @ 1 TXT \"\\\"a $\\\"\""), b"\x03a 7");
    assert_eq!(data("$GENERATE 7-7 @ 1 TXT \"a $\" b$"), b"\x03a 7\x02b7");
    assert_eq!(
        errors("\n$GENERATE 5-7 a$ 1 A 192.0.2.25$"),
        "zone:2:22: expected an IPv4 address, found \"192.0.2.256\""
    );
}
