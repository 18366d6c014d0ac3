"""DATA_DIR: its folders, sockets, locks and ports, and the errors about it."""

import errno
import os
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from memory.embedded import data_dir
from memory.embedded.data_dir import MAX_SOCKET_PATH_BYTES, data_dir_failure, prepare_directory, socket_path
from memory.embedded.guardian import (
    end_orphan,
    is_held,
    load_port,
    next_pause,
    open_lock,
    save_port,
    try_lock,
    unlock,
)
from memory.errors import DataDirFull, DataDirLocked, DataDirUnusable


def test_a_folder_is_created_for_its_owner_only(tmp_path: Path) -> None:
    made = prepare_directory(tmp_path / "deep" / "data", "store")
    (made / "file").write_text("kept")
    made.chmod(0o755)
    assert prepare_directory(tmp_path / "deep" / "data", "store") == made
    assert (made / "file").read_text() == "kept"
    assert made.stat().st_mode & 0o777 == made.parent.stat().st_mode & 0o777 == 0o700


def test_a_relative_folder_is_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert prepare_directory(Path("data"), "store") == tmp_path / "data" / "store"


def test_too_little_room_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_dir, "MIN_FREE_BYTES", 2**62)
    with pytest.raises(DataDirFull, match=r"DATA_DIR: .* MB of free space"):
        prepare_directory(tmp_path, "store")


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOSPC, DataDirFull),
        (errno.EDQUOT, DataDirFull),
        (errno.ENOLCK, DataDirLocked),
        (errno.EACCES, DataDirUnusable),
        (errno.EROFS, DataDirUnusable),
    ],
)
def test_a_system_error_is_reported_with_setting_path_and_reason(number: int, kind: type[Exception]) -> None:
    failure = data_dir_failure(Path("/some/data"), OSError(number, os.strerror(number)))
    assert type(failure) is kind
    assert "DATA_DIR" in str(failure)
    assert "/some/data" in str(failure)
    assert os.strerror(number) in str(failure)


def test_a_socket_is_in_its_folder_if_the_path_is_short_enough() -> None:
    room = MAX_SOCKET_PATH_BYTES - len("/") - len("/s.sock")
    folder = Path("/" + "d" * room)
    assert socket_path(folder, "s.sock") == folder / "s.sock"


def test_two_long_folders_get_two_short_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    long = Path("/" + "d" * 200)
    with tempfile.TemporaryDirectory() as short:
        monkeypatch.setattr("tempfile.gettempdir", lambda: short)
        one, other, again = [socket_path(long / name, "s.sock") for name in ("a", "b", "a")]
        assert one == again != other
        assert one.parent.stat().st_mode & 0o777 == 0o700


def test_a_folder_planted_for_the_short_socket_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    (tmp_path / f"mnemogram-{os.getuid()}").mkdir()
    (tmp_path / f"mnemogram-{os.getuid()}").chmod(0o777)
    with pytest.raises(DataDirUnusable, match="not a private folder"):
        socket_path(tmp_path / ("a" * 200), "s.sock")


def test_a_temporary_folder_too_deep_for_a_socket_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("t" * 100)
    deep.mkdir()
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(deep))
    with pytest.raises(DataDirUnusable, match="too long for a socket"):
        socket_path(tmp_path / ("a" * 200), "s.sock")


def test_a_lock_is_held_until_its_file_is_closed(tmp_path: Path) -> None:
    holder = open_lock(tmp_path / "lock")
    assert try_lock(holder)
    assert is_held(tmp_path / "lock")
    other = open_lock(tmp_path / "lock")
    assert not try_lock(other)
    assert not try_lock(other, shared=True)
    os.close(holder)
    assert try_lock(other)
    unlock(other)
    assert not is_held(tmp_path / "lock")
    os.close(other)


def test_shared_locks_block_the_exclusive_one(tmp_path: Path) -> None:
    one, other, third = (open_lock(tmp_path / "lock") for _ in range(3))
    assert try_lock(one, shared=True)
    assert try_lock(other, shared=True)
    assert not try_lock(third)
    assert not is_held(tmp_path / "lock")
    for descriptor in (one, other, third):
        os.close(descriptor)


@pytest.mark.parametrize("written", ["", "no port", "0", "80", "65536", "-1"])
def test_an_invalid_record_of_a_port_counts_as_none(tmp_path: Path, written: str) -> None:
    (tmp_path / "endpoint").write_text(written)
    assert load_port(tmp_path / "endpoint") == 0


def test_a_recorded_port_is_read_back(tmp_path: Path) -> None:
    assert load_port(tmp_path / "endpoint") == 0
    save_port(tmp_path / "endpoint", 40123)
    assert load_port(tmp_path / "endpoint") == 40123


@pytest.mark.parametrize("stubborn", ["", "trap '' TERM; "])
def test_a_server_without_a_guardian_is_ended_before_another_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stubborn: str
) -> None:
    monkeypatch.setattr("memory.embedded.guardian.END_TIMEOUT_S", 0.3)
    held = open_lock(tmp_path / "server.lock")
    assert try_lock(held)
    orphan = subprocess.Popen(
        ["/bin/sh", "-c", f"{stubborn}echo up; while :; do sleep 0.05; done"],
        pass_fds=[held],
        stdout=subprocess.PIPE,
    )
    assert orphan.stdout is not None
    assert orphan.stdout.readline() == b"up\n"
    os.pwrite(held, str(orphan.pid).encode(), 0)
    os.close(held)
    ours = open_lock(tmp_path / "server.lock")
    started = time.monotonic()
    assert end_orphan(ours)
    assert time.monotonic() - started < 5
    assert orphan.wait(5) < 0
    orphan.stdout.close()
    os.close(ours)


def test_a_server_whose_id_is_unknown_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.embedded.guardian.END_TIMEOUT_S", 0.05)
    held, ours = open_lock(tmp_path / "server.lock"), open_lock(tmp_path / "server.lock")
    assert try_lock(held)
    assert not end_orphan(ours)
    os.close(held)
    os.close(ours)


def test_a_crashing_server_is_restarted_with_growing_pauses() -> None:
    assert [next_pause(deaths) for deaths in (0, 1, 2, 5, 1000)] == pytest.approx([0, 0, 0.1, 0.4, 2.0])
