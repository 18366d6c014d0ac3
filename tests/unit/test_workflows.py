"""The workflows and issue templates: minimal permissions, pinned actions, and names that exist."""

import os
import re
import tomllib
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TEMPLATES = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
WRITES = {("release", "image", "packages"), ("release", "pypi", "id-token")}
"""Jobs that may write, and what."""

Document = dict[str, Any]
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
workflow = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)


def document(path: Path) -> Document:
    return cast("Document", yaml.safe_load(path.read_text("utf-8")))


def steps(path: Path) -> list[Document]:
    return [step for job in document(path)["jobs"].values() for step in job.get("steps", [])]


CI: Document = document(ROOT / ".github" / "workflows" / "ci.yml")["jobs"]


def test_ci_runs_what_developers_run() -> None:
    job = CI["ci"]

    assert [step["run"] for step in job["steps"] if "run" in step] == [".ci/run"]
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    assert job["container"]["image"].startswith("debian:")


def test_ci_tests_every_version_of_python() -> None:
    job = CI["python"]

    assert job["strategy"]["matrix"]["version"] == PYTHONS
    assert [step["run"] for step in job["steps"] if "run" in step] == ["make test PYTHON=python"]
    (least,) = re.findall(
        r'^requires-python = ">=([\d.]+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE
    )
    assert least == PYTHONS[0]


def test_ci_builds_the_image_at_each_push_and_starts_its_console() -> None:
    # YAML 1.1 reads the key "on" as True.
    events = cast("dict[Any, Document]", document(ROOT / ".github" / "workflows" / "ci.yml"))[True]
    (script,) = [step["run"] for step in CI["image"]["steps"] if "run" in step]

    assert events["push"] == {"branches": ["**"]}
    assert script.startswith("docker build ")
    assert "mnemogram --version" in script
    assert "mnemogram doctor" in script


def test_the_image_gets_every_file_that_the_package_is_built_from() -> None:
    recipe = (ROOT / "Dockerfile").read_text("utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    copied = {
        name for line in re.findall(r"^COPY (?!--)(.*) \S+$", recipe, re.MULTILINE) for name in line.split()
    }

    needed = {project["project"]["readme"], *project["project"]["license-files"]}
    packages = set(project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"])
    assert {name.partition("/")[0] for name in needed} | packages | {"pyproject.toml"} <= copied
    assert "sha256sum --check --strict SHA256SUMS" in recipe


@workflow
def test_only_named_jobs_may_write(path: Path) -> None:
    content = document(path)

    writes = {
        (path.stem, name, permission)
        for name, job in content["jobs"].items()
        for permission, level in job.get("permissions", {}).items()
        if level == "write"
    }

    assert content["permissions"] == {"contents": "read"}
    assert writes == {each for each in WRITES if each[0] == path.stem}


@workflow
def test_actions_are_pinned_and_keep_no_credentials(path: Path) -> None:
    used = [*steps(path), *document(path)["jobs"].values()]

    for name in [each["uses"] for each in used if "uses" in each]:
        is_here = name.startswith("./") and (ROOT / name).is_file()
        assert is_here or re.fullmatch(r"[\w-]+/[\w-]+@(v\d+|release/v\d+|[0-9a-f]{40})", name), name
    for step in used:
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False


@workflow
def test_jobs_end_and_need_jobs_that_exist(path: Path) -> None:
    jobs = document(path)["jobs"]

    for job in jobs.values():
        needs = job.get("needs", [])
        assert ({needs} if isinstance(needs, str) else set(needs)) <= jobs.keys()
        assert "uses" in job or 0 < job["timeout-minutes"] <= 60
        assert "uses" in job or re.fullmatch(r"ubuntu-\d\d\.04", job["runs-on"])


@workflow
def test_scripts_name_targets_and_programs_that_exist(path: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    locked = (ROOT / "requirements" / "dev.txt").read_text("utf-8")

    for script in [step["run"] for step in steps(path) if "run" in step]:
        assert "${{" not in script, "a name from outside would become a part of the script"
        assert set(re.findall(r"\bmake ([a-z-]+)", script)) <= targets
        for program in set(re.findall(r"\.venv/bin/(\w+)", script)) - {"mnemogram", "python"}:
            assert f"\n{program}==" in f"\n{locked}"


@pytest.mark.parametrize("path", [path for path in TEMPLATES if path.stem != "config"], ids=lambda p: p.stem)
def test_an_issue_template_asks_for_the_doctors_document(path: Path) -> None:
    form = document(path)
    fields = [each for each in form["body"] if each["type"] != "markdown"]

    assert form["name"]
    assert form["description"]
    assert {each["type"] for each in fields} <= {"textarea", "input", "dropdown", "checkboxes"}
    assert len({each["id"] for each in fields}) == len(fields)
    (doctor,) = [each for each in fields if "`mnemogram doctor --json`" in each["attributes"]["label"]]
    assert doctor["attributes"]["render"] == "json"
    assert doctor.get("validations", {}).get("required", False) is (path.stem == "bug")


def test_ci_runs_the_suites_of_the_stores_on_real_servers() -> None:
    job = CI["servers"]
    scripts = [step["run"] for step in job["steps"] if "run" in step]
    tested = [script.partition("make test-servers ")[2] for script in scripts if "test-servers" in script]

    assert sorted(service["image"] for service in job["services"].values()) == [
        "qdrant/qdrant:v1.20.0",
        "redis:7.2",
        "valkey/valkey:9",
    ]
    assert tested == [
        "TEST_REDIS_URL=redis://127.0.0.1:6379/0",
        "TEST_REDIS_URL=redis://127.0.0.1:6380/0",
        "TEST_QDRANT_URL=http://127.0.0.1:6333",
    ]
    assert any("benchmarks/index_scale.py" in script and "--qdrant-url" in script for script in scripts)


def test_the_release_builds_for_both_processors_and_tags_the_newest() -> None:
    jobs = document(ROOT / ".github" / "workflows" / "release.yml")["jobs"]
    *_, push = [step["run"] for step in jobs["image"]["steps"] if "run" in step]

    assert "--platform linux/amd64,linux/arm64" in push
    assert '--tag "$image:$version"' in push
    assert '--tag "$image:${version%.*}" --tag "$image:latest"' in push


def test_the_qdrant_of_ci_is_that_of_the_compose_files() -> None:
    images = {
        service["image"]
        for path in ROOT.glob("compose*.yaml")
        for service in document(path)["services"].values()
        if service["image"].startswith("qdrant/")
    }

    assert images == {CI["servers"]["services"]["qdrant"]["image"] + "-unprivileged"}
