"""Captures of packets as tables."""

from __future__ import annotations

import os
from typing import Any, Union

from . import _native
from ._arrays import Table

__all__ = ["Tuples", "tuples"]


class Tuples(Table):
    """Stream of the tuples of a capture, batch by batch; it can be read once.

    `pyarrow.RecordBatchReader.from_stream(tuples)` reads it in bounded memory; `pyarrow.table(tuples)` and
    `polars.DataFrame(tuples)` read it whole.
    """

    __slots__ = ("_skipped",)

    def __init__(self, reader: Any, skipped: _native.Skipped) -> None:
        super().__init__(reader)
        self._skipped = skipped

    @property
    def skipped(self) -> dict[str, int]:
        """Number of packets read so far that have no tuple, by reason."""
        return self._skipped.counts()


def tuples(
    path: Union[str, os.PathLike[str]], *, batch_size: int = 65_536, text: bool = True
) -> Tuples:
    """Ends of the packets of a capture: pcap or pcapng, also compressed by gzip or Zstandard.

    Args:
        path: The file.
        batch_size: Rows of a batch, 1 to 4,194,304. Memory for one batch is needed.
        text: Addresses as text; else as 16 bytes in network order, IPv4 as IPv4-mapped, which is faster.

    Returns:
        Batches of `time` (`timestamp[ns, UTC]`, null if the capture states none), `src`, `sport` (`uint16`),
        `dst`, `dport` (`uint16`), `protocol` (`uint8`, as 6 for TCP), `length` (`uint32`: bytes of the frame
        on the link). Packets without ports (ICMP, ARP, fragments) are skipped; `skipped` counts them.

    Raises:
        OSError: The file cannot be opened. While batches are read: the file ends within a packet, or breaks;
            the packets before were passed on.
        ValueError: The file is no capture.
    """
    reader, skipped = _native.pcap_tuples(os.fspath(path), batch_size, text)
    return Tuples(reader, skipped)
