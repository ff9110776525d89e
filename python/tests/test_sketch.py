from __future__ import annotations

import collections
import pickle
import random
import signal
import struct
import threading
import time
from typing import Any, Callable

import numpy as np
import pyarrow as pa
import pytest

import hashlane
from hashlane import Distinct, HeavyHitters, Imbalance, Prefixes, Spread

KEY = bytes(range(100, 116))
ROWS = 3000


def flows(rows: int, seed: int = 1) -> tuple[Any, Any, Any, Any]:
    """Columns of flows from a generator with a fixed seed."""
    draw = random.Random(seed)
    ends = ([f"10.0.{draw.randrange(4)}.{draw.randrange(256)}" for _ in range(rows)] for _ in range(2))
    ports = (pa.array([draw.randrange(1 << 16) for _ in range(rows)], pa.uint16()) for _ in range(2))
    src, dst = (pa.array(end) for end in ends)
    sport, dport = ports
    return src, sport, dst, dport


def names(rows: int) -> Any:
    texts = [f"/{row % 10}/{row % 100}/{row % 1000}" for row in range(rows)]
    return pa.array(hashlane.parse_name(texts))


KEYS = pa.array([None if row % 7 == 3 else f"key {row % 900}" for row in range(ROWS)])
MAKERS: dict[str, tuple[Callable[[], Any], Callable[[], list[Any]]]] = {
    "spread": (lambda: Spread("siphash-1-3", 256, KEY), lambda: [KEYS]),
    "spread of flows": (lambda: Spread("jhash", 1000, KEY, reduction="scaled"), lambda: list(flows(ROWS))),
    "prefixes": (lambda: Prefixes("ndn", precision=10, key=KEY), lambda: [names(ROWS)]),
    "distinct": (lambda: Distinct(key=KEY), lambda: [KEYS]),
    "imbalance": (lambda: Imbalance("rss", 8, candidates=20, key=KEY), lambda: list(flows(ROWS))),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_any_split_and_order_gives_the_same_bytes(kind: str) -> None:
    make, columns = MAKERS[kind]
    batch = columns()
    whole = make()
    whole.update(*batch)
    for seed in range(6):
        draw = random.Random(seed)
        cuts = sorted(draw.randrange(ROWS + 1) for _ in range(seed + 1))
        parts = []
        for start, stop in zip([0, *cuts], [*cuts, ROWS]):
            part = make()
            part.update(*[column[start:stop] for column in batch])
            # As an engine moves it: pickled, or as bytes without the key.
            moved = pickle.loads(pickle.dumps(part)) if seed % 2 else type(part).from_bytes(part.to_bytes())
            parts.append(moved)
        draw.shuffle(parts)
        merged = parts[0]
        for part in parts[1:]:
            merged.merge(part)
        assert merged.to_bytes() == whole.to_bytes()
        assert merged.result() == whole.result()


@pytest.mark.parametrize("kind", MAKERS)
def test_chunks_slices_and_calls_are_alike(kind: str) -> None:
    make, columns = MAKERS[kind]
    batch = columns()
    one, chunked, many = make(), make(), make()
    one.update(*batch)
    # Chunks that end elsewhere in each column, some of them empty.
    chunked.update(
        *[
            pa.chunked_array([column[:at], column[at:at], column[at : at + 40], column[at + 40 :]])
            for at, column in enumerate(batch, 5)
        ]
    )
    for start in range(0, ROWS, 700):
        many.update(*[column[start : start + 700] for column in batch])
    many.update(*[column[:0] for column in batch])
    assert one.to_bytes() == chunked.to_bytes() == many.to_bytes()


@pytest.mark.parametrize("scheme", ["siphash-1-3", "crc32c"])
@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view(),
     pa.binary(8), pa.dictionary(pa.int32(), pa.string())],
    ids=str,
)
def test_the_buckets_are_those_of_the_hashes(kind: Any, scheme: str) -> None:
    rows = [None if row % 5 == 1 else f"{row:08}" for row in range(200_000)]
    array = pa.array(rows).cast(pa.binary()).cast(kind) if kind == pa.binary(8) else pa.array(rows).cast(kind)
    array = array[3:]
    key = None if scheme == "crc32c" else KEY
    hashes = [hash for hash in hashlane.hash(array, scheme, key).to_pylist() if hash is not None]
    spread = Spread(scheme, 97, key)
    spread.update(array)
    loads = collections.Counter(hash % 97 for hash in hashes)
    assert list(spread.counts()) == [loads[bucket] for bucket in range(97)]
    result = spread.result()
    assert result.keys == len(hashes) and result.buckets == 97 and result.degrees == 96
    mean = len(hashes) / 97
    assert result.chi_squared == pytest.approx(sum((load - mean) ** 2 for load in loads.values()) / mean)
    assert result.longest == max(loads.values()) == result.quantile(1)
    assert result.quantile(0.5) == sorted(loads.values())[48]


def test_numbers_and_numpy_rows_are_keys() -> None:
    numbers = np.arange(5000, dtype=np.uint32)
    rows = numbers.view(np.uint8).reshape(5000, 4)
    sketches = [Spread("siphash-2-4", 64, KEY) for _ in range(3)]
    sketches[0].update(numbers)
    sketches[1].update(rows)
    sketches[2].update([struct.pack("<I", number) for number in range(5000)])
    assert len({sketch.to_bytes() for sketch in sketches}) == 1


def test_flows_have_the_buckets_of_flow_hash_and_the_queues_of_rss() -> None:
    src, sport, dst, dport = flows(ROWS)
    src = pa.array([None if row == 17 else text for row, text in enumerate(src.to_pylist())])
    spread = Spread("siphash-1-3", 64, KEY)
    spread.update(src, sport, dst, dport)
    hashes = hashlane.flow_hash(src, sport, dst, dport, "siphash-1-3", KEY).drop_null().to_pylist()
    loads = collections.Counter(hash % 64 for hash in hashes)
    assert list(spread.counts()) == [loads[bucket] for bucket in range(64)]

    sizes = [None if row == 17 else 100 + row for row in range(ROWS)]
    imbalance = Imbalance("rss", 8, candidates=30, key=KEY)
    imbalance.update(src, sport, dst, dport, packets=[2] * ROWS, bytes=pa.array(sizes))
    result = imbalance.result()
    assert result.total == (2 * (ROWS - 1), sum(size for size in sizes if size is not None))
    for number in (0, result.best.number):
        queues = hashlane.rss(src, sport, dst, dport, imbalance.candidate(number), queues=8).to_pylist()
        packets = collections.Counter(queue for queue in queues if queue is not None)
        assert [load.packets for load in imbalance.loads(number)] == [2 * packets[q] for q in range(8)]
        volume = sum(size for queue, size in zip(queues, sizes) if queue == 3 and size is not None)
        assert imbalance.loads(number)[3].bytes == volume
        assert result.keys[number].packets == pytest.approx(max(packets.values()) * 8 / (ROWS - 1))
    assert result.current == result.keys[0] and len(result.keys) == 31
    assert result.best.packets <= result.median
    assert repr(result).endswith("keys=[31 keys])")


def test_distinct_and_prefixes_are_within_their_errors() -> None:
    distinct = Distinct(precision=12, key=KEY)
    distinct.update(np.arange(50_000, dtype=np.int64) % 20_000)
    result = distinct.result()
    assert abs(result.keys - 20_000) < 4 * result.standard_error * 20_000
    prefixes = Prefixes("ndn", precision=14, key=KEY)
    prefixes.update(names(10_000))
    prefixes.update([b"\xff", None])
    population = prefixes.result()
    assert (population.names, population.invalid) == (10_000, 1)
    for depth, exact in zip(population.depths, [10, 100, 1000]):
        assert abs(depth.distinct - exact) <= 0.04 * exact
    assert len(population.depths) == 3
    assert prefixes.fib(1, 1).entries == 10 and prefixes.fib().bytes > prefixes.fib(1, 1).bytes > 0
    assert population.pit.entries == round(population.distinct_names)


def test_heavy_hitters_keep_their_bound_in_any_order() -> None:
    draw = random.Random(3)
    rows = [f"{int(draw.paretovariate(0.8)) % 5000}" for _ in range(20_000)]
    weights = [draw.randrange(5) for _ in rows]
    exact: collections.Counter[bytes] = collections.Counter()
    for row, weight in zip(rows, weights):
        exact[row.encode()] += weight
    for parts in (1, 7):
        sketch = HeavyHitters(50)
        for part in range(parts):
            other = HeavyHitters(50)
            other.update(rows[part::parts], weights[part::parts])
            sketch.merge(HeavyHitters.from_bytes(other.to_bytes()))
        result = sketch.result()
        assert result.total == sum(weights)
        assert result.error <= result.total / 51
        least = {hitter.key: hitter.least for hitter in result.hitters}
        for key, weight in exact.items():
            assert least.get(key, 0) <= weight <= least.get(key, 0) + result.error
    light = HeavyHitters(3)
    light.update(["a", None, "a"])
    assert pickle.loads(pickle.dumps(light)).result().hitters == [(b"a", 2)]


def test_a_sketch_without_its_key_is_merged_but_not_updated() -> None:
    spread = Spread("siphash-1-3", 16, KEY)
    spread.update(["a"])
    read = Spread.from_bytes(spread.to_bytes())
    with pytest.raises(ValueError, match=r"from_bytes\(data, key\)"):
        read.update(["b"])
    read.merge(spread)
    assert read.result().keys == 2
    with pytest.raises(ValueError, match="not the one"):
        Spread.from_bytes(spread.to_bytes(), bytes(16))
    again = Spread.from_bytes(spread.to_bytes(), KEY)
    again.update(["b"])
    assert again.result().keys == 2
    assert KEY not in spread.to_bytes()
    unkeyed = Spread("crc32c", 16)
    Spread.from_bytes(unkeyed.to_bytes()).update(["needs no key"])
    spread.merge(spread)
    assert spread.result().keys == 2
    # A pickle has the key.
    moved = pickle.loads(pickle.dumps(spread))
    moved.update(["c"])
    assert moved.result().keys == 3
    assert repr(moved) == "<hashlane.Spread: siphash-1-3, 16 buckets, remainder>"


@pytest.mark.parametrize(
    ("ours", "theirs", "message"),
    [
        (Spread("siphash-1-3", 16, KEY), Spread("siphash-1-3", 17, KEY), "number of buckets.*16 and 17"),
        (Spread("siphash-1-3", 16, KEY), Spread("siphash-2-4", 16, KEY), "hash.*siphash-1-3 and siphash-2-4"),
        (Spread("siphash-1-3", 16, KEY), Spread("siphash-1-3", 16, bytes(16)), "different key"),
        (Spread("jhash", 9, KEY), Spread("jhash", 9, KEY, reduction="scaled"), "remainder and scaled"),
        (Distinct(key=KEY), Distinct(precision=9, key=KEY), "precision.*14 and 9"),
        (Distinct(key=KEY), HeavyHitters(5), "HeavyHitters cannot be merged into Distinct"),
        (Prefixes("ndn", key=KEY), Prefixes("ccnx", key=KEY), "ndn and ccnx"),
        (Imbalance("rss", 4, key=KEY), Imbalance("keyed", 4, key=KEY), "rss and keyed"),
        (Imbalance("rss", 4, key=KEY), Imbalance("rss", 4, key=KEY, rss_key=bytes(40)), "key"),
        (HeavyHitters(5), HeavyHitters(6), "5 and 6"),
    ],
)
def test_unlike_sketches_are_not_merged(ours: Any, theirs: Any, message: str) -> None:
    before = ours.to_bytes()
    with pytest.raises(ValueError, match=message):
        ours.merge(theirs)
    assert ours.to_bytes() == before
    with pytest.raises(TypeError, match="expected a sketch"):
        ours.merge(b"")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Spread("siphash-1-3", 16), r"needs a key of 16 bytes.*random_key"),
        (lambda: Spread("siphash-1-3", 16, b"short"), "the key has 5 bytes"),
        (lambda: Spread("crc32c", 16, KEY), "takes no key"),
        (lambda: Spread("siphash-1-4", 16, KEY), 'unknown scheme "siphash-1-4".*siphash-'),
        (lambda: Spread("siphash-1-3", 0, KEY), "buckets is 0, but must be from 1 to 67,108,864"),
        (lambda: Spread("siphash-1-3", -1, KEY), "buckets is -1"),
        (lambda: Spread("siphash-1-3", 1 << 70, KEY), "buckets is"),
        (lambda: Spread("siphash-1-3", 9, KEY, reduction="best"), "remainder"),
        (lambda: Prefixes("dns", key=KEY), "unknown encoding"),
        (lambda: Prefixes("ndn", key=b"short"), "the key has 5 bytes"),
        (lambda: Distinct(precision=300, key=KEY), "precision is 300, but must be from 4 to 18"),
        (lambda: Distinct(precision=19, key=KEY), "from 4 to 18"),
        (lambda: Imbalance("toeplitz", 4, key=KEY), 'unknown function "toeplitz"'),
        (lambda: Imbalance("rss", 129, key=KEY), "n is 129, but must be from 1 to 128"),
        (lambda: Imbalance("keyed", 0, key=KEY), "n is 0, but must be from 1 to 65,536"),
        (lambda: Imbalance("rss", 4, key=KEY, rss_key=b""), "40 bytes, got 0"),
        (lambda: Imbalance("rss", 4, key=KEY).candidate(1), "number of the key is 1, but must be from 0 to 0"),
        (lambda: Imbalance("rss", 4, key=KEY).loads(-1), "number of the key is -1, but must be from 0 to 0"),
        (lambda: HeavyHitters(0), "counters is 0, but must be from 1 to 1,048,576"),
        (lambda: HeavyHitters.from_bytes(HeavyHitters(1).to_bytes(), KEY), "has no key"),
        (lambda: hashlane.Sketch.from_bytes(b""), "Spread"),
    ],
)
def test_arguments_out_of_range_are_named(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("kind", "arguments"), [(Distinct, []), (Prefixes, ["ndn"]), (Imbalance, ["rss", 4])]
)
def test_the_key_is_not_optional(kind: Any, arguments: list[Any]) -> None:
    with pytest.raises(TypeError, match="'key'"):
        kind(*arguments)
    with pytest.raises(ValueError, match="needs a key of 16 bytes.*random_key"):
        kind(*arguments, key=None)


MOST = 2**63 - 1


def test_given_buckets_and_queues_have_the_statistics_of_their_counts() -> None:
    spread = Spread("siphash-1-3", 64, KEY)
    spread.update(np.arange(5000))
    counts = spread.counts()
    assert hashlane.SpreadResult.from_counts(counts) == spread.result()
    numbers = [bucket for bucket, count in enumerate(counts) for _ in range(count)]
    assert hashlane.SpreadResult.from_buckets(pa.array(numbers, pa.uint32()), 64) == spread.result()
    for bad, message in [
        (lambda: hashlane.SpreadResult.from_counts([]), "number of buckets is 0"),
        (lambda: hashlane.SpreadResult.from_counts([1, -1]), "row 1: counts is negative"),
        (lambda: hashlane.SpreadResult.from_counts([1, None]), "row 1: counts is null"),
        (lambda: hashlane.SpreadResult.from_counts([MOST, 1]), r"2\^63"),
        (lambda: hashlane.SpreadResult.from_buckets([1, 64], 64), "bucket of a key is 64"),
        (lambda: hashlane.SpreadResult.from_buckets([1], 0), "buckets is 0"),
        (lambda: hashlane.KeyImbalance.from_counts([1, 2], [1]), "several lengths"),
    ]:
        with pytest.raises(ValueError, match=message):
            bad()
    imbalance = Imbalance("rss", 8, key=KEY)
    imbalance.update(*flows(ROWS), bytes=[7] * ROWS)
    loads = imbalance.loads()
    packets, volume = ([load[at] for load in loads] for at in (0, 1))
    assert hashlane.KeyImbalance.from_counts(packets, volume) == imbalance.result().current
    assert hashlane.KeyImbalance.from_counts([3, 1]) == (0, 1.5, 1.0)


def test_totals_end_at_their_limit() -> None:
    ends = flows(4)
    imbalance = Imbalance("rss", 1, candidates=2, key=KEY)
    before = imbalance.to_bytes()
    with pytest.raises(ValueError, match=r"the total would pass 2\^63 - 1"):
        imbalance.update(*ends, packets=np.full(4, MOST))
    assert imbalance.to_bytes() == before
    imbalance.update(*ends, packets=[MOST, 0, 0, 0], bytes=[0, 0, 0, MOST])
    assert imbalance.result().total == (MOST, MOST) == imbalance.loads()[0]
    assert Imbalance.from_bytes(imbalance.to_bytes()).result() == imbalance.result()
    with pytest.raises(ValueError, match="the total would pass"):
        imbalance.update(*ends)


def test_a_batch_that_passes_the_limit_leaves_nothing() -> None:
    # Sketches take a batch in parts; the last one is too much.
    rows = 70_000
    numbers = pa.array([1] * (rows - 1) + [MOST])
    imbalance, heavy = Imbalance("keyed", 2, key=KEY), HeavyHitters(3)
    column = [pa.array([value] * rows) for value in ("::1", 1)]
    updates: list[tuple[hashlane.Sketch, Callable[[], None]]] = [
        (imbalance, lambda: imbalance.update(*column, *column, bytes=numbers)),
        (heavy, lambda: heavy.update(np.arange(rows), numbers)),
    ]
    for sketch, update in updates:
        before = sketch.to_bytes()
        with pytest.raises(ValueError, match="the total would pass"):
            update()
        assert sketch.to_bytes() == before


@pytest.mark.parametrize("kind", MAKERS)
def test_merges_end_at_the_limit(kind: str) -> None:
    make, columns = MAKERS[kind]
    sketch = make()
    sketch.update(*columns())
    for _ in range(70):
        before = sketch.to_bytes()
        try:
            sketch.merge(sketch)
        except ValueError as error:
            assert "would pass" in str(error) and sketch.to_bytes() == before
            return
    # It has no counts.
    assert kind == "distinct"


def test_bad_batches_leave_the_sketch_as_it_was() -> None:
    spread, heavy = Spread("siphash-1-3", 16, KEY), HeavyHitters(5)
    imbalance, prefixes = Imbalance("keyed", 4, key=KEY), Prefixes("ndn", key=KEY)
    sketches = [spread, heavy, imbalance, prefixes]
    before = [sketch.to_bytes() for sketch in sketches]
    src, sport, dst, dport = flows(3)
    with pytest.raises(TypeError, match="keys: a column of double"):
        spread.update(pa.array([1.5]))
    with pytest.raises(ValueError, match="2 columns"):
        spread.update(["a"], ["b"])
    with pytest.raises(ValueError, match="row 2: src .* is no IP address"):
        spread.update(["10.0.0.1", None, "ten"], sport, dst, dport)
    with pytest.raises(TypeError, match="parse_name"):
        prefixes.update(["/a"])
    with pytest.raises(TypeError, match="names: a column of int64; expected text or bytes"):
        prefixes.update([1, 2])
    with pytest.raises(ValueError, match="several lengths"):
        imbalance.update(src, sport, dst, dport[1:])
    with pytest.raises(ValueError, match="row 1: packets is negative"):
        imbalance.update(src, sport, dst, dport, packets=[1, -1, 1])
    with pytest.raises(ValueError, match="row 2: bytes is null"):
        imbalance.update(src, sport, dst, dport, bytes=[1, 2, None])
    with pytest.raises(TypeError, match="packets: a column of large_string"):
        imbalance.update(src, sport, dst, dport, packets=["1", "2", "3"])
    with pytest.raises(ValueError, match="row 2: a key of more than 4096 bytes"):
        heavy.update(["a", None, "x" * 4097])
    with pytest.raises(ValueError, match="2\\^63"):
        heavy.update(["a", "b"], [(1 << 63) - 1, 1])
    assert [sketch.to_bytes() for sketch in sketches] == before


@pytest.mark.parametrize("kind", [*MAKERS, "heavy"])
def test_bad_bytes_are_refused(kind: str) -> None:
    if kind == "heavy":
        sketch: Any = HeavyHitters(20)
        sketch.update(KEYS)
    else:
        make, columns = MAKERS[kind]
        sketch = make()
        sketch.update(*columns())
    data = sketch.to_bytes()
    read = type(sketch).from_bytes
    assert read(data).to_bytes() == read(bytearray(data)).to_bytes() == data
    for bad, message in [
        (b"", "not a sketch"),
        (b"PAR1" + data[4:], "not a sketch"),
        (data[:4] + b"\x09" + data[5:], "version 9"),
        (data[:-1], "truncated|damaged"),
        (data + b"\0", "after the end"),
    ]:
        with pytest.raises(ValueError, match=message):
            read(bad)
    draw = random.Random(5)
    for _ in range(300):
        bad = bytearray(data)
        bad[draw.randrange(len(bad))] = draw.randrange(256)
        try:
            accepted = read(bytes(bad))
        except ValueError:
            continue
        # Bytes that are accepted are the ones that come back.
        assert accepted.to_bytes() == bad
        accepted.result()
    other = Spread if kind == "heavy" else HeavyHitters
    with pytest.raises(ValueError, match=rf"hashlane\.{type(sketch).__name__}\.from_bytes"):
        other.from_bytes(data)
    with pytest.raises(TypeError):
        read("text")


def test_a_signal_stops_a_long_update_and_marks_the_sketch() -> None:
    rows = np.zeros((1 << 20, 64), np.uint8)
    array = pa.FixedSizeBinaryArray.from_buffers(pa.binary(64), len(rows), [None, pa.py_buffer(rows)])
    spread = Spread("halfsiphash-2-4", 16, KEY)
    timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        spread.update(pa.chunked_array([array] * 2000))
        time.sleep(60)
    timer.join()
    for use in (spread.result, spread.to_bytes, lambda: spread.update(["a"])):
        with pytest.raises(ValueError, match="interrupted.*begin a new sketch"):
            use()


def test_threads_share_a_sketch() -> None:
    rows = np.arange(100_000, dtype=np.uint64)
    shared, one = Spread("siphash-1-3", 64, KEY), Spread("siphash-1-3", 64, KEY)
    threads = [threading.Thread(target=shared.update, args=[rows]) for _ in range(6)]
    for thread in threads:
        thread.start()
    for _ in threads:
        one.update(rows)
        shared.result()
    for thread in threads:
        thread.join()
    assert shared.to_bytes() == one.to_bytes()
