"""docs/operating.md: the metrics, commands, settings and files that it names are there."""

import re
from pathlib import Path

import pytest
import yaml

from bot.cli.console import build_console
from bot.observe import metrics
from bot.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "operating.md").read_text("utf-8")
OF_OTHERS = {
    "VALKEY_HOST",
    "VALKEY_REPLICA_OF",
    "OPENAI_EMBEDDING_MODEL",
    "NOREPLICAS",
    "REPLICAOF",
    "REDISCLI_AUTH",
    "SHUTDOWN",
    "NOSAVE",
}


def test_every_metric_is_one_of_ours() -> None:
    known = metrics.render().decode()

    named = set(re.findall(r"mnemogram_\w+", TEXT))

    assert len(named) > 10
    unknown = [name for name in named if f"# HELP {name.removesuffix('_bucket')} " not in known]
    assert unknown == []


def test_every_command_is_one_of_ours() -> None:
    app = build_console()
    ours = {
        command.name or (command.callback.__name__ if command.callback else "")
        for command in app.registered_commands
    }
    ours |= {group.name or "" for group in app.registered_groups}

    named = set(re.findall(r"`?mnemogram ([a-z]+)", TEXT))

    assert {"export", "import", "trace", "queue"} <= named
    assert named <= ours


def test_every_setting_is_one_of_ours() -> None:
    named = set(re.findall(r"`([A-Z]+(?:_[A-Z]+)+)[=`]", TEXT))

    assert named - OF_OTHERS <= {name.upper() for name in Settings.model_fields}


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`?((?:deploy|benchmarks|tests)/[\w/.]+\w)", TEXT))))
def test_every_file_is_there(path: str) -> None:
    assert (ROOT / path).exists()


def test_the_scaled_file_has_two_of_each_behind_a_balancer() -> None:
    services = yaml.safe_load((ROOT / "compose.scale.yaml").read_text("utf-8"))["services"]

    assert [services[name]["deploy"]["replicas"] for name in ("serve", "work")] == [2, 2]
    assert "--replicaof valkey 6379" in services["valkey-replica"]["command"][2]
    for volume in services["balancer"]["volumes"]:
        assert (ROOT / volume.split(":")[0]).exists()
    # A process is given the time that it takes to end (bot/app/lifecycle.py): 20 s.
    assert services["serve"]["stop_grace_period"] == services["work"]["stop_grace_period"] == "25s"
