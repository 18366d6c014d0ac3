"""The Dockerfile and every compose file: no root, only data is writable, no capabilities, no open stores."""

import re
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = sorted(ROOT.glob("compose*.yaml"))
SECRETS = ("VALKEY_PASSWORD", "QDRANT_API_KEY")

Service = dict[str, Any]


def _document(path: Path) -> dict[str, Any]:
    return cast("dict[str, Any]", yaml.safe_load(path.read_text("utf-8")))


def _services() -> list[Any]:
    return [
        pytest.param(service, id=f"{path.stem}-{name}")
        for path in COMPOSE
        for name, service in _document(path)["services"].items()
    ]


@pytest.mark.parametrize("service", _services())
def test_a_service_has_only_its_needed_permissions(service: Service) -> None:
    uid, _, gid = str(service["user"]).partition(":")
    assert int(uid) > 0
    assert int(gid) > 0
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not {"privileged", "cap_add", "pid", "ipc", "network_mode", "devices"} & service.keys()
    assert 0 < service["pids_limit"] <= 1024
    assert re.fullmatch(r"\d+[mg]", service["mem_limit"])
    for mount in service.get("tmpfs", []):
        assert re.search(r"size=\d+[km].*noexec,nosuid,nodev", mount), mount
    assert not any("docker.sock" in str(volume) for volume in service.get("volumes", []))


@pytest.mark.parametrize("path", COMPOSE, ids=lambda path: path.stem)
def test_the_stores_are_isolated_from_other_networks(path: Path) -> None:
    document = _document(path)
    stores = {
        name: service
        for name, service in document["services"].items()
        if service.get("image", "").startswith(("valkey/", "qdrant/"))
    }

    assert stores
    for service in stores.values():
        assert "ports" not in service
        assert [document["networks"][network]["internal"] for network in service["networks"]] == [True]
        assert "test" in service["healthcheck"]
        assert set(service["environment"]) & {*SECRETS, "QDRANT__SERVICE__API_KEY"}


@pytest.mark.parametrize("path", COMPOSE, ids=lambda path: path.stem)
def test_no_secret_is_stored_or_has_a_default(path: Path) -> None:
    text = path.read_text("utf-8")

    used = re.findall(rf"\$?\$\{{({'|'.join(SECRETS)})([^}}]*)", text)
    assert {name for name, _ in used} == set(SECRETS)
    assert all(rest.startswith(":?") for _, rest in used)
    assert not re.search(r"requirepass (?!%s)", text)
    assert not re.search(r"--(requirepass|masterauth|pass|a)\b", text)


def test_no_store_logs_the_words_of_commands() -> None:
    commands = [
        str(service["command"])
        for path in COMPOSE
        for service in _document(path)["services"].values()
        if "valkey" in service.get("image", "")
    ]

    assert len(commands) == 3
    for command in commands:
        for log in ("execution-slower-than", "request-larger-than", "reply-larger-than"):
            assert f"--commandlog-{log} -1" in command


@pytest.mark.parametrize("path", COMPOSE, ids=lambda path: path.stem)
def test_ports_are_published_only_to_this_machine_or_a_load_balancer(path: Path) -> None:
    for service in _document(path)["services"].values():
        if "build" in service or str(service.get("image", "")).startswith("mnemogram"):
            assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))


def test_the_balancer_publishes_the_webhook_and_the_page_alone() -> None:
    text = (ROOT / "deploy" / "haproxy.cfg").read_text("utf-8")

    rules = re.findall(r"^ +(acl .*|http-request deny deny_status 404 .*)$", text, re.MULTILINE)
    assert rules == [
        "acl is_webhook path /telegram/webhook",
        "acl is_page path_beg /app/",
        "http-request deny deny_status 404 unless is_webhook or is_page",
    ]
    for path in COMPOSE:
        assert "/telegram/webhook and /app/" in path.read_text("utf-8")


def test_the_image_runs_as_nobody_and_installs_by_hash() -> None:
    text = (ROOT / "Dockerfile").read_text("utf-8")
    final = text.rpartition("\nFROM ")[2]

    assert re.search(r"^USER mnemogram$", final, re.MULTILINE)
    assert "--uid 10001" in final
    assert final.index("USER mnemogram") < final.index("CMD")
    assert all(
        "--require-hashes" in line
        for line in re.findall(r"^.*(?:pip install|pip sync).*\.txt.*$", text, re.MULTILINE)
    )
    assert not re.search(r"^(ADD|ARG .*(?:TOKEN|KEY|SECRET))", text, re.MULTILINE)
    assert ".env" in (ROOT / ".dockerignore").read_text("utf-8").split()
