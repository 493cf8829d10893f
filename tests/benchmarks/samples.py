"""What a program holds at a moment: memory, descriptors, disk. Linux only."""

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class Sample(NamedTuple):
    """One look at a program and the machine's load; index processes are its children."""

    at_s: float
    rss_mb: float
    children: int
    children_rss_mb: float
    descriptors: int
    disk_mb: float
    load: float = 0.0
    database_mb: float = 0.0
    """Of a database server; the log of its writes comes on top."""
    index_server_mb: float = 0.0


def rss_mb(pid: int) -> float:
    """Return the resident memory of a process; 0 for one that is gone."""
    with contextlib.suppress(OSError):
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * PAGE_BYTES / 2**20
    return 0.0


def children_of(pid: int) -> list[int]:
    """Return the direct children of a process."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += [int(child) for child in task.read_text(encoding="ascii").split()]
    return found


def descriptors(pid: int | None = None) -> int:
    """Count the open descriptors of a process; None is this one, and one that is gone has none."""
    with contextlib.suppress(OSError):
        return len(list(Path(f"/proc/{pid or os.getpid()}/fd").iterdir()))
    return 0


def disk_bytes(folder: Path) -> int:
    """Return what a folder takes on disk, in whole blocks; files that vanish meanwhile count nothing."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += (Path(parent) / name).lstat().st_blocks * 512
    return total


def take_sample(folder: Path, *, at_s: float, pid: int | None = None) -> Sample:
    """Look at a program, None is this one, and its folder now."""
    pid = pid or os.getpid()
    children = children_of(pid)
    return Sample(
        at_s=at_s,
        rss_mb=rss_mb(pid),
        children=len(children),
        children_rss_mb=sum(rss_mb(child) for child in children),
        descriptors=descriptors(pid),
        disk_mb=disk_bytes(folder) / 2**20,
        load=os.getloadavg()[0],
    )


def growth(samples: Sequence[Sample], name: str, *, warm_up: float) -> dict[str, float]:
    """Compare one figure after the warm-up with the end.

    Args:
        samples: In order of time.
        name: Field of the samples.
        warm_up: Share of the samples that is left out; the next share of the same size is the base, the last
            share of the same size the end.

    Returns:
        `base` and `end` (medians), `ratio`, and `slope_per_hour` by least squares over all after the warm-up.
    """
    size = max(1, int(len(samples) * warm_up))
    after = samples[size:] or samples
    base = median(getattr(each, name) for each in after[:size])
    end = median(getattr(each, name) for each in after[-size:])
    return {
        "base": base,
        "end": end,
        "ratio": end / base if base else 1.0,
        "slope_per_hour": _slope([each.at_s for each in after], [getattr(each, name) for each in after]) * 3600,
    }


def _slope(times: Sequence[float], values: Sequence[float]) -> float:
    mean_time, mean_value = sum(times) / len(times), sum(values) / len(values)
    spread = sum((time - mean_time) ** 2 for time in times)
    if not spread:
        return 0.0
    return sum((t - mean_time) * (v - mean_value) for t, v in zip(times, values, strict=True)) / spread
