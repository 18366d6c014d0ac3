"""Names of tombstones, their files, and signed receipts."""

import json
from pathlib import Path

import pytest

from bot.turn.forget_person import sign, verify
from memory.redis.tombstone_files import Tombstone, TombstoneFolder
from memory.tombstones import Graveyard, name_of

SECRET, OTHER = b"a" * 32, b"b" * 32
FIELDS = {"id": "r1", "person": "7", "erased": {"messages": 4}, "left": {"search_entries": None}}
STONE = Tombstone(0, name_of(SECRET, "message", "c" * 32, "m1"), 1_800_000_000.25)


def test_a_name_depends_on_the_secret_the_kind_and_each_id() -> None:
    names = {
        name_of(secret, grave, *ids)
        for secret in (SECRET, OTHER)
        for grave in ("person", "message")
        for ids in ((7,), (8,), ("c", 7), ("c7",))
    }

    assert len(names) == 16
    assert {len(each) for each in names} == {22}
    assert name_of(SECRET, "person", 7) == name_of(SECRET, "person", "7")


def test_a_folder_keeps_the_newest_time_of_each_name_by_secret(tmp_path: Path) -> None:
    folder = TombstoneFolder(tmp_path / "erasures")

    later = Tombstone(0, STONE.name, STONE.at + 1)
    results = [folder.append(SECRET, [STONE]), folder.append(SECRET, [later]), folder.append(OTHER, [STONE])]

    assert results == ["", "", ""]
    assert folder.load() == {SECRET: {STONE.name: later}, OTHER: {STONE.name: STONE}}
    assert folder.newest_secret() in (SECRET.hex(), OTHER.hex())
    assert {each.stat().st_mode & 0o777 for each in folder.path.iterdir()} == {0o600}
    assert folder.path.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("torn", ["0 half", "0 a-name 17", "not ours at all\n", "x y z\n", "\n"])
def test_a_torn_line_is_left_out_and_the_next_one_is_not(tmp_path: Path, torn: str) -> None:
    folder = TombstoneFolder(tmp_path / "erasures")
    folder.append(SECRET, [])
    (file,) = folder.path.glob("tombstones-*")
    file.write_text(torn)

    folder.append(SECRET, [STONE])

    found = folder.load()[SECRET]
    assert found[STONE.name] == STONE
    assert set(found) <= {STONE.name, "a-name"}


def test_a_folder_that_cannot_be_made_is_a_reason_and_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    assert TombstoneFolder(tmp_path / "file" / "erasures").append(SECRET, [STONE]) == "Not a directory"


def test_one_tombstone_takes_few_bytes(tmp_path: Path) -> None:
    folder = TombstoneFolder(tmp_path)
    folder.append(SECRET, [STONE])

    (file,) = tmp_path.glob("tombstones-*")
    assert file.stat().st_size <= 48


def test_a_file_obeys_a_reset_that_it_does_not_know(tmp_path: Path) -> None:
    name = name_of(SECRET, "reset", "context")
    graves = Graveyard(plots={SECRET: {name: Tombstone(0, name, 5.0)}})

    assert graves.has_later("reset", of="context")
    assert not graves.has_later("reset", of="another")
    graves.carried[name] = 5.0
    assert not graves.has_later("reset", of="context")
    assert not graves.has_any()


def test_a_person_was_forgotten_everywhere_or_in_one_context() -> None:
    names = {name_of(SECRET, "person", 7): 5.0, name_of(SECRET, "person", "here", 7): 9.0}
    graves = Graveyard(plots={SECRET: {name: Tombstone(0, name, at) for name, at in names.items()}})

    assert graves.find_person("there", 7) == 5.0
    assert graves.find_person("here", 7) == 9.0
    assert graves.find_person("here", 8) is None


def test_a_receipt_of_ours_is_true() -> None:
    assert verify(SECRET, sign(SECRET, FIELDS)).is_true


def test_a_receipt_may_be_written_again_with_other_blanks() -> None:
    assert verify(SECRET, json.dumps(json.loads(sign(SECRET, FIELDS)))).is_true


@pytest.mark.parametrize(
    ("change", "changed"),
    [
        ({"person": "8"}, ("person",)),
        ({"erased": {"messages": 5}}, ("erased",)),
        ({"erased": {"messages": 5}, "person": "8"}, ("person", "erased")),
        ({"new": 1}, ("new",)),
        ({"signature": "0" * 64}, ("signature",)),
        ({"signature": "\ud800"}, ("signature",)),
    ],
)
def test_a_changed_receipt_is_false_and_names_the_fields(
    change: dict[str, object], changed: tuple[str, ...]
) -> None:
    verdict = verify(SECRET, json.dumps(json.loads(sign(SECRET, FIELDS)) | change))

    assert (verdict.is_true, verdict.changed) == (False, changed)


def test_a_field_that_was_taken_away_is_named() -> None:
    receipt = json.loads(sign(SECRET, FIELDS))
    del receipt["left"]

    assert verify(SECRET, json.dumps(receipt)).changed == ("left",)


def test_a_receipt_that_tells_a_field_twice_is_false() -> None:
    """A reader would see the first one, and JSON takes the last."""
    receipt = sign(SECRET, FIELDS)
    assert not verify(SECRET, receipt.replace('"left"', '"left": 0, "left"', 1)).is_true


def test_a_receipt_of_another_installation_is_false() -> None:
    verdict = verify(OTHER, sign(SECRET, FIELDS))

    assert (verdict.is_true, verdict.changed) == (False, ())
    assert "another installation" in verdict.reason


def test_a_seal_of_another_receipt_fits_no_field() -> None:
    ours, theirs = json.loads(sign(SECRET, FIELDS)), json.loads(sign(SECRET, {**FIELDS, "id": "r2"}))

    mixed = ours | {
        "person": theirs["person"],
        "seals": ours["seals"] | {"person": theirs["seals"]["person"]},
    }

    assert verify(SECRET, json.dumps(mixed)).changed == ("person",)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "{}", '{"kind":"mnemogram erasure"}', "[" * 10_000])
def test_another_file_is_no_receipt(text: str) -> None:
    verdict = verify(SECRET, text)

    assert not verdict.is_true
    assert "no receipt of ours" in verdict.reason
