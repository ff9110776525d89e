//! Text that is made to do harm: it ends in records or errors, in time that is proportional to its length.

use super::*;

#[test]
fn survives_parentheses_without_end() {
    let error = errors(&format!("a 1 TXT {}", "(".repeat(5_000_000)));
    assert_eq!(error, "zone:1:5: the parenthesis of line 1 is not closed; add a )");
    let text = format!("a 1 TXT {}x{}", "(\n".repeat(500_000), ")".repeat(500_000));
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
    assert_eq!(owners(&format!("a 1 A 192.0.2.1 ;{long}\n{}", " ".repeat(10 << 20))), "a.example.com. 1");
    // Each error is short, whatever the token.
    assert!(errors(&format!("a 1 {long}")).len() < 300);
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
    let error = errors("$GENERATE 0-65536 a$ 1 A 192.0.2.1");
    assert_eq!(error, "zone:1:11: $GENERATE: more than 65,536 records; split the range");
    // 65,536 records of four long strings each.
    let strings = format!("{} ", "a".repeat(250)).repeat(4);
    let text = format!("$GENERATE 0-65535 a$ 1 TXT {strings}\n").repeat(1_000);
    let error = read_with(text.as_bytes(), &Options { max_errors: 1, max_generated: 10 << 20, ..serial() })
        .unwrap_err();
    assert!(error.to_string().contains("take more than 10485760 bytes"), "{error}");
    assert!(errors(&format!("$GENERATE 0-1 a$ 1 TXT {}", "a".repeat(2_000))).contains("1,024 bytes"));
    assert!(errors("$GENERATE 0-1 a$ 1 A 192.0.2.1 ; \n$GENERATE 0-1 ${9 1 A 1").contains("expected ${"));
}
