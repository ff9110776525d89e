"""Calls of the study python-columns: what is timed of each package, by workload."""

from __future__ import annotations

import os
import socket
import struct
from typing import Any, Callable

#: Width of the keys of each workload.
WIDTHS = {"strings-12": 12, "strings-50": 50, "distinct-12": 12, "heavy-12": 12}


def column(data: Any, workload: str) -> Any:
    """Strings of one length, as the study wrote them."""
    import numpy
    import pyarrow

    width = WIDTHS[workload]
    name = f"fixed-{width}" if workload.startswith("strings") else "skewed"
    values = data.read(name)
    rows = values.size // width
    offsets = pyarrow.py_buffer(numpy.arange(rows + 1, dtype=numpy.int32) * numpy.int32(width))
    return pyarrow.StringArray.from_buffers(rows, offsets, values)


def database(array: Any) -> Any:
    """A table `t` of DuckDB with one column, `key`, and one thread."""
    import duckdb
    import pyarrow

    database = duckdb.connect(config={"threads": 1})
    database.register("given", pyarrow.table({"key": array}))
    database.execute("create table t as select * from given")
    database.unregister("given")
    return database


def fetch(database: Any, query: str) -> Callable[[], int]:
    return lambda: database.execute(query).fetchone()[0]


def strings(data: Any, workload: str, scheme: str, totals: Any) -> tuple[Callable[[], Any], Any]:
    array = column(data, workload)
    if scheme == "duckdb":
        return fetch(database(array), "select bit_xor(hash(key)) from t"), int
    if scheme == "duckdb/scan":
        return fetch(database(array), "select sum(strlen(key)) from t"), int
    if scheme == "polars":
        import polars

        series = polars.Series("key", array)
        return lambda: series.hash(seed=0), totals
    import hashlane

    if scheme == "hashlane/expression":
        import hashlane.polars
        import polars

        frame = polars.Series("key", array).to_frame()
        expression = polars.col("key").hashlane.hash("siphash-1-3", data.key)
        return lambda: frame.select(expression), lambda hashes: totals(hashes["key"])
    if scheme == "hashlane/polars":
        import polars

        # The function on what the expression takes.
        series = polars.Series("key", array)
        return lambda: hashlane.hash(series, "siphash-1-3", data.key), totals
    if scheme == "hashlane/crc32c":
        return lambda: hashlane.hash(array, "crc32c"), totals
    return lambda: hashlane.hash(array, "siphash-1-3", data.key), totals


def distinct(data: Any, workload: str, scheme: str) -> tuple[Callable[[], Any], Any]:
    array = column(data, workload)
    if scheme == "polars":
        import polars

        series = polars.Series("key", array)
        return series.approx_n_unique, int
    import hashlane

    def count() -> float:
        sketch = hashlane.Distinct(key=data.key)
        sketch.update(array)
        return sketch.result().keys

    return count, int


def heavy(data: Any, workload: str, scheme: str) -> tuple[Callable[[], Any], Any]:
    """Keys with their counts, all of them or the heaviest; the number is that of the rows."""
    array = column(data, workload)
    if scheme == "polars":
        import polars

        series = polars.Series("key", array)
        return lambda: series.value_counts(), lambda counts: int(counts["count"].sum())
    import hashlane

    def count() -> Any:
        sketch = hashlane.HeavyHitters(4096)
        sketch.update(array)
        return sketch.result()

    return count, lambda result: result.total


def capture(data: Any, scheme: str) -> tuple[Callable[[], Any], Any]:
    """The number of packets whose addresses and ports were read."""
    path = os.path.join(data.folder, "capture.pcap")
    if not os.path.exists(path):
        write_capture(path, data.read("tuples").to_pybytes(), 1 << 14)
    if scheme == "dpkt":
        import dpkt

        def read() -> int:
            found = []
            with open(path, "rb") as file:
                for _, frame in dpkt.pcap.Reader(file):
                    packet = dpkt.ethernet.Ethernet(frame).data
                    found.append((packet.src, packet.data.sport, packet.dst, packet.data.dport))
            return len(found)

        return read, int
    if scheme == "scapy":
        from scapy.layers.inet import UDP
        from scapy.layers.inet6 import IPv6
        from scapy.utils import PcapReader

        def dissect() -> int:
            found = []
            with PcapReader(path) as packets:
                for packet in packets:
                    ip, udp = packet[IPv6], packet[UDP]
                    found.append((ip.src, udp.sport, ip.dst, udp.dport))
            return len(found)

        return dissect, int
    import hashlane

    import pyarrow

    return lambda: pyarrow.table(hashlane.pcap.tuples(path)), lambda table: table.num_rows


def write_capture(path: str, tuples: bytes, packets: int) -> None:
    """Writes UDP datagrams in IPv6 of these tuples (destination, source, ports) as a capture."""
    ethernet = bytes(12) + struct.pack("!H", 0x86DD)
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for number in range(packets):
            row = tuples[36 * number : 36 * number + 36]
            destination, source, dport, sport = row[:16], row[16:32], row[32:34], row[34:36]
            udp = sport + dport + struct.pack("!HH", 8 + 64, 0) + bytes(64)
            ip = struct.pack("!IHBB", 6 << 28, len(udp), socket.IPPROTO_UDP, 64) + source + destination
            frame = ethernet + ip + udp
            file.write(struct.pack("<IIII", number // 1000, number % 1000, len(frame), len(frame)) + frame)


def subject(data: Any, workload: str, scheme: str, totals: Any) -> tuple[Callable[[], Any], Any]:
    """The call, and the function that makes a number of its result."""
    kind = workload.split("-")[0]
    if kind == "capture":
        return capture(data, scheme)
    if kind == "distinct":
        return distinct(data, workload, scheme)
    if kind == "heavy":
        return heavy(data, workload, scheme)
    return strings(data, workload, scheme, totals)
