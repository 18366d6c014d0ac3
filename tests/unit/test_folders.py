"""Advice about folders: other users, and what goes with a container."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.errors import SettingsInvalid
from bot.features.settings import load_settings
from memory.embedded.data_dir import prepare_directory
from memory.errors import DataDirUnusable
from memory.folders import denial_advice, judge_mount

USER = 4321
MOUNTS = r"""
712 589 0:58 / / ro,relatime master:1 - overlay overlay rw,lowerdir=/l
713 712 0:61 / /proc rw,nosuid - proc proc rw
714 712 0:62 / /tmp rw,noexec - tmpfs tmpfs rw,size=65536k
715 712 0:63 / /data rw,noexec - tmpfs tmpfs rw,size=65536k
716 712 8:1 /srv/backups /backups rw,relatime - ext4 /dev/sda1 rw
717 712 8:1 /srv/my\040files /my\040files rw,relatime - ext4 /dev/sda1 rw
""".strip()


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/data/all.backup", "/data is memory of this container: what is written there is gone with it"),
        ("/home/all.backup", "/home is a folder of this container: what is written there is gone with it"),
        ("/backups/all.backup", ""),
        ("/backups/of/today/all.backup", ""),
        ("/my files/all.backup", ""),
    ],
)
def test_a_file_that_goes_with_its_container_is_told_from_one_that_stays(path: str, says: str) -> None:
    assert judge_mount(MOUNTS, Path(path)) == says


def test_a_user_who_may_not_write_is_told_the_command(tmp_path: Path) -> None:
    denied = PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    advice = denial_advice(denied, tmp_path / "valkey" / "log")

    user, group = os.getuid(), os.getgid()
    assert advice.startswith(f". We run as user {user}, group {group}, who may not use {tmp_path}.")
    assert f"chown -R {user}:{group} {tmp_path} " in advice
    assert denial_advice(OSError(errno.EROFS, os.strerror(errno.EROFS)), tmp_path) == ""


@pytest.mark.skipif(os.getuid() != 0, reason="only root may become another user")
def test_another_user_is_told_about_the_settings_and_about_the_folder(tmp_path: Path) -> None:
    """As `docker run --user 4321` without a folder of that user: /data is another's, and is the working directory."""
    for parent in (tmp_path, *tmp_path.parents[:3]):
        parent.chmod(0o755)
    data = tmp_path / "data"
    data.mkdir(mode=0o700)

    def load() -> str:
        try:
            load_settings(_env_file=".env")
        except SettingsInvalid as error:
            return "\n".join(error.problems)
        return "no problem"

    def prepare() -> str:
        try:
            prepare_directory(data, "valkey")
        except DataDirUnusable as error:
            return str(error)
        return "no problem"

    command = f"chown -R {USER}:{USER} {data} "
    for told, setting in ((as_another(load, data), ".env"), (as_another(prepare, data), "DATA_DIR")):
        assert told.startswith(f"{setting}: ")
        assert f"We run as user {USER}, group {USER}, who may not use {data}." in told
        assert command in told

    os.chown(data, USER, USER)
    assert as_another(load, data) == as_another(prepare, data) == "no problem"


def as_another(work: Callable[[], str], directory: Path) -> str:
    """Return the result of `work` in a process of USER with this working directory."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.chdir(directory)
        os.setgroups([])
        os.setgid(USER)
        os.setuid(USER)
        os.write(writer, work().encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as told:
        said = told.read()
    os.waitpid(pid, 0)
    return said
