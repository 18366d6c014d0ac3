"""The plan of serving and building spaces, made from the record alone."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from memory.codec import dump_json, parse_json
from memory.recall.spaces import SpaceDescription, SpacesRecord, plan_claim, plan_switch

NOW = 1_700_000_000.0


def make_space(name: str) -> SpaceDescription:
    return SpaceDescription(
        collection=f"mnemogram_{name}",
        model=name,
        dimension=3,
        version="1",
        recipe="1",
        layout="2",
        source="endpoint",
    )


A, B, C = make_space("a"), make_space("b"), make_space("c")


def claimed(record: SpacesRecord | None, ours: SpaceDescription, *, is_forced: bool = False) -> SpacesRecord:
    return plan_claim(record, ours, is_empty=False, now=NOW, is_forced=is_forced)


def test_the_first_space_on_an_empty_store_serves_at_once() -> None:
    assert plan_claim(None, A, is_empty=True, now=NOW) == SpacesRecord(serving=A)


def test_data_from_before_the_record_is_built_again() -> None:
    assert claimed(None, A) == SpacesRecord(serving=None, target=A, build=int(NOW))


def test_a_start_with_the_same_settings_changes_nothing() -> None:
    for record in (SpacesRecord(serving=A), SpacesRecord(serving=A, target=B, build=7)):
        assert record.destination is not None
        assert claimed(record, record.destination) == record


def test_no_space_serves_while_a_new_one_is_built() -> None:
    assert claimed(SpacesRecord(serving=A), B) == SpacesRecord(serving=None, target=B, build=int(NOW))


def test_the_last_start_wins() -> None:
    building = SpacesRecord(serving=None, target=B, build=int(NOW) + 5)
    assert claimed(building, C) == SpacesRecord(serving=None, target=C, build=int(NOW) + 6)


def test_a_return_to_the_former_space_rebuilds_it() -> None:
    building = SpacesRecord(serving=None, target=B, build=5)
    assert claimed(building, A) == SpacesRecord(serving=None, target=A, build=int(NOW))


def test_a_change_deletes_the_copy_of_the_former_space_whole() -> None:
    copy = replace(A, collection=f"{A.collection}-copy{'0' * 16}")
    assert claimed(SpacesRecord(serving=copy), B).copies == (copy.collection,)
    assert claimed(SpacesRecord(serving=copy), A, is_forced=True).copies == ()


def test_force_builds_the_serving_space_anew_each_time() -> None:
    first = claimed(SpacesRecord(serving=A), A, is_forced=True)
    assert first == SpacesRecord(serving=A, target=A, build=int(NOW))
    assert claimed(first, A, is_forced=True) == replace(first, build=int(NOW) + 1)


def test_a_switch_makes_the_target_serve_and_deletes_the_rest_a_minute_later() -> None:
    record = plan_switch(SpacesRecord(serving=None, target=B, build=5), now=NOW)
    assert record == SpacesRecord(serving=B, build=5, sweep_after=NOW + 60)


def test_a_space_is_identified_by_its_collection() -> None:
    record = SpacesRecord(serving=A)
    assert claimed(record, replace(A, version="2")) == record


spaces = st.sampled_from([A, B, C])
records = st.none() | st.builds(
    SpacesRecord,
    serving=st.none() | spaces,
    target=spaces,
    build=st.integers(0, 2**40),
    sweep_after=st.none() | st.floats(0, 1e12),
)


@given(records, spaces, st.booleans(), st.booleans())
def test_claimed_spaces_are_needed_and_builds_only_increase(
    record: SpacesRecord | None, ours: SpaceDescription, is_empty: bool, is_forced: bool
) -> None:
    after = plan_claim(record, ours, is_empty=is_empty, now=NOW, is_forced=is_forced)
    assert after.destination == ours
    if record is not None:
        assert after.serving in (record.serving, None)
        assert after.build > record.build or after == record
    assert parse_json(SpacesRecord, dump_json(SpacesRecord, after)) == after
