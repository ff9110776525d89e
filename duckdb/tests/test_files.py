"""Tables of captures, IPFIX and DNS messages, also of damaged and hostile files."""

from __future__ import annotations

import gzip
import os
import pathlib
import random
import struct
import threading
import time

import duckdb
import hashlane.dns
import hashlane.pcap
import pytest

from conftest import (
    KEY,
    Connection,
    answer,
    capture,
    connect,
    dns_capture,
    ipfix,
    ipfix_message,
    ipfix_template,
    query,
    udp,
)


def packets(count: int) -> bytes:
    """A capture of packets from many ports."""
    data = [
        udp(("10.0.0.1", number % 60_000), ("10.0.0.2", 443), b"") for number in range(count)
    ]
    return capture(data)


@pytest.mark.parametrize("name", ["ipv4.pcap", "ipv6.pcapng", "cooked.pcap", "fragments.pcap"])
def test_tuples_are_those_of_python(db: Connection, repository: pathlib.Path, name: str) -> None:
    path = repository / "vectors" / "captures" / name
    rows = db.execute(
        "SELECT src, sport, dst, dport, protocol, length FROM read_pcap_tuples($1)", [str(path)]
    ).fetchall()
    hashes = hashlane.rss(*[[row[at] for row in rows] for at in range(4)], hashlane.RSS_PUBLISHED_KEY)
    found = db.execute(
        "SELECT rss(src, sport, dst, dport, $2) FROM read_pcap_tuples($1, text := false)",
        [str(path), hashlane.RSS_PUBLISHED_KEY],
    ).fetchall()
    assert [row[0] for row in found] == hashes.to_pylist()
    skipped = db.execute(
        "SELECT count(*) FILTER (skipped IS NULL), count(skipped) "
        "FROM read_pcap_tuples($1, skipped := true)",
        [str(path)],
    ).fetchone()
    assert skipped[0] == len(rows)


def test_times_have_nanoseconds_and_zero_is_null(db: Connection, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "a.pcap"
    file.write_bytes(packets(2))
    rows = db.execute("SELECT epoch_ns(time) FROM read_pcap_tuples($1)", [str(file)]).fetchall()
    assert rows == [(1_000_005_000,), (2_000_005_000,)]
    file.write_bytes(packets(1).replace(b"\x01\0\0\0\x05\0\0\0", bytes(8)))
    assert db.execute("SELECT time FROM read_pcap_tuples($1)", [str(file)]).fetchall() == [(None,)]


def test_patterns_name_many_files_for_many_threads(tmp_path: pathlib.Path) -> None:
    for number in range(20):
        data = packets(5000 + number)
        (tmp_path / f"{number:02}.pcap").write_bytes(data if number % 2 else gzip.compress(data, 1))
    (tmp_path / "folder.pcap").mkdir()
    db = connect(threads=4)
    pattern = str(tmp_path / "*.pcap")
    counts = "SELECT file, count(*) FROM read_pcap_tuples($1) GROUP BY file ORDER BY file"
    rows = db.execute(counts, [pattern]).fetchall()
    assert [count for _, count in rows] == list(range(5000, 5020))
    assert rows[3][0] == str(tmp_path / "03.pcap")
    # A prepared statement reads the files again.
    db.execute(f"PREPARE total AS SELECT count(*) FROM read_pcap_tuples('{pattern}')")
    assert [db.execute("EXECUTE total").fetchone()[0] for _ in range(3)] == [100_190] * 3
    assert len(db.execute("SELECT * FROM read_pcap_tuples($1) LIMIT 3", [pattern]).fetchall()) == 3
    one = db.execute("SELECT sum(dport) FROM read_pcap_tuples($1)", [str(tmp_path / "0[12].pcap")]).fetchone()
    assert one == (443 * 10_003,)


def test_a_list_names_files_and_patterns(db: Connection, tmp_path: pathlib.Path) -> None:
    for folder, name, count in [("a", "1.pcap", 10), ("a/b", "2.pcap", 20), ("c", "3.pcap", 40)]:
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / name).write_bytes(packets(count))
    count = "SELECT count(*) FROM read_pcap_tuples($1)"
    patterns = [str(tmp_path / "a" / "**" / "*.pcap"), str(tmp_path / "c" / "3.pcap")]
    assert db.execute(count, [patterns]).fetchone() == (70,)
    assert db.execute(count, [patterns[:1]]).fetchone() == (30,)
    literal = "[" + ", ".join(f"'{pattern}'" for pattern in patterns) + "]"
    assert db.execute(f"SELECT count(*) FROM read_pcap_tuples({literal})").fetchone() == (70,)
    for argument, why in [
        ("[]", "the list of files is empty"),
        ("['a.pcap', NULL]", "other than texts"),
        ("[7]", "other than texts"),
        ("[['a.pcap']]", "other than texts"),
        ("7", "expected a text or a list"),
        ("NULL", "the argument is null"),
        ("NULL::VARCHAR[]", "the list of files is empty"),
        (f"['{patterns[1]}', 'missing.pcap']", 'no file matches "missing.pcap"'),
    ]:
        with pytest.raises(duckdb.Error) as caught:
            db.execute(f"SELECT * FROM read_pcap_tuples({argument})").fetchall()
        assert why in str(caught.value)


def test_a_join_reads_a_table_twice(db: Connection, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "a.pcap"
    file.write_bytes(packets(3000))
    total = db.execute(
        "SELECT count(*) FROM read_pcap_tuples($1) a JOIN read_pcap_tuples($1) b USING (sport)", [str(file)]
    ).fetchone()
    assert total == (3000,)


def test_a_file_that_is_cut_off_is_an_error_with_its_offset(db: Connection, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "cut.pcap"
    file.write_bytes(packets(10)[:-3])
    with pytest.raises(duckdb.InvalidInputException, match="cut.pcap: it ends within a packet, at offset 420"):
        db.execute("SELECT sport FROM read_pcap_tuples($1)", [str(file)]).fetchall()
    for function in ["read_pcap_tuples", "dns_messages"]:
        rows = db.execute(
            f"SELECT skipped, time, count(*) FROM {function}($1, skipped := true) WHERE skipped LIKE 'cut%' "
            "GROUP BY ALL",
            [str(file)],
        ).fetchall()
        assert rows == [("cut off by the end of the file", None, 1)]
    ports = db.execute("SELECT count(sport) FROM read_pcap_tuples($1, skipped := true)", [str(file)])
    assert ports.fetchone() == (9,)


def test_messages_are_those_of_python(db: Connection, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "dns.pcap"
    file.write_bytes(dns_capture())
    rows = db.execute(
        "SELECT {id: id, flags: flags, questions: questions, records: records}, dst, dport "
        "FROM dns_messages($1) ORDER BY time",
        [str(file)],
    ).fetchall()
    expected = hashlane.dns.parse([query(1), answer(1), query(2)]).to_pylist()
    assert [row[0] for row in rows] == expected
    assert rows[0][1:] == ("10.0.0.53", 53)


def test_many_messages_fill_many_chunks(db: Connection, tmp_path: pathlib.Path) -> None:
    ends = ("10.0.0.1", 4000), ("10.0.0.53", 53)
    names = [b"\x06" + b"%06d" % number + b"\0" for number in range(7000)]
    data = [udp(*ends, query(number, name)) for number, name in enumerate(names)]
    file = tmp_path / "dns.pcap"
    file.write_bytes(capture(data))
    rows = db.execute("SELECT id, questions[1].name FROM dns_messages($1)", [str(file)]).fetchall()
    assert rows == [(number, f"{number:06}.") for number in range(7000)]


def test_messages_that_unfold_to_much_memory_are_read(db: Connection, tmp_path: pathlib.Path) -> None:
    # 4,000 records whose owner of 254 bytes is a pointer, in each of 30 messages: 30 MB of names.
    name = b"\x3f" + b"a" * 63
    owner = name * 3 + b"\x3d" + b"b" * 61 + b"\0"
    question = owner + b"\0\x01\0\x01"
    records = b"\xc0\x0c\0\x01\0\x01\0\0\0\0\0\0" * 4000
    message = b"\0\x07\x81\x80\0\x01" + (4000).to_bytes(2, "big") + bytes(4) + question + records
    ends = ("10.0.0.1", 4000), ("10.0.0.53", 53)
    file = tmp_path / "dns.pcap"
    file.write_bytes(capture([udp(*ends, message)] * 30))
    found = db.execute("SELECT count(*), sum(len(records)) FROM dns_messages($1)", [str(file)]).fetchone()
    assert found == (30, 120_000)


def test_flows_of_ipfix(db: Connection, tmp_path: pathlib.Path) -> None:
    flows = [("192.0.2.1", 1000 + number % 60, "192.0.2.2", 443, number) for number in range(3000)]
    file = tmp_path / "flows.ipfix"
    file.write_bytes(b"".join(ipfix(flows[from_ : from_ + 500]) for from_ in range(0, 3000, 500)))
    rows = db.execute(
        "SELECT src, sport, dst, dport, bytes FROM read_ipfix($1) ORDER BY bytes", [str(file)]
    ).fetchall()
    assert rows == flows
    row = db.execute("SELECT packets, protocol, reverse_packets, tunnel FROM read_ipfix($1)", [str(file)])
    assert row.fetchone() == (3, 6, None, None)
    file.write_bytes(ipfix(flows[:500])[:-1])
    with pytest.raises(duckdb.InvalidInputException, match="ends within a message"):
        db.execute("SELECT * FROM read_ipfix($1)", [str(file)]).fetchall()


def test_fields_that_a_template_lacks_are_null(db: Connection, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "short.ipfix"
    addresses = [(8, 4), (12, 4)]
    file.write_bytes(ipfix_message(ipfix_template(256, addresses), (256, bytes(range(8)))))
    row = db.execute("SELECT * EXCLUDE (src, dst, domain, file) FROM read_ipfix($1)", [str(file)]).fetchone()
    assert set(row) == {None}
    # Zeros that a record states stay zeros.
    stated = [*addresses, (7, 2), (2, 1), (1, 1), (6, 1), (136, 1)]
    file.write_bytes(ipfix_message(ipfix_template(256, stated), (256, bytes(13) + b"\3")))
    columns = "sport, dport, protocol, packets, bytes, tcp_flags, end_reason"
    row = db.execute(f"SELECT {columns} FROM read_ipfix($1)", [str(file)]).fetchone()
    assert row == (0, None, None, 0, 0, 0, 3)


def test_times_count_from_the_start_of_the_exporter(db: Connection, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "uptime.ipfix"
    elements = [(8, 4), (12, 4), (160, 8), (22, 4), (21, 4)]
    record = bytes(8) + struct.pack(">QII", 1_600_000_000_000, 1000, 2500)
    file.write_bytes(ipfix_message(ipfix_template(256, elements), (256, record)))
    times = db.execute("SELECT epoch_ns(first), epoch_ns(last) FROM read_ipfix($1)", [str(file)]).fetchone()
    assert times == (1_600_000_001_000_000_000, 1_600_000_002_500_000_000)


def test_data_of_ipfix_that_is_no_flow_is_shown_on_request(db: Connection, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "other.ipfix"
    mixed = ipfix_template(256, [(8, 4), (28, 16)])
    file.write_bytes(ipfix_message((300, bytes(20)), mixed, (256, bytes(40))))
    count = "SELECT count(*) FROM read_ipfix($1)"
    assert db.execute(count, [str(file)]).fetchone() == (0,)
    rows = db.execute(
        "SELECT skipped, src, domain, count(*) FROM read_ipfix($1, skipped := true) GROUP BY ALL ORDER BY ALL",
        [str(file)],
    ).fetchall()
    assert rows == [
        ("records with addresses of two IP versions", None, None, 2),
        ("sets without their template", None, None, 1),
    ]


def test_compressed_and_empty_files_of_ipfix(db: Connection, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "flows.ipfix.gz"
    file.write_bytes(gzip.compress(ipfix([("192.0.2.1", 1, "192.0.2.2", 443, 9)])))
    assert db.execute("SELECT bytes FROM read_ipfix($1)", [str(file)]).fetchall() == [(9,)]
    for data in [b"", gzip.compress(b"")]:
        file.write_bytes(data)
        with pytest.raises(duckdb.InvalidInputException, match="not an IPFIX file: it is empty"):
            db.execute("SELECT * FROM read_ipfix($1)", [str(file)]).fetchall()


def test_an_ipv4_mapped_address_in_an_ipv6_packet_is_an_ipv6_one(
    db: Connection, tmp_path: pathlib.Path
) -> None:
    addresses = bytes.fromhex("20010db8000000000000000000000001") + bytes(10) + bytes.fromhex("ffff01020304")
    header = struct.pack(">IHBB", 0x60000000, 8, 17, 64)
    packet = header + addresses + struct.pack(">HHHH", 1, 53, 8, 0)
    file = tmp_path / "mapped.pcap"
    file.write_bytes(capture([udp(("10.0.0.1", 1), ("10.0.0.2", 2), b""), packet]))
    ends = db.execute("SELECT src, dst FROM read_pcap_tuples($1) ORDER BY time", [str(file)]).fetchall()
    assert ends == [("10.0.0.1", "10.0.0.2"), ("2001:db8::1", "::ffff:1.2.3.4")]
    key = hashlane.RSS_PUBLISHED_KEY
    loads = []
    for text in ["true", "false"]:
        rows = db.execute(
            f"SELECT rss(src, sport, dst, dport, $2) FROM read_pcap_tuples($1, text := {text}) ORDER BY time",
            [str(file), key],
        ).fetchall()
        load = db.execute(
            "SELECT imbalance(src, sport, dst, dport, 'rss', 4, 1, getvariable('key')) "
            f"FROM read_pcap_tuples($1, text := {text})",
            [str(file)],
        ).fetchone()[0]
        loads.append((rows, load))
    assert loads[0] == loads[1] and loads[0][1]["packets"] == 2


@pytest.mark.parametrize("function", ["read_pcap_tuples", "dns_messages", "read_ipfix"])
def test_changed_files_are_rows_or_errors(db: Connection, tmp_path: pathlib.Path, function: str) -> None:
    samples = {
        "read_pcap_tuples": packets(40),
        "dns_messages": dns_capture(),
        "read_ipfix": ipfix([("192.0.2.1", 1, "192.0.2.2", 2, 3)] * 20),
    }
    source = random.Random(function)
    for number in range(150):
        data = bytearray(samples[function])
        for _ in range(source.randrange(1, 6)):
            data[source.randrange(len(data))] = source.choice([0, 1, 0x7F, 0x80, 0xFF, source.randrange(256)])
        del data[source.randrange(len(data)) :][: source.choice([0, 0, 0, 7])]
        file = tmp_path / f"{number}"
        file.write_bytes(data)
        try:
            db.execute(f"SELECT * FROM {function}($1)", [str(file)]).fetchall()
        except duckdb.InvalidInputException as error:
            assert function in str(error)


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/dev/zero", "not a regular file"),
        ("missing/*.pcap", 'no file matches "missing/*.pcap"'),
        ("s3://bucket/a.pcap", "is no local path"),
        ("-", 'no file matches "./-"'),
        ("a[", "pattern"),
    ],
)
def test_paths_that_cannot_be_read_are_named(db: Connection, path: str, why: str) -> None:
    with pytest.raises(duckdb.Error) as caught:
        db.execute("SELECT * FROM read_pcap_tuples($1)", [path]).fetchall()
    assert why in str(caught.value)
    with pytest.raises(duckdb.Error, match="null"):
        db.execute("SELECT * FROM read_pcap_tuples(NULL)").fetchall()


def test_a_pipe_is_refused_at_once(db: Connection, tmp_path: pathlib.Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(duckdb.Error, match="not a regular file"):
        db.execute("SELECT * FROM read_pcap_tuples($1)", [str(tmp_path / "pipe")]).fetchall()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT sum(siphash13(repeat('x', 200) || range, getvariable('key'))::HUGEINT) FROM range(10000000000)",
        "SELECT distinct_keys(range, getvariable('key')) FROM range(10000000000)",
        "SELECT imbalance('10.0.0.1', range % 9, '10.0.0.2', 2, 'rss', 8, 500, getvariable('key')) "
        "FROM range(10000000000)",
        "SELECT range % 100, spread(range, 'siphash-1-3', 16777216, getvariable('key')) "
        "FROM range(10000000000) GROUP BY ALL",
        "SELECT count(*) FROM range(1000000), read_pcap_tuples('{file}') WHERE sport > range",
    ],
)
def test_an_interrupt_ends_a_long_query(db: Connection, tmp_path: pathlib.Path, sql: str) -> None:
    file = tmp_path / "a.pcap"
    file.write_bytes(packets(50_000))
    timer = threading.Timer(0.3, db.interrupt)
    begun = time.monotonic()
    timer.start()
    with pytest.raises(duckdb.InterruptException):
        db.execute(sql.format(file=file)).fetchall()
    timer.join()
    assert time.monotonic() - begun < 20
    assert db.execute("SELECT siphash13('a', $1)", [KEY]).fetchone() is not None
