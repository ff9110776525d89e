//! Files that are read in pieces.

use super::*;
use prop::collection::vec as list;
use proptest::prelude::*;

/// The result on two threads, of pieces of one record each and of `piece` bytes, equals the result on one
/// thread.
fn check(text: &[u8], piece: usize) -> Result<(), TestCaseError> {
    let whole = read_with(text, &Options { piece: usize::MAX, ..serial() });
    for (threads, piece) in [(1, 1), (2, 1), (2, piece)] {
        let options = Options { threads, piece, ..serial() };
        prop_assert_eq!(&read_with(text, &options), &whole, "{} threads, pieces of {}", threads, piece);
    }
    Ok(())
}

/// Parts of zone files, well-formed or not.
const PARTS: [&str; 34] = [
    "\n",
    "\n",
    "\n",
    "a",
    " ",
    " ",
    "\t",
    "$TTL 7\n",
    "$TTL 8\n",
    "\n$ORIGIN b\n",
    "\n$ORIGIN c.\n",
    "(",
    ")",
    "\"",
    ";",
    "\\",
    "\\\"",
    "\r\n",
    "b 1 A 192.0.2.1\n",
    " A 192.0.2.2\n",
    "c A 192.0.2.3\n",
    "d TXT \"x\ny\" (\n z )\n",
    "$",
    "e 3 TXT ; \"(\n x\n",
    "\n$GENERATE 1-3 g$ A 192.0.2.$\n",
    "\n$INCLUDE x\n",
    "@ NS (",
    "\n)\n",
    "\0",
    "$ORIGIN",
    "\n$ORIGIN (\nd )\n",
    "f TXT \\\n",
    "\n$GENERATE 1-3 (\ng$ A 192.0.2.$ )\n",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn pieces_give_what_the_whole_gives(parts in list(0..PARTS.len(), 0..40), piece in 1..200_usize) {
        let text: String = parts.iter().map(|part| PARTS[*part]).collect();
        check(text.as_bytes(), piece)?;
    }

    #[test]
    fn any_bytes_give_records_or_errors(text in list(any::<u8>(), 0..300), piece in 1..200_usize) {
        check(&text, piece)?;
    }
}

#[test]
fn a_large_file_keeps_its_order_and_what_records_inherit() {
    let mut text = String::from("first 5 A 192.0.2.1\n");
    let mut expected = vec!["first.example.com. 5".to_owned()];
    for number in 0..20_000 {
        match number % 5_000 {
            0 => text.push_str(&format!("$ORIGIN o{number}.\n")),
            1_000 if number > 10_000 => text.push_str(&format!("$TTL {number}\n")),
            _ => {}
        }
        let origin = number / 5_000 * 5_000;
        let ttl = match number {
            0..11_000 => 5,
            11_000..16_000 => 11_000,
            _ => 16_000,
        };
        text.push_str(&format!("n{number} TXT ( \"a\nb\" ; )\n )\n\tA 192.0.2.1\n"));
        expected.extend([(); 2].map(|()| format!("n{number}.o{origin}. {ttl}")));
    }
    for (threads, piece) in [(1, 4_000), (2, 4_000), (3, 1), (4, 100_000)] {
        let records = read_with(text.as_bytes(), &Options { threads, piece, ..serial() }).unwrap();
        let found = records.iter().map(|(owner, _, ttl, _)| format!("{owner} {ttl}"));
        assert!(found.eq(expected.iter().cloned()), "{threads} threads, pieces of {piece}");
    }
    text.push_str("\n\nx A x\n");
    let line = text.lines().count();
    let error = read_with(text.as_bytes(), &Options { threads: 2, piece: 4_000, ..serial() }).unwrap_err();
    assert_eq!(error.to_string(), format!("zone:{line}:5: expected an IPv4 address, found \"x\""));
}
