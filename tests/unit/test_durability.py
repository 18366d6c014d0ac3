"""The assessment of a server's durability settings."""

from dataclasses import replace

import pytest

from memory.redis.durability import StoreDurability, accept_loss, judge

SAFE = StoreDurability(
    server="Valkey", version="8.1.0", maxmemory_policy="noeviction", appendonly=True, appendfsync="everysec"
)


def test_a_durable_store_has_no_problem() -> None:
    assert judge(SAFE, is_external=True) == ()
    assert judge(replace(SAFE, appendfsync="always"), is_external=False) == ()
    assert judge(replace(SAFE, appendfsync=None), is_external=True) == ()


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (replace(SAFE, appendonly=False), "appendonly yes"),
        (replace(SAFE, appendonly=None), "does not tell whether it has an append-only file"),
        (replace(SAFE, appendfsync="no"), "appendfsync everysec"),
        (
            replace(SAFE, maxmemory_policy="allkeys-lru"),
            "evicts messages when its memory is full (allkeys-lru)",
        ),
        (replace(SAFE, maxmemory_policy="volatile-ttl"), "volatile-ttl"),
        (replace(SAFE, maxmemory_policy=None), "does not tell its maxmemory-policy"),
        (replace(SAFE, server="Redis", version="6.0.16"), "Redis 6.0.16 is too old"),
    ],
)
def test_each_problem_is_one_line_that_names_the_setting(facts: StoreDurability, words: str) -> None:
    (problem,) = judge(facts, is_external=True)
    assert words in problem
    assert problem.startswith("REDIS_URL: ")
    assert "\n" not in problem


def test_several_problems_are_several_lines() -> None:
    facts = replace(SAFE, appendonly=False, maxmemory_policy="allkeys-random", version="5.0.1")
    assert len(judge(facts, is_external=True)) == 3


def test_an_unreadable_version_is_not_called_old() -> None:
    assert judge(replace(SAFE, version="of unknown version"), is_external=True) == ()


def test_writing_to_disk_once_a_second_is_reported_as_a_possible_loss() -> None:
    said = SAFE.caution
    assert said is not None
    assert said.startswith("Valkey 8.1.0 writes to disk once a second")
    assert replace(SAFE, server="Redis", version="7.0.15").caution is not None
    assert replace(SAFE, server="Redis", version="7.4.2").caution is not None
    assert replace(SAFE, server="Redis", version="of unknown version").caution is not None


def test_a_server_that_waits_for_the_disk_needs_no_warning() -> None:
    for version in ("7.2.4", "7.4.3", "8.0.1"):
        assert replace(SAFE, server="Redis", version=version).caution is None
    assert replace(SAFE, appendfsync="always").caution is None
    assert replace(SAFE, appendfsync=None).caution is None


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (
            replace(SAFE, appendonly=None, appendfsync=None),
            "does not tell whether it keeps what it acknowledges",
        ),
        (replace(SAFE, appendonly=False), "keeps no append-only file"),
        (replace(SAFE, appendfsync="no"), "up to 30 s"),
        (replace(SAFE, maxmemory_policy=None), "does not tell its maxmemory-policy"),
    ],
)
def test_an_accepted_loss_is_one_caution_that_names_the_loss(facts: StoreDurability, words: str) -> None:
    judged = accept_loss(facts, "true")

    assert judged.problems == ()
    assert judged.caution is not None
    assert judged.caution.startswith("REDIS_ACCEPT_LOSS: Valkey 8.1.0 ")
    assert words in judged.caution
    assert "\n" not in judged.caution


def test_several_accepted_losses_are_one_line() -> None:
    judged = accept_loss(replace(SAFE, appendonly=None, maxmemory_policy=None), "true")

    assert judged.problems == ()
    assert judged.accepted.count("does not tell") == 2


def test_eviction_stays_refused_unless_it_is_accepted_too() -> None:
    evicting = replace(SAFE, appendonly=False, maxmemory_policy="volatile-lru")

    refused, accepted = accept_loss(evicting, "true"), accept_loss(evicting, "eviction")

    assert ["evicts messages" in problem for problem in refused.problems] == [True]
    assert accepted.problems == ()
    assert "keeps no append-only file" in accepted.accepted
    assert "evicts messages when its memory is full (volatile-lru)" in accepted.accepted


def test_an_old_server_is_refused_whatever_is_accepted() -> None:
    (problem,) = accept_loss(replace(SAFE, version="5.0.1"), "eviction").problems

    assert "too old" in problem


def test_a_durable_store_needs_no_caution_although_losses_are_accepted() -> None:
    judged = accept_loss(replace(SAFE, appendfsync="always"), "eviction")

    assert (judged.problems, judged.caution) == ((), None)
