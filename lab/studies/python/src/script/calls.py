"""Worker of the study python-calls: times calls of hash functions, one batch for each line that it reads.

Reads `time WORKLOAD SCHEME CALLS`, `empty WORKLOAD CALLS`, `sketch WORKLOAD` and `counted WORKLOAD` from
standard input. Writes `ok NAME=VALUE ...` or `error TEXT`. Times are taken
by `time.perf_counter_ns` around the calls alone.
"""

from __future__ import annotations

import functools
import gc
import importlib
import importlib.metadata
import os
import sys
import time
from typing import Any, Callable, NamedTuple

#: Rows of a batch.
BATCH = 1 << 16

MASK = (1 << 64) - 1


class Subject(NamedTuple):
    """A timed call."""

    call: Callable[[], Any]
    #: Sum of all hashes of a result, modulo 2^64.
    total: Callable[[Any], int]


def numpy_total(hashes: Any) -> int:
    import numpy

    return int(numpy.asarray(hashes).astype(numpy.uint64, copy=False).sum(dtype=numpy.uint64))


def arrow_total(hashes: Any) -> int:
    return numpy_total(hashes.to_numpy())


def list_total(hashes: list[int]) -> int:
    return sum(hashes) & MASK


def parts_total(parts: list[Any]) -> int:
    return sum(map(arrow_total, parts)) & MASK


class Data:
    """Keys that the study wrote, in the form that each package takes."""

    def __init__(self, folder: str, key: bytes) -> None:
        self.folder, self.key = folder, key

    def read(self, name: str) -> Any:
        import pyarrow

        with open(os.path.join(self.folder, name), "rb") as file:
            return pyarrow.py_buffer(file.read())

    @functools.cached_property
    def strings(self) -> Any:
        """All strings, in batches."""
        import pyarrow

        offsets, data = self.read("offsets"), self.read("strings")
        rows = offsets.size // 4 - 1
        array = pyarrow.StringArray.from_buffers(rows, offsets, data)
        return pyarrow.chunked_array([array[at : at + BATCH] for at in range(0, rows, BATCH)])

    @functools.cached_property
    def batch(self) -> Any:
        """Strings of the first batch, alone in their memory."""
        import pyarrow

        return pyarrow.array(self.strings.chunk(0).to_pylist(), pyarrow.string())

    @functools.cached_property
    def encoded(self) -> list[bytes]:
        return [row.encode() for row in self.batch.to_pylist()]

    @functools.cached_property
    def series(self) -> Any:
        import polars

        return polars.Series("key", self.batch)

    @functools.cached_property
    def tuples(self) -> Any:
        """Rows of 36 bytes, in batches."""
        return self.fixed(self.read("tuples"), 36)

    def fixed(self, data: Any, width: int) -> Any:
        import pyarrow

        rows = data.size // width
        array = pyarrow.FixedSizeBinaryArray.from_buffers(pyarrow.binary(width), rows, [None, data])
        return pyarrow.chunked_array([array[at : at + BATCH] for at in range(0, rows, BATCH)])

    @functools.cached_property
    def flows(self) -> list[Any]:
        """The same rows as columns: source address and port, destination address and port."""
        import numpy
        import pyarrow

        rows = numpy.frombuffer(self.read("tuples"), numpy.uint8).reshape(-1, 36)

        def address(start: int) -> Any:
            part = numpy.ascontiguousarray(rows[:, start : start + 16])
            return self.fixed(pyarrow.py_buffer(part), 16)

        def port(start: int) -> Any:
            part = numpy.ascontiguousarray(rows[:, start : start + 2]).view(">u2").ravel()
            array = pyarrow.array(part.astype(numpy.uint16))
            return pyarrow.chunked_array([array[at : at + BATCH] for at in range(0, len(array), BATCH)])

        return [address(16), port(34), address(0), port(32)]


def string_subject(data: Data, scheme: str) -> Subject:
    """A hash of one batch of strings by one of the packages."""
    if scheme.startswith("hashlane/"):
        import hashlane

        array, key, name = data.batch, data.key, scheme[len("hashlane/") :]
        return Subject(lambda: hashlane.hash(array, name, key), arrow_total)
    if scheme == "polars/hash":
        series = data.series
        return Subject(lambda: series.hash(seed=0), arrow_total)
    if scheme.startswith("polars-hash/"):
        import polars_hash

        frame, column = data.series.to_frame(), polars_hash.col("key").nchash
        expression = {"xxh3-64": column.xxh3_64, "wyhash": column.wyhash}[scheme[len("polars-hash/") :]]()
        return Subject(lambda: frame.select(expression), lambda hashes: arrow_total(hashes["key"]))
    if scheme == "xxhash/xxh3-64":
        from xxhash import xxh3_64_intdigest as xxh3

        rows = data.encoded
        return Subject(lambda: [xxh3(row) for row in rows], list_total)
    if scheme == "mmh3/murmur3-32":
        from mmh3 import hash as murmur3

        rows = data.encoded
        return Subject(lambda: [murmur3(row, 0, False) for row in rows], list_total)
    if scheme == "siphashc/siphash-2-4":
        from siphashc import siphash

        rows, key = data.encoded, data.key
        return Subject(lambda: [siphash(key, row) for row in rows], list_total)
    if scheme == "pandas/hash-array":
        import numpy
        from pandas.util import hash_array

        objects, text = numpy.array(data.batch.to_pylist(), dtype=object), data.key.decode("latin-1")
        # Without a search for equal rows, which takes several times as long as the hash.
        return Subject(lambda: hash_array(objects, hash_key=text, categorize=False), numpy_total)
    raise ValueError(f"no call for {scheme}")


class Sketches:
    """Sketches that are updated again and again: their memory is in use before they are timed."""

    def __init__(self, data: Data) -> None:
        self.data = data
        self.kept: dict[str, Any] = {}

    def new(self, buckets: int) -> Any:
        import hashlane

        return hashlane.Spread("siphash-1-3", buckets, self.data.key)

    def subject(self, workload: str, buckets: int, batches: bool) -> Subject:
        sketch, rows = self.kept.setdefault(workload, self.new(buckets)), self.data.tuples
        if not batches:
            return Subject(lambda: sketch.update(rows), lambda _: 0)
        parts = rows.chunks
        return Subject(lambda: [sketch.update(part) for part in parts], lambda _: 0)


def call_subject(data: Data, sketches: Sketches, work: str, batches: bool) -> Subject:
    """The same work by one call for all batches, or by a call for each."""
    import hashlane

    key = data.key
    if work == "spread-36":
        return sketches.subject(f"call/{work}", 1 << 16, batches)
    if work == "flow-hash":
        src, sport, dst, dport = data.flows
        if not batches:
            return Subject(lambda: hashlane.flow_hash(src, sport, dst, dport, "siphash-1-3", key), arrow_total)
        rows = list(zip(src.chunks, sport.chunks, dst.chunks, dport.chunks))
        return Subject(
            lambda: [hashlane.flow_hash(a, b, c, d, "siphash-1-3", key) for a, b, c, d in rows], parts_total
        )
    column = {"hash-strings": data.strings, "hash-36": data.tuples}[work]
    if not batches:
        return Subject(lambda: hashlane.hash(column, "siphash-1-3", key), arrow_total)
    parts = column.chunks
    return Subject(lambda: [hashlane.hash(part, "siphash-1-3", key) for part in parts], parts_total)


def empty_call(data: Data, sketches: Sketches, work: str) -> Callable[[], Any]:
    """The same call without rows."""
    import hashlane

    key = data.key
    if work == "spread-36":
        sketch, none = sketches.new(1 << 16), data.tuples.chunk(0)[:0]
        return lambda: sketch.update(none)
    if work == "flow-hash":
        src, sport, dst, dport = (column.chunk(0)[:0] for column in data.flows)
        return lambda: hashlane.flow_hash(src, sport, dst, dport, "siphash-1-3", key)
    none = {"hash-strings": data.strings, "hash-36": data.tuples}[work].chunk(0)[:0]
    return lambda: hashlane.hash(none, "siphash-1-3", key)


class Worker:
    """Answers requests."""

    def __init__(self, data: Data) -> None:
        self.data, self.sketches = data, Sketches(data)
        self.subjects: dict[tuple[str, str], Subject] = {}

    def subject(self, workload: str, scheme: str) -> Subject:
        batches = scheme.endswith("/batches")
        if workload.startswith("call/"):
            return call_subject(self.data, self.sketches, workload[len("call/") :], batches)
        if workload.startswith("spread-36/"):
            return self.sketches.subject(workload, 1 << int(workload.rsplit("-", 1)[1]), batches)
        if workload != "strings-16-64":
            # Of the study python-columns, which puts this file beside this one.
            import columns

            return Subject(*columns.subject(self.data, workload, scheme, arrow_total))
        return string_subject(self.data, scheme)

    def time(self, workload: str, scheme: str, calls: str) -> dict[str, int]:
        """Nanoseconds of so many calls, and the sum of the hashes of the last."""
        if (workload, scheme) not in self.subjects:
            self.subjects[workload, scheme] = self.subject(workload, scheme)
        call, total = self.subjects[workload, scheme]
        clock, spent, result = time.perf_counter_ns, 0, None
        for _ in range(int(calls)):
            # The memory of the result before is free again.
            result = None
            begun = clock()
            result = call()
            spent += clock() - begun
        return {"ns": spent, "sum": total(result)}

    def empty(self, workload: str, calls: str) -> dict[str, int]:
        """Nanoseconds of so many calls without rows."""
        call, clock = empty_call(self.data, self.sketches, workload[len("call/") :]), time.perf_counter_ns
        numbers = range(int(calls))
        begun = clock()
        for _ in numbers:
            call()
        return {"ns": clock() - begun}

    def sketch(self, workload: str) -> dict[str, int]:
        """Writes the bytes of a new sketch of all rows to the file `sketch`."""
        buckets = 1 << int(workload.rsplit("-", 1)[1])
        sketch = self.sketches.new(buckets)
        sketch.update(self.data.tuples)
        data = sketch.to_bytes()
        with open(os.path.join(self.data.folder, "sketch"), "wb") as file:
            file.write(data)
        return {"bytes": len(data)}

    def counted(self, workload: str) -> dict[str, int]:
        """Keys of the sketch that was timed."""
        return {"keys": self.sketches.kept[workload].result().keys}


def versions(packages: list[str]) -> tuple[list[str], list[str]]:
    """Packages that are missing, and the others with their versions."""
    missing, found = [], [f"Python={sys.version.split()[0]}"]
    for name in packages:
        try:
            importlib.import_module(name.replace("-", "_"))
            found.append(f"{name}={importlib.metadata.version(name)}")
        except ModuleNotFoundError as error:
            if error.name != name.replace("-", "_"):
                raise
            missing.append(name)
    return missing, found


def main() -> None:
    _, folder, key, *packages = sys.argv
    # Nothing that a package prints reaches the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def answer(line: str) -> None:
        print(" ".join(line.split()), file=answers, flush=True)

    required = [name for name in packages if not name.endswith("?")]
    missing, found = versions(required)
    if missing:
        answer(f"missing {' '.join(missing)}")
        return
    absent, others = versions([name[:-1] for name in packages if name.endswith("?")])
    answer(f"ok {' '.join([*found, *others[1:], *(f'{name}=absent' for name in absent)])}")
    worker = Worker(Data(folder, bytes.fromhex(key)))
    requests: dict[str, Callable[..., dict[str, int]]] = {
        "time": worker.time,
        "empty": worker.empty,
        "sketch": worker.sketch,
        "counted": worker.counted,
    }
    # As `timeit` does.
    gc.disable()
    for line in sys.stdin:
        name, *arguments = line.split()
        try:
            fields = requests[name](*arguments)
            answer("ok " + " ".join(f"{field}={value}" for field, value in fields.items()))
        except Exception as error:
            answer(f"error {type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
