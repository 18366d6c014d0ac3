"""Problems that are found before anything heavy is imported."""

import socket
from pathlib import Path
from typing import Any

import pytest

from bot.cli.service import Listener, find_early_problems, find_port_problem
from bot.features.settings import load_settings


def test_a_free_port_is_no_problem(tmp_path: Path) -> None:
    free = Listener(setting="HTTP_PORT", host="127.0.0.1", port=0)
    assert find_early_problems(load_settings(data_dir=tmp_path), free, work=True) == []


def test_a_used_port_is_reported_with_its_setting() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        problem = find_port_problem(Listener(setting="--simulator-port", host="127.0.0.1", port=port))
    assert problem == f"--simulator-port: port {port} on 127.0.0.1 is in use by another program"


def test_a_foreign_address_is_a_problem_of_the_host() -> None:
    problem = find_port_problem(Listener(setting="HTTP_PORT", host="192.0.2.1", port=0))
    assert problem is not None
    assert problem.startswith("HTTP_HOST: cannot listen on 192.0.2.1: ")


@pytest.mark.parametrize("work", [True, False])
def test_every_process_refuses_an_agents_file_with_a_mistake(tmp_path: Path, work: bool) -> None:
    (tmp_path / "agents.toml").write_text("[agent]\nprompts = 1\n")
    settings = load_settings(agents_file=tmp_path / "agents.toml", data_dir=tmp_path)
    (problem,) = find_early_problems(settings, work=work)
    assert problem.startswith("AGENTS_FILE: ")


def test_only_a_process_that_works_counts_the_tokens_of_a_prompt(tmp_path: Path) -> None:
    (tmp_path / "agents.toml").write_text(f'[agent]\nname = "long"\nprompt = "{"many words " * 3000}"\n')
    settings = load_settings(
        agents_file=tmp_path / "agents.toml", model_context_window=4096, data_dir=tmp_path
    )
    (problem,) = find_early_problems(settings, work=True)
    assert "the prompt and the tools of long take" in problem
    assert find_early_problems(settings, work=False) == []


def test_all_problems_are_reported_together(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    settings = load_settings(agents_file=tmp_path / "none.toml", data_dir=tmp_path / "file")
    problems = find_early_problems(settings, work=True)
    assert [problem.partition(":")[0] for problem in problems] == ["AGENTS_FILE", "DATA_DIR"]


def test_data_dir_does_not_matter_if_both_stores_are_external(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    settings = load_settings(
        data_dir=tmp_path / "file", redis_url="redis://127.0.0.1", qdrant_url="http://127.0.0.1"
    )
    assert find_early_problems(settings, work=True) == []


@pytest.mark.parametrize(
    "cause", [{"models": "x:1:2:1024"}, {"chat_money_per_day": 1.0}, {"money_per_month": 1.0}]
)
def test_models_without_room_or_prices_are_early_problems(tmp_path: Path, cause: dict[str, Any]) -> None:
    (problem,) = find_early_problems(load_settings(data_dir=tmp_path, **cause), work=True)

    assert problem.partition(":")[0].lower() in cause
