"""Scalar functions give what the functions of the Python package give."""

from __future__ import annotations

import pathlib

import duckdb
import hashlane
import numpy as np
import pytest

from conftest import KEY, Connection

TEXTS = ["", "a", "twelve bytes", "thirteen byte", "x" * 63, "y" * 4000, "ä€😀", None, "last"]


def test_text_and_bytes_hash_as_in_python(db: Connection) -> None:
    expected = hashlane.hash(TEXTS, "siphash-1-3", KEY).to_pylist()
    for kind in ["VARCHAR", "BLOB"]:
        values = TEXTS if kind == "VARCHAR" else [t and t.encode() if t is not None else None for t in TEXTS]
        db.execute(f"CREATE OR REPLACE TABLE t (n INTEGER, x {kind})")
        db.executemany("INSERT INTO t VALUES (?, ?)", list(enumerate(values)))
        rows = db.execute("SELECT siphash13(x, getvariable('key')) FROM t ORDER BY n").fetchall()
        assert [row[0] for row in rows] == expected


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("sign", ["", "u"])
def test_integers_hash_by_their_bytes(db: Connection, bits: int, sign: str) -> None:
    kind = np.dtype(f"{sign}int{bits}")
    limits = np.iinfo(kind)
    numbers = np.array([0, 1, 42, limits.min, limits.max], dtype=kind)
    names = {8: "TINYINT", 16: "SMALLINT", 32: "INTEGER", 64: "BIGINT"}
    rows = db.execute(
        f"SELECT siphash13(x::{sign}{names[bits]}, $1) FROM (SELECT unnest($2) AS x)",
        [KEY, [int(number) for number in numbers]],
    ).fetchall()
    assert [row[0] for row in rows] == hashlane.hash(numbers, "siphash-1-3", KEY).tolist()


def test_many_rows_under_many_keys(db: Connection) -> None:
    rows = db.execute(
        """
        SELECT x, key, siphash13(x, key) FROM (
            SELECT CASE WHEN range % 7 = 3 THEN NULL ELSE repeat('z', (range % 90)::INTEGER) || range END AS x,
                unhex(printf('%032x', range // 100)) AS key
            FROM range(10000))
        """
    ).fetchall()
    assert len(rows) == 10_000
    for key in {row[1] for row in rows}:
        found = [(x, result) for x, of, result in rows if of == key]
        expected = hashlane.hash([x for x, _ in found], "siphash-1-3", key).to_pylist()
        assert [result for _, result in found] == expected


def test_rows_that_a_filter_a_join_and_a_dictionary_chose(db: Connection, tmp_path: pathlib.Path) -> None:
    db.execute(f"ATTACH '{tmp_path / 'd.db'}' AS d")
    # Few long texts in many rows: stored as a dictionary.
    db.execute("CREATE TABLE d.t AS SELECT range AS n, 'a text of some length ' || range % 5 AS x FROM range(50000)")
    db.execute("CHECKPOINT d")
    db.execute("CREATE TABLE u AS SELECT range * 7 AS n FROM range(5000)")
    rows = db.execute(
        "SELECT t.n, siphash13(x, $1), siphash13(t.n, $1) FROM d.t JOIN u USING (n) WHERE n % 3 = 1 ORDER BY t.n",
        [KEY],
    ).fetchall()
    numbers = [number for number in range(0, 35_000, 7) if number % 3 == 1]
    assert [row[0] for row in rows] == numbers
    texts = [f"a text of some length {number % 5}" for number in numbers]
    assert [row[1] for row in rows] == hashlane.hash(texts, "siphash-1-3", KEY).to_pylist()
    assert [row[2] for row in rows] == hashlane.hash(numbers, "siphash-1-3", KEY).to_pylist()
    sketch = hashlane.Distinct(key=KEY)
    sketch.update(texts)
    found = db.execute("SELECT distinct_sketch(x, $1) FROM d.t JOIN u USING (n) WHERE n % 3 = 1", [KEY])
    assert found.fetchone()[0] == sketch.to_bytes()


def test_threads_hash_alike(db: Connection) -> None:
    db.execute("CREATE TABLE n AS SELECT range AS x FROM range(300000)")
    total = "SELECT sum(siphash13(x, getvariable('key'))::HUGEINT) FROM n"
    many = db.execute(total).fetchone()
    db.execute("SET threads = 1")
    assert db.execute(total).fetchone() == many


ENDS = [
    ("66.9.149.187", 2794, "161.142.100.80", 1766),
    ("::ffff:66.9.149.187", 2794, "161.142.100.80", 1766),
    ("3ffe:2501:200:1fff::7", 2794, "3ffe:2501:200:3::1", 1766),
    ("10.0.0.1", 0, "10.0.0.2", 65535),
]


def columns() -> list[list[object]]:
    return [list(column) for column in zip(*ENDS)]


def test_rss_is_that_of_python(db: Connection) -> None:
    key = hashlane.RSS_PUBLISHED_KEY
    for queues, call in [(None, "rss(a, b, c, d, $1)"), (8, "rss(a, b, c, d, $1, 8)")]:
        values = ", ".join(f"({n}, '{a}', {b}, '{c}', {d})" for n, (a, b, c, d) in enumerate(ENDS))
        rows = db.execute(f"SELECT {call} FROM (VALUES {values}) t(n, a, b, c, d) ORDER BY n", [key])
        expected = hashlane.rss(*columns(), key, queues).to_pylist()
        assert [row[0] for row in rows.fetchall()] == expected
    as_bytes = db.execute(
        "SELECT rss(unhex('420995bb'), 2794, unhex('a18e6450'), 1766, $1), "
        "rss(1107924411::UINTEGER, 2794, 2710463568::UINTEGER, 1766, $1)",
        [key],
    ).fetchone()
    assert as_bytes == (0x51CCC178, 0x51CCC178)


@pytest.mark.parametrize("function", ["base", "v1", "jhash2", "hsiphash", "siphash", "lport", "flat"])
def test_ehash_is_that_of_python(db: Connection, function: str) -> None:
    expected = hashlane.ehash(
        *columns(), function=function, ehash_secret=7, ipv6_secret=4_000_000_000, mix=9, key=KEY
    ).to_pylist()
    values = ", ".join(f"({n}, '{a}', {b}, '{c}', {d})" for n, (a, b, c, d) in enumerate(ENDS))
    call = f"ehash(a, b, c, d, '{function}', 7, 4000000000, 9, $1)"
    rows = db.execute(f"SELECT {call} FROM (VALUES {values}) t(n, a, b, c, d) ORDER BY n", [KEY])
    assert [row[0] for row in rows.fetchall()] == expected


def test_prefixes_are_those_of_python(db: Connection) -> None:
    names = ["/hello/v=3", "/a/b/c", "/", None, "/" + "x" * 5000 + "/y"]
    for encoding in ["ndn", "ccnx", "offset"]:
        encoded = hashlane.parse_name(names, encoding).to_pylist()
        for scheme, key in [("siphash-1-3", KEY), ("siphash-2-4", KEY), ("crc32c", None)]:
            expected = hashlane.name_prefix_hashes(names, encoding, scheme, key).to_pylist()
            for column in [names, encoded]:
                call = f"name_prefixes(x, '{encoding}', '{scheme}'" + (", $2)" if key else ")")
                query = f"SELECT {call} FROM (SELECT unnest($1) AS x)"
                rows = db.execute(query, [column, key] if key else [column]).fetchall()
                assert [row[0] for row in rows] == expected, (encoding, scheme)


@pytest.mark.parametrize(
    ("call", "why"),
    [
        ("siphash13('a', getvariable('kye'))", "siphash13: the key is null: if it is a variable, SET VARIABLE"),
        ("rss('10.0.0.1', 1, '10.0.0.1', 2, getvariable('kye'))", "card_key is null"),
        ("ehash('10.0.0.1', 1, '10.0.0.1', 2, 'lport', 3, 4, 5, getvariable('kye'))", "the key is null"),
        ("name_prefixes('/a', 'ndn', 'siphash-1-3', getvariable('kye'))", "the key is null"),
        ("siphash13('a', ''::BLOB)", "siphash13: the key has 0 bytes, expected 16"),
        ("rss('10.0.0.1', 1, '::1', 2, repeat('k', 40)::BLOB)", "different IP versions"),
        ("rss('10.0.0.x', 1, '10.0.0.1', 2, repeat('k', 40)::BLOB)", '"10.0.0.x" is no IP address'),
        ("rss('10.0.0.1', 65536, '10.0.0.1', 2, repeat('k', 40)::BLOB)", "65536 is no port"),
        ("rss('10.0.0.1', 1, '10.0.0.1', 2, repeat('k', 39)::BLOB)", "39 bytes, expected 40"),
        ("rss('10.0.0.1', 1, '10.0.0.1', 2, repeat('k', 40)::BLOB, 129)", "queues must be from 1 to 128"),
        ("rss('abc'::BLOB, 1, 'abc'::BLOB, 2, repeat('k', 40)::BLOB)", "3 bytes; an address has 4 or 16"),
        ("ehash('10.0.0.1', 1, '10.0.0.1', 2, 'md5', 3)", 'unknown function "md5"'),
        ("ehash('10.0.0.1', 1, '10.0.0.1', 2, 'siphash', 3)", "siphash needs a key"),
        ("ehash('::1', 1, '::1', 2, 'lport', 3)", "IPv6 addresses need ipv6_secret and mix"),
        ("ehash('10.0.0.1', 1, '10.0.0.1', 2, 'lport', -1)", "ehash_secret must be from 0"),
        ("name_prefixes('hello', 'dns', 'crc32c')", 'unknown encoding "dns"; known: offset, ccnx, ndn'),
        ("name_prefixes('/a', 'ndn', 'crc32c', getvariable('key'))", "crc32c takes no key"),
        ("name_prefixes('/a', 'ndn', 'siphash-1-3')", "siphash-1-3 needs a key"),
        ("name_prefixes('abc'::BLOB, 'ndn', 'crc32c')", "a name of 3 bytes"),
        ("distinct_estimate('abc'::BLOB)", "distinct_estimate:"),
    ],
)
def test_errors_name_the_function_and_the_value(db: Connection, call: str, why: str) -> None:
    with pytest.raises(duckdb.InvalidInputException) as caught:
        db.execute(f"SELECT {call}").fetchall()
    assert why in str(caught.value)
    # The connection goes on.
    assert db.execute("SELECT siphash13('a', getvariable('key'))").fetchone() is not None


def test_one_bad_row_of_many_is_an_error(db: Connection) -> None:
    with pytest.raises(duckdb.InvalidInputException, match="is no IP address"):
        db.execute(
            "SELECT sum(rss(CASE WHEN range = 99999 THEN 'x' ELSE '10.0.0.1' END, 1, '10.0.0.2', 2, $1)) "
            "FROM range(200000)",
            [hashlane.RSS_PUBLISHED_KEY],
        ).fetchall()
