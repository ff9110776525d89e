"""Engine `ray`: tasks of Ray."""

from __future__ import annotations

from typing import Iterator, Optional

from ._job import Job
from ._piece import Piece
from ._work import work


def run(job: Job, pieces: Iterator[Piece], workers: Optional[int]) -> Iterator[bytes]:
    """Answers of tasks as they end; Ray repeats a task whose worker died."""
    import ray

    if not ray.is_initialized():
        ray.init()
    task = ray.remote(max_retries=5)(work)
    most = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
    shared, running = ray.put(job), []
    try:
        while True:
            for piece in pieces:
                running.append(task.remote(shared, [piece]))
                if len(running) >= most:
                    break
            if not running:
                return
            ended, running = ray.wait(running, num_returns=1)
            yield from ray.get(ended)
    finally:
        for left in running:
            ray.cancel(left)
