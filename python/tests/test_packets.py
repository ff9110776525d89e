from __future__ import annotations

import gzip
import hashlib
import pathlib
import random
import struct
from typing import Any

import pyarrow as pa
import pytest

import hashlane
from hashlane import dns, ndn, pcap

ANSWER = bytes.fromhex(
    "1234 8180 0001 0002 0000 0000"
    "07 6578616d706c65 03 636f6d 00 000f 0001"
    "c00c 000f 0001 0000003c 0009 000a 04 6d61696c c00c"
    "04 6d61696c c00c 0001 0001 0000003c 0004 c0000201"
)
PARSED = {
    "id": 0x1234,
    "flags": 0x8180,
    "questions": [{"name": "example.com.", "type": "MX", "class": "IN"}],
    "records": [
        {"section": "answer", "owner": "example.com.", "type": "MX", "class": "IN", "ttl": 60,
         "data": b"\0\x0a\x04mail\x07example\x03com\0"},
        {"section": "answer", "owner": "mail.example.com.", "type": "A", "class": "IN", "ttl": 60,
         "data": bytes([192, 0, 2, 1])},
    ],
}


def test_dns_messages_are_read_and_written() -> None:
    messages = pa.array([ANSWER, None, ANSWER])
    parsed = dns.parse(messages)
    assert parsed.to_pylist() == [PARSED, None, PARSED]
    rendered = dns.render(parsed)
    # The second owner becomes a pointer into the data of the first record.
    assert rendered.to_pylist()[1] is None and len(rendered[0].as_py()) < len(ANSWER)
    assert dns.parse(rendered).to_pylist() == parsed.to_pylist()
    assert dns.parse(pa.array([], pa.binary())).to_pylist() == []
    assert dns.render(parsed[2:]).to_pylist() == rendered.to_pylist()[2:]


def test_dns_structs_may_come_from_elsewhere() -> None:
    pl = pytest.importorskip("polars")
    [rendered] = dns.render(pa.array([PARSED])).to_pylist()
    assert dns.render(pl.Series([PARSED])).to_list() == [rendered]
    assert dns.render(pl.DataFrame([PARSED])).to_list() == [rendered]
    assert dns.render(pa.table({name: [PARSED[name]] for name in PARSED}).to_reader())[0].as_py() == rendered


def test_bad_dns_messages_are_named_or_become_null() -> None:
    messages = [ANSWER, ANSWER[:-1], ANSWER + b"\0", b""]
    with pytest.raises(ValueError, match="row 1: message cut off"):
        dns.parse(messages)
    assert [row is None for row in dns.parse(messages, errors="null")] == [False, True, True, True]
    draw = random.Random(3)
    for _ in range(300):
        noise = bytearray(ANSWER)
        for _ in range(3):
            noise[draw.randrange(len(noise))] = draw.randrange(256)
        for row in dns.parse([bytes(noise)], errors="null"):
            assert row is None or "records" in row


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"questions": [{"name": "a..b", "type": "A", "class": "IN"}]}, "row 0: \"a..b\": empty label"),
        ({"questions": [{"name": "a", "type": "AAAAA", "class": "IN"}]}, "unknown type \"AAAAA\""),
        ({"questions": [{"name": "a", "type": None, "class": "IN"}]}, "a null within"),
        ({"records": [dict(PARSED["records"][0], section="answers")]}, "unknown section"),  # type: ignore[index]
        ({"records": [dict(PARSED["records"][0], data=b"\0")]}, "row 0: "),  # type: ignore[index]
        ({"records": [dict(PARSED["records"][1], section=s) for s in ("additional", "answer")]}, "cannot follow"),  # type: ignore[index]
        ({"records": [dict(PARSED["records"][1], owner=f"{i}.a") for i in range(9000)]}, "no room"),  # type: ignore[index]
        ({"id": None}, "a null id"),
    ],
)
def test_messages_that_cannot_be_rendered_are_named(change: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dns.render(pa.array([{**PARSED, **change}]))


def test_render_needs_its_fields_and_a_limit() -> None:
    with pytest.raises(ValueError, match='no field "questions"'):
        dns.render(pa.array([{"id": 1, "flags": 2}]))
    with pytest.raises(TypeError, match="expected structs"):
        dns.render([b"abc"])
    with pytest.raises(ValueError, match="limit must be from 512"):
        dns.render(pa.array([PARSED]), limit=100)


def test_ndn_packets_are_read_and_written() -> None:
    packets = pa.array(
        [
            {"kind": "interest", "name": "/a/b", "nonce": 0x01020304, "can_be_prefix": True, "lifetime_ms": 500},
            {"kind": "data", "name": "/a/b/v=1", "content": b"hello", "freshness_ms": 1000},
            None,
            {"kind": "interest", "name": "/p", "parameters": b"xyz", "hop_limit": 3},
        ]
    )
    encoded = ndn.encode(packets)
    rows = ndn.parse(encoded).to_pylist()
    assert rows[2] is None
    assert rows[0]["kind"] == "interest" and rows[0]["nonce"] == 0x01020304 and rows[0]["can_be_prefix"] is True
    assert rows[0]["lifetime_ms"] == 500 and rows[3]["lifetime_ms"] == 4000 and rows[0]["content"] is None
    assert rows[1]["content"] == b"hello" and rows[1]["freshness_ms"] == 1000 and rows[1]["nonce"] is None
    digest = hashlib.sha256(b"\x24\x03xyz").hexdigest()
    names = hashlane.to_uri([row["name"] for row in rows if row]).to_pylist()
    assert names == ["/a/b", "/a/b/v=1", f"/p/params-sha256={digest}"]
    assert ndn.encode(ndn.parse(encoded)).to_pylist() == encoded.to_pylist()
    # The signature of the Data packet: SHA-256 of everything from its name to its SignatureInfo.
    data = encoded.to_pylist()[1]
    assert hashlib.sha256(data[2:-34]).digest() == data[-32:]


def test_interests_have_the_bytes_of_the_specification() -> None:
    [packet] = ndn.encode(pa.array([{"kind": "interest", "name": "/A", "nonce": 1}])).to_pylist()
    assert packet == b"\x05\x0b\x07\x03\x08\x01A\x0a\x04\0\0\0\x01"
    assert ndn.parse([b"\x64\x0f\x50\x0d" + packet])[0]["kind"] == "interest"


def test_bad_ndn_packets_are_named_or_become_null() -> None:
    packets = [b"\x05\x05\x07\x03\x08\x01A", b"\x05\x06\x07\x03\x08\x01A", b"\x09\x00", b""]
    with pytest.raises(ValueError, match="row 1: "):
        ndn.parse(packets)
    assert [row is None for row in ndn.parse(packets, errors="null")] == [False, True, True, True]
    for packet, message in [
        ({"kind": "nack", "name": "/a"}, 'unknown kind "nack"'),
        ({"kind": "data", "name": "a"}, 'row 0: expected "/"'),
        ({"kind": "data", "name": "/"}, "at least one component"),
        ({"kind": "data", "name": "/a", "content": bytes(9000)}, "at most 8800"),
        ({"kind": "interest", "name": "/a", "nonce": 1 << 32}, 'field "nonce"'),
    ]:
        with pytest.raises(ValueError, match=message):
            ndn.encode(pa.array([packet]))


@pytest.fixture
def captures(repository: pathlib.Path) -> pathlib.Path:
    return repository / "vectors" / "captures"


def test_tuples_of_a_capture_are_batches(captures: pathlib.Path) -> None:
    four = pcap.tuples(captures / "ipv4.pcap").to_arrow()
    assert four.column_names == ["time", "src", "sport", "dst", "dport", "protocol", "length"]
    assert four.num_rows > 3 and set(four["protocol"].to_pylist()) <= {6, 17}
    binary = pcap.tuples(captures / "ipv4.pcap", text=False, batch_size=2)
    batches = list(pa.RecordBatchReader.from_stream(binary))
    assert [len(batch) for batch in batches[:-1]] == [2] * (len(batches) - 1)
    table = pa.Table.from_batches(batches)
    key = hashlane.random_key()
    hashes = [
        hashlane.flow_hash(t["src"], t["sport"], t["dst"], t["dport"], "siphash-1-3", key).to_pylist()
        for t in (four, table)
    ]
    assert hashes[0] == hashes[1]
    one, other = pcap.tuples(captures / "ipv6.pcap").to_arrow(), pcap.tuples(captures / "ipv6.pcapng").to_arrow()
    assert one["src"].to_pylist() == other["src"].to_pylist() and ":" in one["src"][0].as_py()


def test_an_ipv4_mapped_address_in_an_ipv6_packet_is_an_ipv6_one(tmp_path: pathlib.Path) -> None:
    mapped = bytes(10) + bytes.fromhex("ffff01020304")
    addresses = bytes.fromhex("20010db8000000000000000000000001") + mapped
    packet = struct.pack(">IHBB", 0x60000000, 8, 17, 64) + addresses + struct.pack(">HHHH", 1, 53, 8, 0)
    file = tmp_path / "mapped.pcap"
    header = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 1 << 18, 101)
    file.write_bytes(header + struct.pack("<IIII", 1, 5, len(packet), len(packet)) + packet)
    hashes = []
    for text, ends in [(True, ("2001:db8::1", "::ffff:1.2.3.4")), (False, (addresses[:16], mapped))]:
        table = pcap.tuples(file, text=text).to_arrow()
        assert (table["src"][0].as_py(), table["dst"][0].as_py()) == ends
        columns = (table[name] for name in ["src", "sport", "dst", "dport"])
        hashes.append(hashlane.rss(*columns, hashlane.RSS_PUBLISHED_KEY).to_pylist())
    assert hashes[0] == hashes[1]


def test_tuples_read_compressed_captures(captures: pathlib.Path, tmp_path: pathlib.Path) -> None:
    pl = pytest.importorskip("polars")
    packed = tmp_path / "a.pcap.gz"
    packed.write_bytes(gzip.compress((captures / "ipv4.pcap").read_bytes()))
    assert pl.DataFrame(pcap.tuples(packed)).equals(pl.DataFrame(pcap.tuples(captures / "ipv4.pcap")))


def test_skipped_packets_are_counted(captures: pathlib.Path) -> None:
    tuples = pcap.tuples(captures / "fragments.pcap")
    tuples.to_arrow()
    assert tuples.skipped.get("fragments", 0) > 0


def test_skipped_packets_before_the_end_within_one_are_counted(captures: pathlib.Path, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "broken.pcap"
    path.write_bytes((captures / "fragments.pcap").read_bytes()[:-1])
    tuples = pcap.tuples(path)
    with pytest.raises(OSError, match="broken.pcap"):
        tuples.to_arrow()
    assert tuples.skipped.get("fragments", 0) > 0


def test_a_capture_that_breaks_raises_after_its_packets(captures: pathlib.Path, tmp_path: pathlib.Path) -> None:
    whole = (captures / "ipv4.pcap").read_bytes()
    count = pcap.tuples(captures / "ipv4.pcap").to_arrow().num_rows
    path = tmp_path / "broken.pcap"
    path.write_bytes(whole[: len(whole) // 2])
    reader = pa.RecordBatchReader.from_stream(pcap.tuples(path))
    assert 0 < reader.read_next_batch().num_rows < count
    with pytest.raises(OSError, match="broken.pcap"):
        reader.read_next_batch()
    with pytest.raises(OSError):
        pcap.tuples(path).to_arrow()


def test_files_that_are_no_captures_are_refused(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(struct.pack("<I", 0x04034B50) * 9)
    with pytest.raises(ValueError, match="a.zip.*bad magic number 0x504b0304"):
        pcap.tuples(path)
    missing = tmp_path / "missing.pcap"
    with pytest.raises(FileNotFoundError) as error:
        pcap.tuples(missing)
    assert str(error.value) == f"[Errno 2] No such file or directory: '{missing}'"
    assert (error.value.errno, error.value.filename) == (2, str(missing))
    with pytest.raises(IsADirectoryError) as folder:
        pcap.tuples(tmp_path)
    assert folder.value.filename == str(tmp_path)
    with pytest.raises(ValueError, match="batch_size must be from 1"):
        pcap.tuples(path, batch_size=0)
