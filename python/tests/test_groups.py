from __future__ import annotations

import collections
import pickle
import random
import subprocess
import sys
from typing import Any, Callable

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import hashlane
from hashlane import Distinct, Groups, HeavyHitters, Imbalance, Prefixes, Spread

KEY = bytes(range(100, 116))
DRAW = random.Random(1)
ROWS = 5000
USERS = [None if row % 11 == 0 else f"user {DRAW.randrange(40)}" for row in range(ROWS)]
DAYS = [DRAW.randrange(-2, 3) for _ in range(ROWS)]
PAGES = [None if row % 7 == 0 else f"page {DRAW.randrange(60)}" for row in range(ROWS)]

#: Distinct pages of each user and day, exact.
EXACT: dict[tuple[Any, int], set[str]] = collections.defaultdict(set)
for _user, _day, _page in zip(USERS, DAYS, PAGES):
    if _page is not None:
        EXACT[_user, _day].add(_page)


def counted(groups: Groups) -> dict[tuple[Any, int], float]:
    rows = groups.result().to_arrow().to_pylist()
    return {(row["user"], row["day"]): row["keys"] for row in rows}


TABLES: dict[str, Callable[[], Any]] = {
    "dictionary": lambda: {"user": USERS, "day": pa.array(DAYS, pa.int8())},
    "pyarrow": lambda: pa.table({"user": USERS, "day": pa.array(DAYS, pa.int8())}),
    "chunks": lambda: pa.concat_tables(
        [TABLES["pyarrow"]()[at : at + 700] for at in range(0, ROWS, 700)]
    ),
    "polars": lambda: pl.DataFrame({"user": USERS, "day": pl.Series(DAYS, dtype=pl.Int8)}),
    "pandas": lambda: pd.DataFrame({"user": USERS, "day": np.array(DAYS, np.int8)}),
}


@pytest.mark.parametrize("kind", TABLES)
def test_groups_of_any_table_have_the_distinct_keys_of_their_rows(kind: str) -> None:
    groups = Groups(Distinct(key=KEY))
    groups.update(TABLES[kind](), PAGES)
    found = counted(groups)
    assert found == {group: len(pages) for group, pages in EXACT.items()}
    assert len(groups) == len(EXACT)
    assert repr(groups) == f"<hashlane.Groups: {len(EXACT)} of Distinct: precision 14>"
    table = groups.result().to_arrow()
    assert table.schema.types[:2] == [pa.large_string(), pa.int8()]
    # In the order of values, nulls first.
    order = [(user is not None, user or "", day) for user, day in found]
    assert order == sorted(order)


def test_a_table_without_rows_has_names_and_columns() -> None:
    table = pa.table({"user": ["ada"], "day": pa.array([1], pa.int8())})
    empty = table.schema.empty_table()
    groups, heavy = Groups(Distinct(key=KEY)), HeavyHitters(3, columns=2)
    for rows, keys in [(empty, []), (table[:0], []), (table, ["x"])]:
        groups.update(rows, keys)
        heavy.update(rows)
    assert counted(groups) == {("ada", 1): 1.0}
    assert heavy.result().hitters == [(("ada", 1), 1)]


def test_any_split_and_order_gives_the_same_bytes() -> None:
    whole = Groups(Distinct(precision=8, key=KEY))
    whole.update((USERS, DAYS), PAGES)
    parts = []
    for part in range(5):
        groups = Groups(Distinct(precision=8, key=KEY))
        groups.update((USERS[part::5], DAYS[part::5]), PAGES[part::5])
        parts.append(pickle.loads(pickle.dumps(groups)) if part % 2 else Groups.from_bytes(groups.to_bytes()))
    merged = parts.pop()
    for part in parts:
        merged.merge(part)
    assert merged.to_bytes() == whole.to_bytes()
    assert merged.result().to_arrow()["keys"] == whole.result().to_arrow()["keys"]


def test_one_group_is_a_sketch_of_its_rows() -> None:
    groups = Groups(Spread("siphash-1-3", 16, KEY))
    groups.update(pl.Series("user", USERS), PAGES)
    alone = Spread("siphash-1-3", 16, KEY)
    alone.update([page for user, page in zip(USERS, PAGES) if user == "user 7"])
    sketch = groups.sketch(["user 7"])
    assert isinstance(sketch, Spread) and sketch.to_bytes() == alone.to_bytes()
    sketch.update(["another"])
    row = {row["user"]: row for row in groups.result().to_arrow().to_pylist()}["user 7"]
    result = alone.result()
    assert (row["keys"], row["longest"], row["p_value"]) == (result.keys, result.longest, result.p_value)
    nulls = groups.sketch(pa.array([None], pa.string())).result()
    assert nulls.keys == sum(user is None and page is not None for user, page in zip(USERS, PAGES))
    with pytest.raises(KeyError, match="no such group"):
        groups.sketch(["user 99"])


def test_heavy_hitters_of_groups_and_of_several_columns() -> None:
    weights = [DRAW.randrange(5) for _ in range(ROWS)]
    exact: dict[Any, int] = collections.Counter()
    for user, page, weight in zip(USERS, PAGES, weights):
        if page is not None:
            exact[user, page] += weight
    groups = Groups(HeavyHitters(100))
    groups.update({"user": USERS}, PAGES, weights=weights)
    rows = groups.result().to_arrow().to_pylist()
    assert {(row["user"], row["key"].decode()): row["least"] for row in rows} == {
        group: weight for group, weight in exact.items() if weight
    }
    assert all(row["error"] == 0 for row in rows)

    heavy = HeavyHitters(1000, columns=2)
    heavy.update({"user": USERS, "day": DAYS}, weights)
    heavy.update(pl.DataFrame({"user": ["zero\0"], "day": [2**63 - 1]}), [10**6])
    pairs: dict[Any, int] = collections.Counter()
    for user, day, weight in zip(USERS, DAYS, weights):
        pairs[user, day] += weight
    result = pickle.loads(pickle.dumps(heavy)).result()
    assert result.hitters[0] == (("zero\0", 2**63 - 1), 10**6)
    assert dict(result.hitters[1:]) == {pair: weight for pair, weight in pairs.items() if weight}
    assert repr(heavy) == "<hashlane.HeavyHitters: 1000 counters, 2 columns>"
    with pytest.raises(ValueError, match="number of columns.*1 and 2"):
        HeavyHitters(1000).merge(heavy)
    with pytest.raises(ValueError, match="keys of 1 columns; this sketch takes keys of 2"):
        heavy.update(["a"])
    nested = Groups(HeavyHitters(9, columns=2))
    nested.update(["a", "a", "b"], ([1, 1, 2], pa.array([True, True, None])))
    assert nested.result().to_arrow().to_pylist() == [
        {"group": "a", "key_0": 1, "key_1": True, "least": 2, "error": 0, "total": 2},
        {"group": "b", "key_0": 2, "key_1": None, "least": 1, "error": 0, "total": 1},
    ]


def test_imbalance_of_groups_is_that_of_their_flows() -> None:
    ends = [f"10.0.0.{DRAW.randrange(200)}" for _ in range(1000)]
    sites = [f"site {row % 3}" for row in range(1000)]
    ports = list(range(1000))
    groups = Groups(Imbalance("rss", 8, candidates=5, key=KEY))
    groups.update(sites, ends, ports, ends[::-1], ports, packets=[2] * 1000, bytes=[100] * 1000)
    alone = Imbalance("rss", 8, candidates=5, key=KEY)
    columns = [column[1::3] for column in (ends, ports, ends[::-1], ports)]
    alone.update(*columns, packets=[2] * 333, bytes=[100] * 333)
    row = groups.result().to_arrow().to_pylist()[1]
    result = alone.result()
    assert (row["group"], row["packets"], row["bytes"]) == ("site 1", 666, 33300)
    assert (row["imbalance"], row["best"]) == (result.current.packets, result.best.number)
    assert groups.sketch(["site 1"]).to_bytes() == alone.to_bytes()


def test_an_update_that_is_refused_leaves_the_groups_as_they_were() -> None:
    groups = Groups(Distinct(key=KEY), most=3)
    groups.update(["a", "b"], ["x", "y"])
    before = groups.to_bytes()
    many = [f"group {row}" for row in range(100_000)]
    for update, error, message in [
        (lambda: groups.update(many, many), ValueError, "more than 3 groups"),
        (lambda: groups.update(["a"], ["x", "y"]), ValueError, "several lengths"),
        (lambda: groups.update([1.5], ["x"]), TypeError, "float|double"),
        (lambda: groups.update(pa.array([1.5]), ["x"]), TypeError, "double"),
        (lambda: groups.update(["a"], pa.array([1.5])), TypeError, "double"),
        (lambda: groups.update(["x" * 5000], ["x"]), ValueError, "5003 bytes"),
        (lambda: groups.update(["a"], ["x"], ["y"]), ValueError, "2 columns"),
        (lambda: groups.update(["a"], ["x"], weights=[1], packets=[1]), ValueError, "pass one"),
    ]:
        with pytest.raises(error, match=message):
            update()
        assert groups.to_bytes() == before
    groups.update([1], ["x"])
    with pytest.raises(ValueError, match="group.*several types"):
        groups.result()


def test_text_that_is_not_utf8_names_no_group() -> None:
    # As pyarrow reads it from a Parquet file.
    texts = pa.Array.from_buffers(pa.string(), 2, pa.array([b"a", b"\xff"]).buffers())
    groups, heavy = Groups(Distinct(key=KEY)), HeavyHitters(3, columns=2)
    for update, name in [(lambda: groups.update(texts, ["x", "y"]), "by"), (lambda: heavy.update((texts, texts)), "keys")]:
        with pytest.raises(ValueError, match=f"row 1: {name}: text that is not UTF-8; cast it to binary"):
            update()
    assert (len(groups), heavy.result().total) == (0, 0)
    groups.update(texts.cast(pa.binary()), ["x", "y"])
    assert groups.result().to_arrow()["group"].to_pylist() == [b"a", b"\xff"]


def test_groups_begin_with_an_empty_sketch_and_merge_with_their_like() -> None:
    used = Distinct(key=KEY)
    used.update(["x"])
    with pytest.raises(ValueError, match="has keys"):
        Groups(used)
    with pytest.raises(ValueError, match="groups of Prefixes are not supported"):
        Groups(Prefixes("ndn", key=KEY))
    with pytest.raises(TypeError, match="expected a sketch"):
        Groups("Distinct")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="most is 0"):
        Groups(Distinct(key=KEY), most=0)
    groups = Groups(Distinct(key=KEY))
    with pytest.raises(ValueError, match="groups of HeavyHitters cannot be merged into groups of Distinct"):
        groups.merge(Groups(HeavyHitters(3)))
    with pytest.raises(ValueError, match="key"):
        groups.merge(Groups(Distinct(key=bytes(16))))
    groups.update(["a"], ["x"])
    read = Groups.from_bytes(groups.to_bytes())
    with pytest.raises(ValueError, match=r"from_bytes\(data, key\)"):
        read.update(["a"], ["y"])
    again = Groups.from_bytes(groups.to_bytes(), KEY)
    again.update(["a"], ["y"])
    assert again.result().to_arrow()["keys"].to_pylist() == [2.0]
    assert Groups(Distinct(key=KEY)).result().to_arrow().num_rows == 0


def test_bad_bytes_are_refused() -> None:
    groups = Groups(HeavyHitters(3))
    groups.update(USERS, PAGES)
    data = groups.to_bytes()
    draw = random.Random(5)
    for _ in range(400):
        bad = bytearray(data)
        bad[draw.randrange(len(bad))] = draw.randrange(256)
        try:
            accepted = Groups.from_bytes(bytes(bad))
        except ValueError:
            continue
        assert accepted.to_bytes() == bad
        try:
            accepted.result()
        except ValueError as error:
            assert "is no row of columns" in str(error) or "several" in str(error)


@pytest.mark.parametrize(
    "sketch", [Distinct(key=KEY), Spread("siphash-1-3", 4, KEY), HeavyHitters(3)], ids=["distinct", "spread", "heavy"]
)
def test_damaged_groups_are_refused_by_the_field(sketch: Any) -> None:
    groups = Groups(sketch)
    groups.update(USERS, PAGES)
    with pytest.raises(ValueError, match="truncated sketch: the bytes end in the field at"):
        Groups.from_bytes(groups.to_bytes()[:-1])


def test_groups_that_have_all_in_common_are_refused() -> None:
    def leb128(number: int) -> bytes:
        low = number & 0x7F
        return bytes([low | 0x80]) + leb128(number >> 7) if number >= 0x80 else bytes([low])

    # Of 4 MiB each, which the groups have in common: 240 GiB.
    empty = Spread("crc32c", 1 << 22).to_bytes()
    data = b"HLSK\x01\x06" + leb128(len(empty)) + empty + leb128(60_000)
    names = [bytes([9, 1 + row // 250, 1 + row % 250, 0, 0]) for row in range(60_000)]
    data += b"".join(b"\x05" + name + leb128(len(empty)) + b"\0" for name in names)
    with pytest.raises(ValueError, match="groups of more than 1 GiB, and 128 bytes of memory for each byte"):
        Groups.from_bytes(data)


#: Memory of 100,000 groups of 10 keys: the criterion is 30 MB.
SCRIPT = """
import hashlane, numpy as np, resource
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
groups = hashlane.Groups(hashlane.Distinct(key=bytes(16)))
groups.update(np.arange(100, dtype=np.uint32), np.arange(100))
groups = hashlane.Groups(hashlane.Distinct(key=bytes(16)))
by, before = np.arange(100_000, dtype=np.uint32), resident()
for round in range(10):
    groups.update(by, np.arange(100_000, dtype=np.uint64) * 10 + round)
print(len(groups), resident() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_groups_of_few_keys_take_little_memory() -> None:
    command = [sys.executable, "-c", SCRIPT]
    said = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    number, resident = map(int, said.stdout.split())
    assert number == 100_000
    assert resident < 30_000_000
