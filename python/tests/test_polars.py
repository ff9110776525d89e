"""Expressions of Polars: the results of the functions, in every engine of Polars."""

from __future__ import annotations

import subprocess
import sys
from typing import Any, Callable

import pytest

pl = pytest.importorskip("polars")

import hashlane  # noqa: E402
import hashlane.polars  # noqa: E402
from conftest import KEY  # noqa: E402


ENGINES: dict[str, Callable[[Any, Any], Any]] = {
    "eager": lambda frame, expr: frame.select(expr),
    "lazy": lambda frame, expr: frame.lazy().select(expr).collect(),
    "streaming": lambda frame, expr: frame.lazy().select(expr).collect(engine="streaming"),
}


@pytest.fixture(params=list(ENGINES))
def select(request: Any) -> Callable[[Any, Any], Any]:
    return lambda frame, expr: ENGINES[request.param](frame, expr).to_series()


def names(rows: int = 2000) -> Any:
    values = [None if n % 7 == 3 else f"/host{n % 97}/path{n}/" + "x" * (n % 40) for n in range(rows)]
    return pl.Series("name", values)


def equal(result: Any, expected: Any) -> None:
    assert result.dtype == expected.dtype
    assert result.to_list() == expected.to_list()


@pytest.mark.parametrize("scheme", ["siphash-1-3", "crc32c", "xxh3"])
@pytest.mark.parametrize("signed", [False, True])
def test_hash_equals_the_function(select: Any, scheme: str, signed: bool) -> None:
    key = None if scheme == "crc32c" else KEY
    columns = [
        names(),
        names().cast(pl.Binary),
        names().cast(pl.Categorical),
        pl.Series("name", [1, None, -3], dtype=pl.Int32),
        pl.Series("name", [], dtype=pl.String),
        pl.Series("name", [None, None]),
        names()[3:90],
    ]
    for column in columns:
        result = select(column.to_frame(), pl.col("name").hashlane.hash(scheme, key, signed=signed))
        assert result.name == "name"
        equal(result, hashlane.hash(column, scheme, key, signed=signed))


def test_categories_and_nulls_in_structs(select: Any) -> None:
    frame = pl.DataFrame({"a": ["x", None, "y"], "b": [1, 2, None]})
    expected = hashlane.hash(frame, "siphash-1-3", KEY).to_list()
    categories = frame.with_columns(pl.col("a").cast(pl.Categorical))
    assert hashlane.hash(categories, "siphash-1-3", KEY).to_list() == expected
    pair = pl.struct("a", "b").hashlane.hash("siphash-1-3", KEY)
    assert select(categories, pair).to_list() == expected
    with pytest.raises(pl.exceptions.ComputeError, match="values of type Null within a struct or a list.*cast it first"):
        select(frame.with_columns(a=None), pair)


def test_chunks_are_kept_apart(select: Any) -> None:
    column = pl.concat([names(10), names(5)], rechunk=False)
    result = select(column.to_frame(), pl.col("name").hashlane.hash("siphash-1-3", KEY))
    equal(result, hashlane.hash(column, "siphash-1-3", KEY))


def flows() -> Any:
    rows = range(500)
    return pl.DataFrame(
        {
            "src": [None if n == 9 else f"192.0.2.{n % 250}" for n in rows],
            "sport": [1024 + n for n in rows],
            "dst": [f"198.51.100.{n % 5}" for n in rows],
            "dport": [443] * 500,
        }
    )


def test_flows_equal_the_functions(select: Any) -> None:
    frame, card = flows(), hashlane.RSS_PUBLISHED_KEY
    ends = [frame[name] for name in frame.columns]
    space = pl.col("src").hashlane
    cases = [
        (space.flow_hash("sport", "dst", "dport", "siphash-1-3", KEY), hashlane.flow_hash(*ends, "siphash-1-3", KEY)),
        (space.flow_hash("sport", "dst", pl.lit(443), "ehash/jhash2", KEY), hashlane.flow_hash(*ends, "ehash/jhash2", KEY)),
        (space.rss("sport", "dst", "dport", card), hashlane.rss(*ends, card)),
        (space.rss("sport", "dst", "dport", card, 8, signed=True), hashlane.rss(*ends, card, 8, signed=True)),
        (space.ehash("sport", "dst", "dport", ehash_secret=7, mix=3), hashlane.ehash(*ends, ehash_secret=7, mix=3)),
        (
            space.ehash("sport", "dst", "dport", function="siphash", ehash_secret=7, key=KEY),
            hashlane.ehash(*ends, function="siphash", ehash_secret=7, key=KEY),
        ),
    ]
    for expr, expected in cases:
        equal(select(frame, expr), expected)


def test_names_equal_the_functions(select: Any) -> None:
    column = names(300)
    equal(
        select(column.to_frame(), pl.col("name").hashlane.prefix_hashes(key=KEY)),
        hashlane.name_prefix_hashes(column, key=KEY),
    )
    encoded = hashlane.parse_name(column)
    equal(
        select(encoded.to_frame(), pl.col("name").hashlane.prefix_hashes("ndn", "crc32c", signed=True)),
        hashlane.name_prefix_hashes(encoded, "ndn", "crc32c", signed=True),
    )
    map = hashlane.NameMap({"ads": ["||ads.example^"], "hosts": ["0.0.0.0 tracker.example"]})
    hosts = pl.Series("host", ["www.ads.example", None, "tracker.example", "a..b", "example"] * 50)
    equal(
        select(hosts.to_frame(), pl.col("host").hashlane.name_match(map, errors="null")),
        map.match(hosts, errors="null"),
    )


def expected_of_group(rows: Any) -> Any:
    distinct = hashlane.Distinct(precision=12, key=KEY)
    spread = hashlane.Spread("siphash-1-3", 64, KEY)
    heavy = hashlane.HeavyHitters(8)
    for sketch in (distinct, spread, heavy):
        sketch.update(rows)
    return distinct.result().keys, spread.result(), heavy.result()


@pytest.mark.parametrize("engine", ["eager", "lazy", "streaming"])
def test_aggregations_equal_the_sketches_in_groups(engine: str) -> None:
    rows = 4000
    frame = pl.DataFrame(
        {
            "group": [f"g{n * n % 11}" for n in range(rows)],
            "user": [None if n % 13 == 0 else f"user{n * n % 257}" for n in range(rows)],
        }
    )
    user = pl.col("user").hashlane
    expressions = [
        user.distinct(precision=12, key=KEY).alias("distinct"),
        user.spread("siphash-1-3", 64, KEY).alias("spread"),
        user.heavy(8).alias("heavy"),
    ]
    if engine == "eager":
        result = frame.group_by("group").agg(expressions)
        whole = frame.select(expressions)
    else:
        lazy = frame.lazy().group_by("group").agg(expressions)
        result = lazy.collect() if engine == "lazy" else lazy.collect(engine="streaming")
        whole = frame.lazy().select(expressions).collect()
    groups = {row["group"]: row for row in result.to_dicts()}
    assert groups.keys() == set(frame["group"])
    groups[None] = whole.to_dicts()[0]
    for group, row in groups.items():
        users = frame["user"] if group is None else frame.filter(pl.col("group") == group)["user"]
        distinct, spread, heavy = expected_of_group(users)
        assert row["distinct"] == distinct
        assert row["spread"] == {name: getattr(spread, name) for name in row["spread"]}
        assert row["heavy"]["total"] == heavy.total
        assert row["heavy"]["error"] == heavy.error
        assert [(hitter["key"], hitter["least"]) for hitter in row["heavy"]["hitters"]] == heavy.hitters


def test_the_schema_is_known_before_the_query_runs() -> None:
    frame = flows().lazy()
    space = pl.col("src").hashlane
    schema = frame.select(
        a=space.hash("siphash-1-3", KEY),
        b=space.hash("siphash-1-3", KEY, signed=True),
        c=space.rss("sport", "dst", "dport", hashlane.RSS_PUBLISHED_KEY),
        d=space.prefix_hashes(key=KEY),
        e=space.distinct(key=KEY),
        f=space.heavy(3),
    ).collect_schema()
    assert schema["a"] == pl.UInt64
    assert schema["b"] == pl.Int64
    assert schema["c"] == pl.UInt32
    assert schema["d"] == pl.List(pl.UInt64)
    assert schema["e"] == pl.Float64
    assert isinstance(schema["f"], pl.Struct)


def test_arguments_are_checked_when_the_expression_is_made() -> None:
    space = pl.col("x").hashlane
    with pytest.raises(ValueError, match="siphash-1-3 needs a key"):
        space.hash("siphash-1-3")
    with pytest.raises(ValueError, match="unknown scheme"):
        space.hash("siphash-1-4", KEY)
    with pytest.raises(ValueError, match="queues must be from 1"):
        space.rss("a", "b", "c", hashlane.RSS_PUBLISHED_KEY, 1000)
    with pytest.raises(ValueError, match="unknown encoding"):
        space.prefix_hashes("frog", key=KEY)
    with pytest.raises(ValueError, match="precision is 40"):
        space.distinct(precision=40, key=KEY)
    with pytest.raises(ValueError, match="errors must be"):
        space.name_match(hashlane.NameMap({"a": ["a.example"]}), errors="ignore")


def test_errors_name_the_row(select: Any) -> None:
    frame = flows().with_columns(sport=pl.lit(70_000))
    with pytest.raises(pl.exceptions.ComputeError, match="row 0: sport 70000 is no port"):
        select(frame, pl.col("src").hashlane.rss("sport", "dst", "dport", hashlane.RSS_PUBLISHED_KEY))
    with pytest.raises(pl.exceptions.ComputeError, match='column "x": .*a column of double; expected text'):
        select(pl.DataFrame({"x": [1.5]}), pl.col("x").hashlane.hash("crc32c"))


def test_addresses_of_python_objects_are_never_hashed() -> None:
    frame = pl.DataFrame({"x": pl.Series([object()], dtype=pl.Object)})
    with pytest.raises(pl.exceptions.ComputeError, match="Python objects .Object.*; cast it first"):
        frame.select(pl.col("x").hashlane.hash("crc32c"))


def test_the_namespace_comes_with_polars() -> None:
    for first, second in [("polars", "hashlane"), ("hashlane", "hashlane.polars, polars")]:
        program = f"import {first}; import {second}; print(hasattr(polars.Expr, 'hashlane'))"
        run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert run.stdout.strip() == "True"


def test_plans_of_other_versions_are_refused() -> None:
    from polars.plugins import register_plugin_function

    for kwargs in [None, {"arguments": "text"}, {"arguments": b""}, {"arguments": b"\xfe\xff\xff\xff"}, {"a": 1}]:
        expr = register_plugin_function(
            plugin_path=hashlane._native.__file__,
            function_name="hashlane_hash",
            args=[pl.col("x")],
            kwargs=kwargs,
            is_elementwise=True,
        )
        with pytest.raises(pl.exceptions.ComputeError, match="make the expression again"):
            pl.DataFrame({"x": ["a"]}).select(expr)
