//! Text that is made to do harm: it ends in records or errors, in time that is proportional to its length.

use super::*;

#[test]
fn survives_parentheses_without_end() {
    let error = errors(&format!("a 1 TXT {}", "(".repeat(5_000_000)));
    let stopped = "\nstopped after 1 error; mend these and check again";
    assert_eq!(error, format!("zone:1:5: the parenthesis of line 1 is not closed; add a ){stopped}"));
    let text = format!("a 1 TXT {}x{}", "(\n".repeat(300_000), ")".repeat(300_000));
    assert_eq!(data(&text), b"\x01x");
    let error = read(&")".repeat(1_000_000)).unwrap_err();
    assert_eq!(error.faults.len(), 1);
    let error = read(&")\n".repeat(1_000_000)).unwrap_err();
    assert_eq!((error.faults.len(), error.more), (20, true));
}

#[test]
fn survives_long_lines_and_tokens() {
    let long = "x".repeat(10 << 20);
    assert!(errors(&format!("{long} 1 A 192.0.2.1")).contains("label longer than 63 bytes"));
    assert!(errors(&format!("a 1 TXT {long}")).contains("string longer than 255 bytes"));
    assert!(errors(&format!("a 1 {long}")).contains("unknown type"));
    assert!(errors(&format!("a {}", "1".repeat(10 << 20))).contains("expected a TTL"));
    assert!(
        errors(&format!("a 1 TYPE1 \\# 9 {}", "00".repeat(5 << 20))).contains("longer than 65,535 bytes")
    );
    assert!(errors(&format!("a 1 TXT {}", "a ".repeat(5 << 20))).contains("longer than 65,535 bytes"));
    assert!(
        errors(&format!("a 1 DNSKEY 1 3 8 {}", "AAAA ".repeat(2 << 20))).contains("longer than 65,535 bytes")
    );
    assert!(
        errors(&format!("a 1 HTTPS 1 . {}", "a=b ".repeat(2 << 20))).contains("longer than 65,535 bytes")
    );
    assert!(
        errors(&format!("a 1 APL {}", "1:1.2.3.4/32 ".repeat(1 << 20))).contains("longer than 65,535 bytes")
    );
    assert!(
        errors(&format!("a 1 HIP 2 00 AAAA {}", "@ ".repeat(1 << 20))).contains("longer than 65,535 bytes")
    );
    assert!(errors(&format!("a 1 NSEC . {}", "A ".repeat(1 << 20))).contains("longer than 65,535 bytes"));
    let stopped = "; end the line, or close a parenthesis\nstopped after 1 error; mend these and check again";
    let too_long = format!("line or record of more than 1048576 bytes with its comments{stopped}");
    for text in [format!("a 1 A 192.0.2.1 ;{long}"), format!(";{long}"), " ".repeat(2 << 20)] {
        assert_eq!(errors(&format!("\n{text}\nb 1 A 192.0.2.1")), format!("zone:2:1: {too_long}"));
    }
    // Each error is short, whatever the token.
    assert!(errors(&format!("a 1 {long}")).len() < 300);
}

#[test]
fn stops_at_an_entry_that_is_too_long() {
    let most = MAX_ENTRY - "a 1 A 192.0.2.1 ;".len();
    let fits = format!("a 1 A 192.0.2.1 ;{}\n", "c".repeat(most));
    let after = "b 1 A 192.0.2.1\nc 1 A x\n";
    assert_eq!(read(&fits).unwrap().len(), 1);
    for entry in [fits.replacen(';', ";c", 1), format!("a 1 TXT (\n{}\n)\n", " \n".repeat(MAX_ENTRY / 2))] {
        // Nothing after it is read, whatever the pieces and the threads: the bad line is not reported.
        for (threads, piece) in [(1, usize::MAX), (1, 1), (2, 1), (2, 100_000), (1, 1 << 20)] {
            let text = format!("first 1 A 192.0.2.1\n{entry}{after}");
            let options = Options { threads, piece, ..Options::default() };
            let error = read_with(text.as_bytes(), &options).unwrap_err();
            assert_eq!((error.faults.len(), error.more), (1, true), "{threads} {piece}");
            assert_eq!((error.faults[0].line, error.faults[0].column.is_some()), (Some(2), true));
        }
    }
    // The records before it are passed on; an error before it is reported first.
    let text = format!("bad 1 A x\ngood 1 A 192.0.2.1\na 1 TXT {}\n{after}", "\"a\" ".repeat(300_000));
    let error = errors(&text);
    assert!(error.starts_with("zone:1:9: expected an IPv4") && error.contains("zone:3:"), "{error}");
    assert!(error.ends_with("stopped after 2 errors; mend these and check again"), "{error}");
    // A line of a directive, too, and one in an included file.
    for directive in ["$GENERATE 1-2", "$INCLUDE", "$ORIGIN", "$TTL"] {
        let error = read(&format!("{directive} {}\n{after}", "x".repeat(2 << 20))).unwrap_err();
        assert_eq!((error.faults.len(), error.more, error.faults[0].line), (1, true, Some(1)), "{error}");
    }
}

#[test]
fn refuses_bytes_that_are_not_text() {
    let nul = "NUL byte; save the zone file as text in ASCII or UTF-8";
    assert_eq!(errors("a 1 A 1\0"), "zone:1:7: expected an IPv4 address, found \"1\"");
    assert_eq!(errors("\0a 1 A 1"), format!("zone:1:1: {nul}"));
    assert_eq!(errors("a 1 TXT \"\0\0\"\n"), format!("zone:1:10: {nul}"));
    assert!(errors("a 1 TXT \"\0\0\n").contains("does not end"));
    let utf16: Vec<u8> = "a 1 A 192.0.2.1\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(read_with(&utf16, &serial()).unwrap_err().to_string().contains(nul));
    assert!(read_with(&[0; 1 << 20], &serial()).unwrap_err().to_string().contains(nul));
    for end in [
        "\\",
        "\"",
        "\"\\",
        "(",
        "$",
        "$ORIGIN",
        "$ORIGIN ",
        "$TTL (",
        "$INCLUDE",
        "$INCLUDE \"",
        "$GENERATE 1-2",
    ] {
        assert!(read(end).is_err(), "{end}");
        assert!(read(&format!("a 1 TXT {end}")).is_err() || end.starts_with('$'), "{end}");
    }
}

#[test]
fn bounds_what_generate_makes() {
    let bound = "$GENERATE: the zone would have more than 65536 records of it; \
                 shorten the range, or raise zone_files.max_generated";
    assert_eq!(errors("$GENERATE 0-65536 a$ 1 A 192.0.2.1"), format!("zone:1:11: {bound}"));
    // The lines of a zone count together, and a line beyond the bound makes no record.
    let text =
        "$GENERATE 1-5 a$ 1 A 192.0.2.1\n".repeat(2) + "b 1 A 192.0.2.1\n$GENERATE 1-1 c 1 A 192.0.2.1\n";
    for (max_generated, lines) in [(11, ""), (10, "4"), (9, "24"), (4, "124"), (0, "124")] {
        for piece in [1, usize::MAX] {
            let mut made = 0;
            let mut sink = |_: Record<'_>| {
                made += 1;
                Ok(())
            };
            let options = Options { max_generated, piece, ..serial() };
            let origin = name("example.com");
            let read = records_of("zone", text.as_bytes().to_vec(), Some(origin.view()), &options, &mut sink);
            let faults = read.err().map_or(Vec::new(), |error| error.faults);
            let found: String =
                faults.iter().filter_map(|fault| fault.line).map(|line| line.to_string()).collect();
            assert_eq!(found, lines, "{max_generated} of pieces of {piece}");
            let refused = |line: char| lines.contains(line);
            let kept = [('1', 5), ('2', 5), ('4', 1)].into_iter().filter(|(line, _)| !refused(*line));
            assert_eq!(made, 1 + kept.map(|(_, count)| count).sum::<u64>());
        }
    }
    // 65,536 records of four long strings each.
    let strings = format!("{} ", "a".repeat(250)).repeat(4);
    let text = format!("$GENERATE 0-65535 a$ 1 TXT {strings}\n");
    let options = Options { max_errors: 1, max_generated_bytes: 10 << 20, ..serial() };
    let error = read_with(text.as_bytes(), &options).unwrap_err();
    assert!(error.to_string().contains("take more than 10485760 bytes"), "{error}");
    assert!(errors(&format!("$GENERATE 0-1 a$ 1 TXT {}", "a".repeat(2_000))).contains("1,024 bytes"));
    assert!(errors("$GENERATE 0-1 a$ 1 A 192.0.2.1 ; \n$GENERATE 0-1 ${9 1 A 1").contains("expected ${"));
}
