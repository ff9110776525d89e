"""Inputs of the notebooks: a capture, names, connections and rows, the same on every machine.

All random choices come from the raw output of PCG64, which NumPy keeps the same in all releases.
"""

from __future__ import annotations

import math
import os
from typing import Union

import numpy as np
import polars as pl


def uniform(seed: int, count: int) -> np.ndarray:
    """`count` numbers from 0 to 1, without 1."""
    return (np.random.PCG64(seed).random_raw(count) >> np.uint64(11)) * 2.0**-53


def below(most: int, seed: int, count: int, power: int = 1) -> np.ndarray:
    """`count` integers from 0 to `most` - 1; a `power` above 1 makes small ones more frequent."""
    numbers = uniform(seed, count)
    # The product is the same on every processor, NumPy's power is not.
    return (math.prod([numbers] * power) * most).astype(np.int64)


def capture(path: Union[str, os.PathLike[str]], flows: int = 4000) -> None:
    """Write a capture of one minute: TCP between clients and 16 servers, few large flows, many small ones.

    The frames are cut after the header of TCP, as `tcpdump -s 54` does.
    """
    packets = np.minimum(3 / (1 - uniform(1, flows)) ** 0.9, 2000).astype(np.int64)
    flow = np.repeat(np.arange(flows), packets)
    begin, duration = 60 * uniform(2, flows), 0.2 * packets
    time = begin[flow] + np.minimum(duration, 30)[flow] * uniform(3, flow.size)
    back = uniform(4, flow.size) < 0.4
    full = uniform(5, flow.size) < np.where(packets > 50, 0.8, 0.2)[flow]
    client = 0xC6120000 + below(1 << 17, 6, flows)[flow]
    server = 0xCB007100 + below(16, 7, flows, 2)[flow]
    port = 32768 + below(28232, 8, flows)[flow]

    frame = np.dtype(
        [("s", "<u4"), ("us", "<u4"), ("kept", "<u4"), ("length", "<u4"), ("macs", "S12"), ("type", ">u2")]
        + [("version", "u1"), ("tos", "u1"), ("total", ">u2"), ("id", ">u4"), ("ttl", "u1"), ("protocol", "u1")]
        + [("checksum", ">u2"), ("src", ">u4"), ("dst", ">u4"), ("sport", ">u2"), ("dport", ">u2")]
        + [("numbers", ">u8"), ("offset", "u1"), ("flags", "u1"), ("rest", "S6")]
    )
    rows = np.zeros(flow.size, frame)
    rows["s"], rows["us"] = 1_700_000_000 + time.astype(np.int64), time % 1 * 1e6
    rows["kept"], rows["length"] = 54, np.where(full, 1514, 66)
    rows["type"], rows["version"], rows["total"] = 0x0800, 0x45, rows["length"] - 14
    rows["ttl"], rows["protocol"], rows["offset"], rows["flags"] = 64, 6, 0x50, 0x10
    rows["src"], rows["dst"] = np.where(back, server, client), np.where(back, client, server)
    rows["sport"], rows["dport"] = np.where(back, 443, port), np.where(back, port, 443)
    rows = rows[(time < 60).nonzero()[0][np.argsort(time[time < 60], kind="stable")]]
    with open(path, "wb") as file:
        file.write(np.array([0xA1B2C3D4, 2 | 4 << 16, 0, 0, 54, 1], "<u4").tobytes())
        file.write(rows.tobytes())


def names(batch: int, rows: int = 1_000_000) -> pl.Series:
    """A batch of names of content, as URIs: tld, site, section, object, version, segment. Names repeat."""
    seed = 100 * batch
    site = below(100_000, seed, rows, 3)
    columns = {
        "tld": site % 17,
        "site": site,
        "section": below(8, seed + 1, rows, 2),
        "item": below(500, seed + 2, rows, 4),
        "version": below(4, seed + 3, rows, 2),
        "segment": below(10, seed + 4, rows, 2),
    }
    form = "/tld{}/site{}/section{}/item{}/v={}/seg={}"
    return pl.DataFrame(columns).select(pl.format(form, *columns)).to_series()


def conntrack(connections: int, seed: int = 2) -> str:
    """The text of `/proc/net/nf_conntrack` on a gateway that translates addresses."""
    host, port = below(4000, seed, connections, 2), 1024 + below(64512, seed + 1, connections)
    outside = 0x01000000 + below(1 << 28, seed + 2, connections, 3)
    choice, seconds = uniform(seed + 3, connections), below(432_000, seed + 4, connections)
    lines = []
    for row in range(connections):
        client = f"10.0.{host[row] // 250}.{host[row] % 250 + 1}"
        server = ".".join(str(byte) for byte in int(outside[row]).to_bytes(4, "big"))
        there, back = f"src={client} dst={server}", f"src={server} dst=198.51.100.1"
        if choice[row] < 0.05:
            kind = f"icmp     1 {seconds[row] % 30}"
            tuples = f"{there} type=8 code=0 id={port[row]} {back} type=0 code=0 id={port[row]}"
        else:
            tcp, service = choice[row] < 0.8, 443 if choice[row] < 0.8 else 53
            kind = f"tcp      6 {seconds[row]} ESTABLISHED" if tcp else f"udp      17 {seconds[row] % 180}"
            tuples = f"{there} sport={port[row]} dport={service} {back} sport={service} dport={port[row]} [ASSURED]"
        lines.append(f"ipv4     2 {kind} {tuples} mark=0 zone=0 use=2\n")
    return "".join(lines)


def visits(rows: int = 400_000) -> pl.DataFrame:
    """A log of visits with repeated rows, and users that are missing."""
    event = below(rows, 1, rows)
    user, page = below(20_000, 2, rows)[event], below(20_000, 3, rows, 2)[event]
    frame = pl.DataFrame({"second": event // 20, "user": user, "page": page})
    return frame.select(
        "second",
        pl.when(pl.col("user") % 50 > 0).then(pl.format("user{}", "user")).alias("user"),
        pl.format("https://example.com/page/{}", "page").alias("url"),
    )
