//! DNS messages from zone files, hex and captures, and back.

use domain::base::{Message, Record, Rtype};
use domain::rdata::ZoneRecordData;
use domain::zonefile::inplace::{Entry, Zonefile};
use hashlane_rig::children::start;
use hashlane_rig::command::{Folder, Ran, holds};
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::Stdio;

const ZONE: &str = "\
$ORIGIN example.com.
$TTL 300
@         IN SOA ns hostmaster 1 2 3 4 5
          IN NS ns
          IN MX 10 mail
          IN MX 20 .
EXAMPLE.com. IN TXT \"a b\" c
ns     60 IN A 192.0.2.1
_sip._tcp IN SRV 0 0 5060 ns
www       IN CNAME example.com.
other.test. IN NS ns.www
odd       IN TYPE65280 \\# 3 010203
";

/// A response to `A? a.test`: a CNAME and an address whose names are pointers, and OPT with an option.
const RESPONSE: &str = "\
be ef 8180 0001 0002 0000 0001   # header
01 61 04 74657374 00 0001 0001
c00c 0005 0001 0000003c 0004 01 62 c00e
c024 0001 0001 0000003c 0004 c0000201
00 0029 04d0 00000000 0006 000a 0002 abcd
";

/// The messages of hex text.
fn messages(hex: &str) -> Vec<Vec<u8>> {
    let octets = |block: &str| {
        let lines = block.lines().filter(|line| !line.starts_with('#'));
        let digits: Vec<u8> = lines.flat_map(str::bytes).collect();
        let pairs = digits.as_chunks::<2>().0.iter().map(|pair| std::str::from_utf8(pair).unwrap());
        pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect::<Vec<u8>>()
    };
    hex.split_terminator("\n\n").map(octets).collect()
}

/// Asserts that another parser finds the records of `zone` in the answers of `messages`, in their order.
#[track_caller]
fn hold_the_records(messages: &[Vec<u8>], zone: &str) {
    let entries = Zonefile::from(zone).map(|entry| match entry.unwrap() {
        Entry::Record(record) => record,
        Entry::Include { .. } => panic!("an include"),
    });
    let expected: Vec<_> = entries.collect();
    let mut found = 0;
    for octets in messages {
        let message = Message::from_octets(octets.as_slice()).unwrap();
        for record in message.answer().unwrap() {
            let record: Record<_, ZoneRecordData<_, _>> = record.unwrap().into_record().unwrap().unwrap();
            assert!(record == expected[found] && record.ttl() == expected[found].ttl(), "{record:?}");
            found += 1;
        }
        assert_eq!(message.header_counts().arcount(), 0);
    }
    assert_eq!(found, expected.len());
}

fn stdin(folder: &Folder, arguments: &[&str], input: &[u8]) -> Ran {
    let mut command = folder.command(arguments);
    let mut child = start(command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()));
    child.stdin.take().unwrap().write_all(input).unwrap();
    Ran::finish(child)
}

#[test]
fn a_zone_becomes_a_message_that_another_parser_reads() {
    let folder = Folder::new();
    folder.write("zone", ZONE);
    let whole = folder.run(&["dns", "render", "zone", "--compressor", "dumb"]).ok();
    let ours = folder.run(&["dns", "render", "zone"]).ok();
    for hex in [&whole, &ours] {
        hold_the_records(&messages(hex), ZONE);
    }
    let (whole, len) = (messages(&whole)[0].len(), messages(&ours)[0].len());
    assert!(len < whole);
    holds(&ours, &[&format!("# message 1: 10 records, {len} bytes ({whole} without compression)\n")]);
    let message = &messages(&ours)[0];
    let question = Message::from_octets(message.as_slice()).unwrap().sole_question().unwrap();
    assert_eq!((question.qname().to_string(), question.qtype()), ("example.com".to_owned(), Rtype::AXFR));
    assert!(ours.lines().all(|line| line.starts_with('#') || line.len() <= 64));
}

#[test]
fn its_own_output_is_read_again() {
    let folder = Folder::new();
    folder.write("zone", ZONE);
    let once = folder.run(&["dns", "render", "zone"]).ok();
    for arguments in [&["--explain"][..], &["--compressor", "dumb", "--explain"], &[]] {
        let hex = folder.run(&[&["dns", "render", "zone"], arguments].concat()).ok();
        folder.write("hex", &hex);
        assert_eq!(folder.run(&["dns", "render", "hex"]).ok(), once);
        assert_eq!(stdin(&folder, &["dns", "render", "-"], hex.as_bytes()).ok(), once);
    }
    folder.run(&["dns", "render", "zone", "--out", "file"]).ok();
    assert_eq!(std::fs::read_to_string(folder.path("file")).unwrap(), once);
}

#[test]
fn the_file_that_is_read_is_not_written() {
    let folder = Folder::new();
    folder.write("zone", ZONE);
    std::fs::hard_link(folder.path("zone"), folder.path("link")).unwrap();
    for out in ["zone", "./zone", "link"] {
        let error = folder.run(&["dns", "render", "zone", "--out", out]).failed();
        holds(&error, &["is the input file; name another file"]);
        assert_eq!(std::fs::read_to_string(folder.path("zone")).unwrap(), ZONE);
    }
}

#[test]
fn a_zone_longer_than_the_limit_is_divided() {
    let mut zone = "$ORIGIN example.com.\n$TTL 60\n".to_owned();
    for host in 0..200 {
        writeln!(zone, "host{host} IN A 192.0.2.{host}").unwrap();
    }
    let folder = Folder::new();
    folder.write("zone", &zone);
    let hex = folder.run(&["dns", "render", "zone", "--limit", "512"]).ok();
    let messages = messages(&hex);
    assert!(messages.len() > 5 && messages.iter().all(|message| message.len() <= 512));
    hold_the_records(&messages, &zone);
    let questions = messages.iter().map(|message| message[5]);
    assert!(questions.eq((0..messages.len()).map(|number| u8::from(number == 0))));
    holds(
        &hex,
        &[
            "without compression)\n",
            "# message 2: ",
            "without compression); continues the previous message\n",
        ],
    );
}

#[test]
fn a_message_keeps_its_header_sections_and_opt() {
    let folder = Folder::new();
    folder.write("hex", RESPONSE);
    let ours = messages(&folder.run(&["dns", "render", "hex"]).ok());
    let without_comment = RESPONSE.replace("# header", "");
    let digits: String = without_comment.split_whitespace().collect();
    // The message cannot become smaller.
    assert_eq!(ours, messages(&digits));
    let dumb = messages(&folder.run(&["dns", "render", "hex", "--compressor", "dumb"]).ok());
    assert_eq!(dumb[0][..12], ours[0][..12]);
    assert!(dumb[0].len() > ours[0].len() && dumb[0].ends_with(&ours[0][ours[0].len() - 17..]));
}

#[test]
fn explains_where_each_name_went() {
    let folder = Folder::new();
    folder.write("zone", ZONE);
    let rows = |arguments: &[&str]| {
        let text = folder.run(&[&["dns", "render", "zone", "--explain"], arguments].concat()).ok();
        let rows = text.lines().filter_map(|line| line.strip_prefix("# "));
        let columns =
            rows.map(|row| row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect());
        columns.map(|columns: Vec<&str>| columns.join(" | ")).collect::<Vec<String>>().join("\n")
    };
    let ours = rows(&[]);
    holds(
        &ours,
        &[
            "at | name | written as | where | why",
            "12 | example.com. | literal | question | no suffix was written before",
            "29 | example.com. | pointer to 12 | answer 1: owner | the whole name was written before",
            "41 | ns.example.com. | 3 bytes + pointer to 12 (example.com.) | answer 1: rdata of SOA | \
             longest suffix found at 12",
            "| pointer to 41 | answer 2: rdata of NS | the whole name was written before",
            "| . | root | answer 4: rdata of MX | one byte, shorter than a pointer",
            "| EXAMPLE.com. | pointer to 12 | answer 5: owner | \
             the whole name was written before, spelled example.com.",
            "| ns.example.com. | literal | answer 7: rdata of SRV | \
             not compressed: type SRV is not of RFC 1035 (RFC 3597 §4)",
        ],
    );
    // The labels are at the offsets that the rows state.
    let octets = &messages(&folder.run(&["dns", "render", "zone"]).ok())[0];
    let literals = ours.lines().filter(|row| row.contains("| literal |"));
    for row in literals.clone() {
        let (at, rest) = row.split_once(" | ").unwrap();
        let label = rest.split_once('.').unwrap().0.as_bytes();
        let at: usize = at.parse().unwrap();
        assert_eq!((octets[at] as usize, &octets[at + 1..][..label.len()]), (label.len(), label), "{row}");
    }
    assert_eq!(literals.count(), 3);
    holds(&rows(&["--case-sensitive"]), &["| EXAMPLE.com. | 8 bytes + pointer to 20 (com.) |"]);
    holds(&rows(&["--compressor", "dumb"]), &["answer 2: rdata of NS | ns.example.com. at 52 was not used"]);
}

#[test]
fn explains_what_no_pointer_reaches() {
    let mut zone = "$TTL 60\na.example. IN A 192.0.2.1\n".to_owned();
    for _ in 0..70 {
        writeln!(zone, "a.example. IN TXT {}", "x".repeat(240)).unwrap();
    }
    zone.push_str("a.test. IN A 192.0.2.1\na.test. IN A 192.0.2.2\nb.a.EXAMPLE. IN A 192.0.2.3\n");
    let folder = Folder::new();
    folder.write("zone", zone);
    let text = folder.run(&["dns", "render", "zone", "--explain"]).ok();
    let last: Vec<&str> = text.lines().filter(|line| line.contains(": owner")).rev().take(3).collect();
    holds(last[2], &["literal", "no suffix was written before"]);
    holds(last[1], &["literal", "a.test. at 17", " is beyond 0x4000, the reach of pointers"]);
    holds(last[0], &["2 bytes + pointer to 12 (a.example.)", "found at 12, spelled a.example."]);
}

#[test]
fn keeps_the_spelling_of_names_on_request() {
    let folder = Folder::new();
    folder.write("zone", "$TTL 60\nexample. IN NS a.Example.\n");
    let spelled = |arguments: &[&str]| {
        let hex = folder.run(&[&["dns", "render", "zone"], arguments].concat()).ok();
        messages(&hex)[0].windows(7).filter(|octets| octets.eq_ignore_ascii_case(b"example")).count()
    };
    assert_eq!((spelled(&[]), spelled(&["--case-sensitive"])), (1, 2));
}

#[test]
fn a_capture_is_written_and_read_again() {
    let folder = Folder::new();
    let query = "0007 0100 0001 0000 0000 0000 01 61 00 0001 0001\n";
    folder.write("hex", [RESPONSE, "\n", query].concat());
    let hex = folder.run(&["dns", "render", "hex"]).ok();
    let written =
        folder.run(&["dns", "render", "hex", "--output", "pcap", "--out", "out.pcap", "--explain"]).ok();
    holds(&written, &["# message 2: 0 records, 19 bytes", "pointer to 12", "\n2 messages in out.pcap\n"]);
    let again = folder.run(&["dns", "render", "out.pcap"]);
    holds(&again.err, &["out.pcap: 2 messages from 2 packets\n"]);
    assert_eq!(again.ok(), hex);
}

#[test]
fn names_without_an_origin_take_the_one_that_is_given() {
    let folder = Folder::new();
    folder.write("zone", "www A 192.0.2.1\n@ NS www");
    let hex = folder.run(&["dns", "render", "zone", "--origin", "Example.com"]).ok();
    hold_the_records(
        &messages(&hex),
        "www.example.com. IN A 192.0.2.1\nexample.com. IN NS www.example.com.\n",
    );
    holds(&folder.run(&["dns", "render", "zone"]).failed(), &["zone:1:1: ", "--origin NAME"]);
    assert_eq!(folder.run(&["dns", "render", "zone", "--origin", "a..b"]).code, Some(2));
    // As in the name server, a file may be named after its zone.
    for file in ["Example.com.zone", "Example.com.db"] {
        folder.write(file, "www A 192.0.2.1\n@ NS www");
        assert_eq!(folder.run(&["dns", "render", file]).ok(), hex);
        assert_ne!(folder.run(&["dns", "render", file, "--origin", "example.org"]).ok(), hex);
    }
}

#[test]
fn a_zone_of_the_field_has_units_and_includes_files_of_its_folder() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("zones")).unwrap();
    folder.write("zones/main", "$TTL 1d\r\n$ORIGIN example.com.\r\n@ 1h NS @\r\n$INCLUDE hosts\r\n");
    folder.write("zones/hosts", "www 1h30m A 192.0.2.1\n");
    let hex = folder.run(&["dns", "render", "zones/main"]).ok();
    hold_the_records(
        &messages(&hex),
        "example.com. 3600 IN NS example.com.\nwww.example.com. 5400 IN A 192.0.2.1\n",
    );
    folder.write("zones/main", "$INCLUDE ../secret\n");
    holds(
        &folder.run(&["dns", "render", "zones/main"]).failed(),
        &["zones/main:1:10: $INCLUDE of \"../secret\": not a path inside the zone's folder"],
    );
}

#[test]
fn what_cannot_be_rendered_is_refused_with_the_reason() {
    let folder = Folder::new();
    folder.write("ipv4.pcap", include_bytes!("../../../../vectors/captures/ipv4.pcap"));
    folder.write("long.zone", format!("$TTL 60\na. IN TXT {}\n", "\"0123456789\" ".repeat(60)));
    folder.write("include.zone", "$INCLUDE other.zone\n");
    folder.write("empty.zone", "; nothing\n");
    folder.write("text", "It was a dark and stormy night.\n");
    folder.write("cut.hex", &RESPONSE[..80]);
    folder.write("half.hex", "000");
    folder.write("wire", b"\0\x07\x01\0\0\x01\0\0\0\0\0\0\x01a\0\0\x01\0\x01");
    let large = std::fs::File::create(folder.path("large")).unwrap();
    large.set_len((256 << 20) + 1).unwrap();
    for (arguments, says) in [
        (&["none.zone"][..], &["cannot read none.zone: No such file"][..]),
        (&["."], &["cannot read ."]),
        (&["large"], &["large is longer than 256 MiB"]),
        (&["text"], &["text:1:", "; read as a zone file, because it is neither a capture nor only hex"]),
        (&["empty.zone"], &["empty.zone: no record"]),
        (&["include.zone"], &["$INCLUDE of \"other.zone\""]),
        (&["wire"], &["wire: neither a capture nor text: zero byte at offset 0", "xxd -p"]),
        (&["text", "--input", "hex"], &["text: line 1: \"I\" is not a hex digit"]),
        (&["text", "--input", "capture"], &["text: not a pcap or pcapng file"]),
        (
            &["cut.hex"],
            &["cut.hex: the message that begins in line 1: ", "its header says that there is more"],
        ),
        (&["half.hex"], &["half.hex: the message that begins in line 1 ends with half a byte"]),
        (
            &["ipv4.pcap"],
            &["ipv4.pcap has no DNS message", "24 packets; 24 skipped: 20 not from or to port 53, 4 without"],
        ),
        (&["long.zone", "--limit", "512"], &["the record a. TXT has 673 bytes and does not fit", "--limit"]),
        (
            &["empty.zone", "--output", "pcap", "--out", "p", "--limit", "65508"],
            &["has room for 65507 bytes"],
        ),
    ] {
        let message = folder.run(&[&["dns", "render"], arguments].concat()).failed();
        holds(&message, says);
    }
    assert!(!folder.path("p").exists());
    folder.write("zone", ZONE);
    let unwritable = folder.run(&["dns", "render", "zone", "--out", "no/such/folder"]).failed();
    holds(&unwritable, &["cannot write no/such/folder: "]);
    for wrong in
        [&["--limit", "511"][..], &["--limit", "65536"], &["--output", "pcap"], &["--compressor", "x"]]
    {
        assert_eq!(folder.run(&[&["dns", "render", "zone"], wrong].concat()).code, Some(2), "{wrong:?}");
    }
}
