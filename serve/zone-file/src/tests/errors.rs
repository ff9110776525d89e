//! Errors: their positions, their words, and that all are found.

use super::*;

#[test]
fn says_where_and_what() {
    for (text, error) in [
        ("\n\na 1 A 192.0.2.x", "3:7: expected an IPv4 address, found \"192.0.2.x\""),
        ("a 1 A", "1:5: expected an IPv4 address, found the end of the record"),
        (
            "a 1 A 192.0.2.1 192.0.2.2",
            "1:17: expected the end of the record, found \"192.0.2.2\"; quote text that has spaces",
        ),
        ("a 1 MX (\n mail )", "2:2: expected a number of 0 to 65535, found \"mail\""),
        ("a 1 WHAT x", "1:5: unknown type \"WHAT\"; write TYPE and its number, with data as \\# LENGTH HEX"),
        ("a 1 NULL x", "1:5: data of type NULL are read in generic form only; write \\# LENGTH HEX"),
        ("a 1 any x", "1:5: type any is for questions and messages, not for zones; remove the record"),
        ("a IN OPT", "1:6: type OPT is for questions and messages, not for zones; remove the record"),
        ("a 1", "1:3: the record has no type and no data"),
        ("a..b 1 A 192.0.2.1", "1:1: empty label in the name \"a..b\"; remove a dot"),
        ("a 1 NS .b", "1:8: empty label in the name \".b\"; remove a dot"),
        (
            "a 1 TXT \\25",
            "1:9: bad escape in \"\\\\25\", expected \\ and a character or three digits up to 255",
        ),
        ("a 1 TYPE9 \\# 3 0011", "1:16: data of 2 bytes where \\# states 3; correct the length"),
        ("a 1 TYPE9999 x", "1:5: data of type TYPE9999 are read in generic form only; write \\# LENGTH HEX"),
        ("a 1 A \\# 3 000102", "1:12: data that A cannot have: bytes are missing or malformed"),
        (
            "a 1 NS \\# 2 c00c",
            "1:13: data that NS cannot have: name at byte 0 of the record data: compression pointer",
        ),
        ("$TTL x", "1:6: expected a time, such as 3600 or 1h30m, found \"x\""),
        (
            "$FOO x",
            "1:1: unknown directive \"$FOO\", expected $ORIGIN, $TTL, $INCLUDE or $GENERATE; \
             an owner that begins with $ is written \\$",
        ),
        ("($TTL 1)", "1:2: expected an owner, or a directive at the start of its line, found \"$TTL\""),
        ("\r$TTL 1", "1:2: expected an owner, or a directive at the start of its line, found \"$TTL\""),
        ("a 1 TXT \"x\nb 1 A 1", "1:9: the quotation that begins in line 1 does not end; add a \""),
        ("\na 1 TXT ( x\nb 1 A 1\n", "3:7: the parenthesis of line 2 is not closed; add a )"),
        ("a 1 TXT x )", "1:11: closing parenthesis without an opening one; remove it"),
        ("a 1 DS 1 13 2 abc", "1:15: expected an even number of hex digits, found \"abc\""),
        (
            "a 1 DNSKEY 256 3 13 AB=C",
            "1:21: expected base 64, with = at its end where needed, found \"AB=C\"",
        ),
        ("a 1 HTTPS 1 . port=x", "1:15: data that HTTPS cannot have: "),
        (
            "$INCLUDE x",
            "1:10: $INCLUDE of \"x\": the zone is not read from a file, so it has no folder; \
             insert the lines here",
        ),
    ] {
        let found = errors(text);
        assert!(found.starts_with(&format!("zone:{error}")), "{text:?}\n{found}\n{error}");
    }
}

#[test]
fn a_name_may_need_an_origin() {
    let mut sink = |_: Record<'_>| Ok(());
    let error = records_of("zone", b"a 1 A 192.0.2.1".to_vec(), None, &serial(), &mut sink).unwrap_err();
    assert_eq!(
        error.to_string(),
        "zone:1:1: relative name without an origin; end the name with a dot, or state $ORIGIN"
    );
    assert!(records_of("zone", b"a. 1 A 192.0.2.1".to_vec(), None, &serial(), &mut sink).is_ok());
}

#[test]
fn reports_all_errors_up_to_a_limit() {
    let error = read("a 1 A x\nb 1 A 192.0.2.1\nc 1 MX\n d 1\ne 1 TXT (\nf )\n").unwrap_err();
    let lines: Vec<_> = error.faults.iter().map(|fault| fault.line).collect();
    assert_eq!((lines, error.more), (vec![Some(1), Some(3), Some(4)], false));
    let error =
        read_with("a 1 A x\n".repeat(100).as_bytes(), &Options { max_errors: 3, ..serial() }).unwrap_err();
    assert_eq!((error.faults.len(), error.more), (3, true));
    assert!(error.to_string().ends_with("\nstopped after 3 errors; mend these and check again"));
}

#[test]
fn goes_on_after_the_end_of_a_record_with_an_error() {
    let text = "a 1 MX x (\n\"b 1 A x\n\"\n) ; \"\nb 1 A y\n";
    let lines: Vec<_> = read(text).unwrap_err().faults.iter().map(|fault| fault.line).collect();
    assert_eq!(lines, [Some(1), Some(5)]);
}

#[test]
fn an_error_of_the_sink_has_the_line_of_its_record() {
    let mut sink = |record: Record<'_>| match record.ttl {
        2 => Err(FaultKind::Zone("not this one".into())),
        _ => Ok(()),
    };
    let text = b"a. 1 A 192.0.2.1\nb. 2 TXT (\n x )\n".to_vec();
    let error = records_of("zone", text, None, &serial(), &mut sink).unwrap_err();
    assert_eq!(error.to_string(), "zone:2: not this one");
}

#[test]
fn types_of_questions_and_messages_are_not_for_zones() {
    for word in ["ANY", "OPT", "AXFR", "ixfr", "MAILA", "MAILB", "TSIG", "TKEY", "NXNAME"] {
        let found = errors(&format!("a 1 {word} \\# 0"));
        let expected = format!("zone:1:5: type {word} is for questions and messages, not for zones; ");
        assert!(found.starts_with(&expected), "{found}");
    }
}

#[test]
fn a_file_longer_than_all_may_be_is_refused_by_its_length() {
    let folder = tempfile::TempDir::new().unwrap();
    let (zone, included) = (folder.path().join("x.zone"), folder.path().join("inc"));
    std::fs::write(&zone, "$INCLUDE inc\n").unwrap();
    // Without blocks on the disk. Its memory is not there either.
    std::fs::File::create(&included).unwrap().set_len(20 << 30).unwrap();
    for file in [&zone, &included] {
        let error = super::zone(file, None, &serial(), &Key::VECTOR).unwrap_err().to_string();
        assert!(error.contains("more than 17179869184 bytes"), "{error}");
    }
}
