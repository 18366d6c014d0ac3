"""A worker counts as dead if an observer has seen its heartbeat stand still for long enough."""

from bot.inbox.worker import BEAT_S, LOOK_COUNTS_S, SILENT_S, Silence


def looks(silence: Silence, *beats: dict[str, str], begin: float, every_s: float = BEAT_S) -> list[set[str]]:
    return [set(silence.look(each, now=begin + number * every_s)) for number, each in enumerate(beats)]


def test_a_worker_is_silent_if_its_heartbeat_has_not_changed_for_long_enough() -> None:
    count = int(SILENT_S / BEAT_S)

    seen = looks(Silence(), *[{"anna": "7"}] * (count + 1), begin=100.0)

    assert seen == [set()] * count + [{"anna"}]


def test_a_worker_that_stood_still_for_three_seconds_is_not_silent() -> None:
    before = int(3.25 / BEAT_S)

    seen = looks(Silence(), *[{"anna": "7"}] * before, *[{"anna": "8"}] * before, begin=100.0)

    assert set().union(*seen) == set()


def test_a_worker_that_holds_nothing_for_a_moment_begins_again() -> None:
    half = [{"anna": "7"}] * (int(SILENT_S / BEAT_S) - 1)

    assert set().union(*looks(Silence(), *half, {}, *half, begin=100.0)) == set()


def test_an_observer_that_stood_still_or_was_cut_off_has_seen_no_silence() -> None:
    silence = Silence()
    looks(silence, {"anna": "7"}, {"anna": "7"}, begin=100.0)

    assert silence.look({"anna": "7"}, now=160.0) == {}

    left = SILENT_S - BEAT_S - LOOK_COUNTS_S
    seen = looks(silence, *[{"anna": "7"}] * int(left / BEAT_S), begin=160.0 + BEAT_S)
    assert seen[-1] == {"anna"}
    assert set().union(*seen[:-1]) == set()


def test_the_silence_of_each_worker_is_its_own() -> None:
    silence = Silence()
    beats = [{"anna": "7", "bert": str(number)} for number in range(int(SILENT_S / BEAT_S) + 1)]

    assert looks(silence, *beats, begin=100.0)[-1] == {"anna"}
