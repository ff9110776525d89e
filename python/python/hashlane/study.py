"""Studies of the command `hashlane`, run from Python and shown in notebooks."""

from __future__ import annotations

import html
import os
import pathlib
import queue
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
from typing import IO, Callable, Optional, Sequence, Union

from ._arrays import Table
from ._records import records

__all__ = ["Run", "StudyError", "command", "run"]

#: Handler of progress: the study, steps done, all steps.
Progress = Callable[[str, int, int], None]

_STEP = re.compile(r"^(?P<study>\S+), \d+ s: step (?P<step>[\d,]+) of (?P<all>[\d,]+): ")


class StudyError(RuntimeError):
    """The command failed; the message is its own."""


class Run:
    """Result of a run: its folder, records and report. A notebook shows the report."""

    def __init__(self, folder: pathlib.Path, text: str) -> None:
        #: Folder with `records.csv`, `machine.toml` and `report.html`.
        self.folder = folder
        #: Tables that the command printed.
        self.text = text

    @property
    def records(self) -> Table:
        """The records, as :func:`hashlane.records` reads them."""
        return records(self.folder)

    @property
    def report(self) -> str:
        """The report: one page of HTML that needs no network."""
        return (self.folder / "report.html").read_text(encoding="utf-8")

    def _repr_html_(self) -> str:
        page = html.escape(self.report, quote=True)
        return (
            f'<iframe srcdoc="{page}" style="width:100%;height:640px;border:0" '
            'sandbox="allow-scripts"></iframe>'
        )

    def __repr__(self) -> str:
        return self.text or f"<run in {self.folder}>"


def command() -> str:
    """Path of the command `hashlane`: of the variable HASHLANE, of this environment, or on PATH.

    Raises:
        FileNotFoundError: The command was not found.
    """
    stated = os.environ.get("HASHLANE")
    scripts = sysconfig.get_path("scripts")
    found = stated or shutil.which("hashlane", path=scripts) or shutil.which("hashlane")
    if found and shutil.which(found):
        return found
    where = f"{stated}, of the variable HASHLANE, is no program" if stated else "it is not on PATH"
    raise FileNotFoundError(
        f"no command hashlane: {where}; install it from this repository with "
        "`cargo install --path bin/hashlane`, or set HASHLANE to its path"
    )


def run(
    *studies: str,
    out: Union[str, "os.PathLike[str]"] = "hashlane-report",
    full: bool = False,
    names: Union[str, "os.PathLike[str]", None] = None,
    pcap: Union[str, "os.PathLike[str]", None] = None,
    zone: Union[str, "os.PathLike[str]", None] = None,
    schemes: Sequence[str] = (),
    workloads: Sequence[str] = (),
    repetitions: Optional[int] = None,
    progress: Union[bool, Progress] = True,
) -> Run:
    """Run studies by the command `hashlane` in a separate process, which measurements need.

    Args:
        studies: Slugs, such as `flow-hash`, or files that end with `.toml`.
        out: Folder for the results; earlier results in it move to `run-N`.
        full: The size of the source in place of about a minute each.
        names, pcap, zone: Files with your own keys: names or URIs one a line, a capture, a zone file.
        schemes, workloads: Measure only these.
        repetitions: 2 to 1,000. Default: the study's.
        progress: True shows a line of progress: in a notebook in place, else on standard error. Or a function
            that is called with the study, the steps done and all steps.

    Returns:
        The run, which a notebook shows as its report.

    Raises:
        FileNotFoundError: There is no command `hashlane`.
        StudyError: The command failed.
        KeyboardInterrupt: The command was stopped; the results so far are in `out`, marked as partial.
    """
    words = [command(), "study", "run", *studies, "--out", os.fspath(out), "--full" if full else "--quick"]
    for option, path in [("--names", names), ("--pcap", pcap), ("--zone", zone)]:
        words += [option, os.fspath(path)] if path is not None else []
    for scheme in schemes:
        words += ["--scheme", scheme]
    for workload in workloads:
        words += ["--workload", workload]
    if repetitions is not None:
        words += ["--repetitions", str(repetitions)]
    show = _shown() if progress is True else progress or None
    # A new session: Ctrl-C reaches Python alone, which passes it on once.
    process = subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )
    printed: list[str] = []
    said: queue.Queue[Optional[str]] = queue.Queue()
    readers = [
        threading.Thread(target=_read_all, args=[process.stdout, printed]),
        threading.Thread(target=_read_lines, args=[process.stderr, said]),
    ]
    for reader in readers:
        reader.start()
    try:
        messages = _follow(said, show)
        process.wait()
    except BaseException:
        _stop(process)
        raise
    finally:
        for reader in readers:
            reader.join()
    if process.returncode != 0:
        raise StudyError("\n".join(messages) or f"exit code {process.returncode}")
    return Run(pathlib.Path(out), "".join(printed))


def _read_all(stream: IO[str], into: list[str]) -> None:
    with stream:
        into.append(stream.read())


def _read_lines(stream: IO[str], into: queue.Queue[Optional[str]]) -> None:
    with stream:
        for line in stream:
            into.put(line.rstrip())
    into.put(None)


def _follow(said: queue.Queue[Optional[str]], show: Optional[Progress]) -> list[str]:
    """Show the steps, and return the other lines that the command writes."""
    messages: list[str] = []
    while True:
        try:
            # Not for ever: signals are handled between two calls.
            line = said.get(timeout=0.1)
        except queue.Empty:
            continue
        if line is None:
            return messages
        step = _STEP.match(line)
        if step is None:
            messages += [line] if line else []
        elif show:
            done, steps = (int(step[name].replace(",", "")) for name in ("step", "all"))
            show(step["study"], done - 1, steps)


def _stop(process: subprocess.Popen[str]) -> None:
    """Stop the command, which then writes its results so far; a second Ctrl-C ends it at once."""
    try:
        process.send_signal(signal.SIGINT)
        process.wait()
    except BaseException:
        process.kill()
        process.wait()
        raise


def _shown() -> Progress:
    """A line of progress that is written over."""
    try:
        from IPython import get_ipython
        from IPython.display import display

        if get_ipython() is not None and "IPKernelApp" in get_ipython().config:
            handle = display({"text/plain": ""}, raw=True, display_id=True)
            return lambda study, done, steps: handle.update(
                {"text/plain": f"{study}: step {done + 1} of {steps}"}, raw=True
            )
    except ImportError:
        pass

    def line(study: str, done: int, steps: int) -> None:
        print(f"{study}: step {done + 1} of {steps}", file=sys.stderr, flush=True)

    return line
