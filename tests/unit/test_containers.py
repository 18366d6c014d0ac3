"""The Dockerfile and every compose file: no root, only data is writable, no capabilities, no open stores."""

import re
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

pytestmark = pytest.mark.slow

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

    servers = [command for command in commands if "--sentinel" not in command]
    assert (len(servers), len(commands)) == (3, 6)
    for command in servers:
        for log in ("execution-slower-than", "request-larger-than", "reply-larger-than"):
            assert f"--commandlog-{log} -1" in command


@pytest.mark.parametrize("path", COMPOSE, ids=lambda path: path.stem)
def test_ports_are_published_only_to_this_machine_or_a_load_balancer(path: Path) -> None:
    for service in _document(path)["services"].values():
        if "MNEMOGRAM_IMAGE" in service["image"]:
            assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))


def test_the_bots_take_the_published_image_and_nothing_is_built() -> None:
    images = [
        str(service["image"])
        for path in COMPOSE
        for service in _document(path)["services"].values()
        if "mnemogram" in str(service["image"])
    ]

    assert images == ["${MNEMOGRAM_IMAGE:-ghcr.io/mnemogram/mnemogram:latest}"] * 3
    assert not any("build" in service for path in COMPOSE for service in _document(path)["services"].values())


def test_compose_1_29_reads_the_env_file() -> None:
    """Debian 12's own Compose refuses a map there."""
    for path in COMPOSE:
        services = _document(path)["services"].values()
        assert {service["env_file"] for service in services if "env_file" in service} == {".env"}


def test_the_scale_file_has_three_sentinels_and_stores_with_fixed_addresses() -> None:
    """A dead container's name has no address, and a Sentinel that looks it up stands still."""
    document = _document(ROOT / "compose.scale.yaml")
    services = document["services"]
    sentinels = [name for name, service in services.items() if "--sentinel" in str(service.get("command"))]
    net = "${STORES_NET:-172.30.117}"

    assert sentinels == ["sentinel-1", "sentinel-2", "sentinel-3"]
    assert {services[name]["networks"]["stores"]["aliases"][0] for name in sentinels} == {"sentinel"}
    assert len({services[name]["volumes"][0] for name in sentinels}) == 3
    for name, address in (("valkey", f"{net}.11"), ("valkey-replica", f"{net}.12")):
        assert services[name]["networks"]["stores"]["ipv4_address"] == address
        assert services[name]["environment"]["ADDRESS"] == address
    assert document["networks"]["stores"]["ipam"]["config"] == [
        {"subnet": f"{net}.0/24", "ip_range": f"{net}.128/25"}
    ]
    for name in ("serve", "work"):
        url = services[name]["environment"]["REDIS_URL"]
        assert url.startswith("redis+sentinel://:${VALKEY_PASSWORD:?")
        assert url.endswith("@sentinel:26379/0?service=bot")


def test_the_image_shows_the_chat_page_outside() -> None:
    final = (ROOT / "Dockerfile").read_text("utf-8").rpartition("\nFROM ")[2]

    assert re.search(r"SIMULATOR_HOST=0\.0\.0\.0", final)
    assert "EXPOSE 8080 8081" in final


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
