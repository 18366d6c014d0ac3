"""Advice about folders: who may not write there, and what goes with a container."""

import errno
import os
from pathlib import Path

_DENIED = (errno.EACCES, errno.EPERM)
_IN_MEMORY = ("tmpfs", "ramfs")
_OF_A_CONTAINER = ("overlay", "aufs", "fuse.fuse-overlayfs")
"""File systems of a container's own files."""
_MOUNTS = Path("/proc/self/mountinfo")
_CONTAINER_MARKS = (Path("/.dockerenv"), Path("/run/.containerenv"))


def denial_advice(error: OSError, path: Path) -> str:
    """Return one sentence with our user id, the folder and the `chown` that helps, "" for another error.

    The folder is the nearest one to `path` that we can see.
    """
    if error.errno not in _DENIED:
        return ""
    folder = next(each for each in (path.absolute(), *path.absolute().parents) if _is_visible(each))
    user, group = os.getuid(), os.getgid()
    return (
        f". We run as user {user}, group {group}, who may not use {folder}. Give it to them: chown -R {user}:{group} "
        f"{folder} (in a container: the folder that is mounted there)"
    )


def _is_visible(folder: Path) -> bool:
    try:
        return folder.is_dir()
    except OSError:
        return False


def find_passing_mount(path: Path) -> str:
    """Return why a file at `path` will be gone with this container, "" if it stays or if this is no container."""
    if not any(mark.exists() for mark in _CONTAINER_MARKS):
        return ""
    try:
        return judge_mount(_MOUNTS.read_text("utf-8"), path)
    except OSError:
        return ""


def judge_mount(mounts: str, path: Path) -> str:
    """Return why a file at this path of a container will be gone with it. `mounts` is the text of mountinfo."""
    kinds: dict[str, str] = {}
    for line in mounts.splitlines():
        fields, _, source = line.partition(" - ")
        point = fields.split()[4].encode().decode("unicode_escape")
        kinds[point] = source.split()[0]
    folder = path.absolute()
    point = next((f"{each}" for each in (folder, *folder.parents) if f"{each}" in kinds), "/")
    kind = kinds.get(point, "")
    if kind in _IN_MEMORY:
        return f"{point} is memory of this container: what is written there is gone with it"
    if kind in _OF_A_CONTAINER:
        return f"{folder.parent} is a folder of this container: what is written there is gone with it"
    return ""
