"""Disks that fail: small, immutable."""

import contextlib
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


def mount_small_disk(folder: Path, size_megabytes: int) -> None:
    """Mount a disk of that size, or skip the test where this is not permitted."""
    folder.mkdir(exist_ok=True)
    finished = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size_megabytes}m", "tmpfs", str(folder)], capture_output=True
    )
    if finished.returncode != 0:
        pytest.skip("this machine does not permit mounting a tmpfs")


def enlarge_disk(folder: Path, size_megabytes: int) -> None:
    """Give the disk room."""
    subprocess.run(["mount", "-o", f"remount,size={size_megabytes}m", str(folder)], check=True)


def fill_disk(folder: Path) -> None:
    """Leave no room."""
    with contextlib.suppress(OSError), (folder / "filling").open("wb", buffering=0) as filling:
        while filling.write(bytes(65_536)):
            pass


def unmount_disk(folder: Path) -> None:
    """Take the disk away, also while something still has it open."""
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextmanager
def immutable(folder: Path) -> Iterator[None]:
    """Forbid changes of a folder's entries even to root, or skip the test where this is not possible."""
    if shutil.which("chattr") is None or _chattr("+i", folder) != 0:
        pytest.skip("this machine does not permit the immutable flag (chattr +i)")
    try:
        yield
    finally:
        _chattr("-i", folder)


def _chattr(flag: str, folder: Path) -> int:
    return subprocess.run(["chattr", flag, str(folder)], capture_output=True).returncode


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Let a folder be one of a disk that can only be read, or skip the test where this is not permitted."""
    bound = subprocess.run(["mount", "--bind", str(folder), str(folder)], capture_output=True).returncode == 0
    if not bound:
        pytest.skip("this machine does not permit mounting")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", str(folder)], check=True)
        yield
    finally:
        unmount_disk(folder)
