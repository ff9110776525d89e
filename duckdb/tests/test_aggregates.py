"""Aggregates give what the sketches of the Python package give, however rows are split."""

from __future__ import annotations

import resource

import duckdb
import hashlane
import numpy as np
import pytest

from conftest import KEY, Connection


def distinct(numbers: np.ndarray, precision: int = 14) -> hashlane.Distinct:
    sketch = hashlane.Distinct(precision=precision, key=KEY)
    sketch.update(numbers)
    return sketch


def test_distinct_keys_have_the_bytes_of_python(db: Connection) -> None:
    numbers = np.arange(300_000, dtype=np.int64) % 70_000
    db.execute("CREATE TABLE n AS SELECT range % 70000 AS x FROM range(300000)")
    keys, sketch, coarse = db.execute(
        "SELECT distinct_keys(x, $1), distinct_sketch(x, $1), distinct_sketch(x, $1, 6) FROM n", [KEY]
    ).fetchone()
    expected = distinct(numbers)
    assert (keys, sketch) == (expected.result().keys, expected.to_bytes())
    assert coarse == distinct(numbers, 6).to_bytes()


def test_groups_are_merged_from_threads_and_again(db: Connection) -> None:
    db.execute("CREATE TABLE n AS SELECT range % 200 AS g, range AS x FROM range(300000)")
    rows = db.execute("SELECT g, distinct_sketch(x, $1, 8) FROM n GROUP BY g ORDER BY g", [KEY]).fetchall()
    assert len(rows) == 200
    for g, sketch in rows[::19]:
        assert sketch == distinct(np.arange(g, 300_000, 200, dtype=np.int64), 8).to_bytes()
    merged = db.execute(
        "SELECT distinct_merge(s) FROM (SELECT distinct_sketch(x, $1, 8) AS s FROM n GROUP BY g)", [KEY]
    ).fetchone()[0]
    assert merged == distinct(np.arange(300_000, dtype=np.int64), 8).to_bytes()
    assert db.execute("SELECT distinct_estimate($1)", [merged]).fetchone()[0] == pytest.approx(3e5, rel=0.4)


def test_python_reads_the_sketch_and_duckdb_that_of_python(db: Connection) -> None:
    mine = distinct(np.arange(1000, 3000, dtype=np.int64))
    theirs = db.execute("SELECT distinct_sketch(range, $1) FROM range(2000)", [KEY]).fetchone()[0]
    merged = db.execute(
        "SELECT distinct_merge(s) FROM (SELECT unnest($1) AS s)", [[mine.to_bytes(), theirs]]
    ).fetchone()[0]
    mine.merge(hashlane.Distinct.from_bytes(theirs))
    assert merged == mine.to_bytes()


def test_spread_is_that_of_python(db: Connection) -> None:
    sketch = hashlane.Spread("siphash-1-3", 1000, key=KEY)
    sketch.update([f"key {number}" for number in range(50_000)])
    expected = sketch.result()
    found = db.execute(
        "SELECT spread('key ' || range, 'siphash-1-3', 1000, $1) FROM range(50000)", [KEY]
    ).fetchone()[0]
    assert found == {name: getattr(expected, name) for name in found}
    unkeyed = hashlane.Spread("crc32c", 64)
    unkeyed.update(np.arange(1000, dtype=np.int32))
    found = db.execute("SELECT spread(range::INTEGER, 'crc32c', 64) FROM range(1000)").fetchone()[0]
    assert found["chi_squared"] == unkeyed.result().chi_squared


@pytest.mark.parametrize("buckets", [7, 1024, 10_000, 1 << 20])
def test_spread_of_groups_of_many_sizes_is_that_of_python(db: Connection, buckets: int) -> None:
    # Groups of 1 to 2^13 keys, in order and mixed: states with few keys and with many are merged.
    db.execute("CREATE TABLE n AS SELECT range AS x, bit_count(range) AS g FROM range(30000)")
    for order in ["", " ORDER BY hash(x)"]:
        rows = db.execute(
            f"SELECT g, spread(x, 'siphash-1-3', $1, $2), list(x) FROM (FROM n{order}) GROUP BY g",
            [buckets, KEY],
        ).fetchall()
        assert len(rows) == 15
        for _, found, numbers in rows:
            sketch = hashlane.Spread("siphash-1-3", buckets, key=KEY)
            sketch.update(np.array(numbers, dtype=np.int64))
            expected = sketch.result()
            assert found == {name: getattr(expected, name) for name in found}


def test_groups_of_few_keys_and_many_buckets_take_little_memory(db: Connection) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rows = db.execute(
        "SELECT range % 100 AS g, spread(range, 'siphash-1-3', 16777216, $1).longest "
        "FROM range(100000) GROUP BY g",
        [KEY],
    ).fetchall()
    assert len(rows) == 100
    # One group of 2^24 counts is 128 MiB.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


@pytest.mark.parametrize("function", ["rss", "symmetric-rss", "keyed"])
def test_imbalance_is_that_of_python(db: Connection, function: str) -> None:
    ports = np.arange(3000) % 700
    sizes = np.arange(3000) % 1500
    sketch = hashlane.Imbalance(function, 8, candidates=20, key=KEY)
    sketch.update(["10.0.0.1"] * 3000, ports, ["10.0.0.2"] * 3000, [443] * 3000, bytes=sizes)
    expected = sketch.result()
    found = db.execute(
        "SELECT imbalance('10.0.0.1', range % 700, '10.0.0.2', 443, $1, 8, 20, $2, 1, range % 1500) "
        "FROM range(3000)",
        [function, KEY],
    ).fetchone()[0]
    assert found == {
        "packets": expected.total.packets,
        "bytes": expected.total.bytes,
        "current": expected.current.packets,
        "current_bytes": expected.current.bytes,
        "best": expected.best.packets,
        "best_bytes": expected.best.bytes,
        "median": expected.median,
        "best_number": expected.best.number,
        "best_key": sketch.candidate(expected.best.number),
    }


def test_imbalance_of_a_key_of_the_card(db: Connection) -> None:
    forms = ["$2, $3)", "$2, $3, 2, 100)", "$2)", "$2, 2, 100)"]
    for form in forms:
        card = bytes(range(40)) if "$3" in form else hashlane.RSS_PUBLISHED_KEY
        sketch = hashlane.Imbalance("rss", 8, candidates=3, key=KEY, rss_key=card)
        sketch.update(["10.0.0.1"] * 99, np.arange(99), ["10.0.0.2"] * 99, [443] * 99, packets=[2] * 99)
        arguments = ["rss", KEY, bytes(range(40))][: 3 if "$3" in form else 2]
        found = db.execute(
            f"SELECT imbalance('10.0.0.1', range, '10.0.0.2', 443, $1, 8, 3, {form} FROM range(99)", arguments
        ).fetchone()[0]
        assert found["current"] == sketch.result().current.packets
        assert found["bytes"] == (9900 if "100" in form else 0)


def test_nulls_are_left_out_and_no_rows_are_null_or_zero(db: Connection) -> None:
    row = db.execute(
        "SELECT distinct_keys(x, $1), distinct_sketch(x, $1), spread(x, 'crc32c', 8), distinct_merge(NULL), "
        "imbalance(NULL::VARCHAR, 1, '10.0.0.2', 443, 'rss', 8, 3, $1) FROM (SELECT NULL::VARCHAR AS x)",
        [KEY],
    ).fetchone()
    assert row == (0.0, None, None, None, None)
    keys = db.execute(
        "SELECT distinct_keys(CASE WHEN range % 2 = 0 THEN range END, $1) FROM range(100)", [KEY]
    ).fetchone()[0]
    assert round(keys) == 50


def test_windows_and_filters_use_the_same_states(db: Connection) -> None:
    rows = db.execute(
        "SELECT range, distinct_keys(range // 2, $1) OVER (ORDER BY range ROWS 9 PRECEDING) AS n "
        "FROM range(1000) ORDER BY range",
        [KEY],
    ).fetchall()
    assert {round(n) for _, n in rows[20:]} <= {5, 6}
    assert round(rows[0][1]) == 1


@pytest.mark.parametrize("rows", [1, 2, 3, 9, 2049, 30_000])
def test_windows_over_all_rows_and_ordered_rows_have_one_state(db: Connection, rows: int) -> None:
    # DuckDB passes it once, and not for each row.
    db.execute(f"CREATE TABLE n AS SELECT range AS x, 7 AS g FROM range({rows})")
    for call in [
        "distinct_keys(x % 700, $1) OVER ()",
        "distinct_keys(x % 700, $1) OVER (PARTITION BY g)",
        "distinct_keys(x % 700, $1) FILTER (WHERE x >= 0) OVER (PARTITION BY g)",
        "distinct_keys(x % 700, $1) OVER (ORDER BY -x ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)",
        "distinct_keys(x % 700, $1 ORDER BY -x)",
        "spread(x % 700, 'siphash-1-3', 8, $1 ORDER BY -x).keys",
        "spread(x % 700, 'siphash-1-3', 8, $1) OVER ()",
    ]:
        found = db.execute(f"SELECT DISTINCT {call} FROM n", [KEY]).fetchall()
        keys = [row if isinstance(row, (int, float)) else row["keys"] for (row,) in found]
        assert keys == [rows if "spread" in call else min(rows, 700)], call


@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
def test_windows_over_partitions_are_their_groups(db: Connection, size: int) -> None:
    db.execute(f"CREATE TABLE n AS SELECT range AS x, range // {size} AS g FROM range(20000)")
    calls = ["distinct_keys(x % 3, $1)", "distinct_keys(x % 2, $1)", "distinct_keys(x, $1)"]
    windows = ", ".join(f"{call} OVER (PARTITION BY g)" for call in calls)
    found = db.execute(f"SELECT DISTINCT g, {windows} FROM n ORDER BY g", [KEY]).fetchall()
    expected = db.execute(f"SELECT g, {', '.join(calls)} FROM n GROUP BY g ORDER BY g", [KEY]).fetchall()
    assert found == expected
    ordered = ", ".join(f"{call[:-1]} ORDER BY -x)" for call in calls)
    assert db.execute(f"SELECT g, {ordered} FROM n GROUP BY g ORDER BY g", [KEY]).fetchall() == expected


@pytest.mark.parametrize(
    ("call", "why"),
    [
        ("distinct_keys(range, getvariable('kye'))", "distinct_keys: the key is null: if it is a variable, SET"),
        ("distinct_sketch(range, getvariable('kye'))", "the key is null"),
        ("distinct_keys(range, CASE WHEN range < 2999 THEN getvariable('key') END)", "the key is null"),
        ("distinct_keys(range, getvariable('key'), getvariable('p'))", "precision is null"),
        ("spread(range, 'siphash-1-3', 8, getvariable('kye'))", "the key is null"),
        ("spread(range, 'crc32c', getvariable('b'))", "buckets is null"),
        ("imbalance('10.0.0.1', 1, '10.0.0.1', 2, 'rss', 8, 1, getvariable('kye'))", "the key is null"),
        (
            "imbalance('10.0.0.1', 1, '10.0.0.1', 2, 'rss', 8, 1, getvariable('key'), getvariable('k')::BLOB)",
            "card_key is null",
        ),
        ("distinct_keys(range, unhex(printf('%032x', range)))", "several keys or precisions"),
        ("distinct_keys(range, getvariable('key'), 4 + range % 2)", "several keys or precisions"),
        ("distinct_keys(range, getvariable('key'), 19)", "precision must be from 4 to 18, not 19"),
        ("distinct_keys(range, 'abc'::BLOB)", "the key has 3 bytes, expected 16"),
        ("distinct_merge('abc'::BLOB)", "distinct_merge:"),
        ("spread(range, 'md5', 8)", 'unknown scheme "md5"'),
        ("spread(range, 'crc32c', 0)", "buckets must be from 1 to"),
        ("spread(range, 'crc32c', 1099511627776)", "buckets must be from 1 to"),
        ("spread(range, 'crc32c', 8 + range)", "several schemes, keys or numbers of buckets"),
        ("spread(range, 'siphash-1-3', 8)", "needs a key"),
        ("imbalance('x', 1, '10.0.0.1', 2, 'rss', 8, 1, getvariable('key'))", "is no IP address"),
        ("imbalance('10.0.0.1', 1, '10.0.0.1', 2, 'rss', 129, 1, getvariable('key'))", "n must be from 1 to 128, not 129"),
        (
            "imbalance('10.0.0.1', 1, '10.0.0.1', 2, 'rss', 70000, 1, getvariable('key'))",
            "n must be from 1 to 128, not 70000",
        ),
        (
            "imbalance('10.0.0.1', 1, '10.0.0.1', 2, 'keyed', 70000, 1, getvariable('key'))",
            "n must be from 1 to 65536",
        ),
        ("imbalance('10.0.0.1', 1, '10.0.0.1', 2, 'rss', 8, 5000, getvariable('key'))", "candidates must be"),
        ("imbalance('10.0.0.1', 1, '10.0.0.1', 2, 'rr', 8, 1, getvariable('key'))", 'unknown function "rr"'),
        ("imbalance('10.0.0.1', 1, '10.0.0.1', 2, 'rss', 8, 1, getvariable('key'), 1, -1)", "bytes must be"),
    ],
)
def test_errors_name_the_function_and_the_value(db: Connection, call: str, why: str) -> None:
    with pytest.raises(duckdb.InvalidInputException) as caught:
        db.execute(f"SELECT {call} FROM range(3000)").fetchall()
    assert why in str(caught.value)


def test_totals_that_are_too_large_are_an_error(db: Connection) -> None:
    with pytest.raises(duckdb.InvalidInputException, match="imbalance"):
        db.execute(
            "SELECT imbalance('10.0.0.1', 1, '10.0.0.1', 2, 'rss', 8, 1, getvariable('key'), 1, "
            "9223372036854775807) FROM range(3)"
        ).fetchall()
