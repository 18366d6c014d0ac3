"""The documents: links, commands, settings, metrics and files that they name exist; the generated tables are fresh.

Issue templates count as documents.
"""

import importlib.util
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import typer
import yaml
from typer.core import TyperGroup

from bot.agent.agents_file import load_agents
from bot.agent.tool import Scope
from bot.cli.console import build_console
from bot.environment import SECRETS
from bot.features import BUILT_IN_TOOLS
from bot.features.settings import AllSettings
from bot.observe import metrics

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted(
    str(path.relative_to(ROOT))
    for path in (
        *(*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *ROOT.glob("*/README.md")),
        *(ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"),
    )
)
NOT_SETTINGS = {
    *(
        "USER_ID",
        "UPDATE_ID",
        "STORES_NET",
        "MNEMOGRAM_IMAGE",
        "SIMULATOR_HOST",
        "REDISCLI_AUTH",
        "AGPL_LICENSE",
        "CHAT_ID",
    ),
    *("VALKEY_PASSWORD", "TIKTOKEN_CACHE_DIR", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR"),
    *("NAME_FILE", *(f"{name.upper()}_FILE" for name in SECRETS)),
}
"""Names in capitals that belong to the compose files, to other programs or to a command's arguments."""
NOT_PATHS = re.compile(r"\*|…")
_SVG = "{http://www.w3.org/2000/svg}"

document = pytest.mark.parametrize("name", DOCUMENTS)


def read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def commands(text: str) -> list[str]:
    """Return the lines of code blocks and the inline code of a document, without paths before the program."""
    fenced = [
        line
        for block in re.findall(r"^```\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
        for line in block.split("\n")
    ]
    indented = re.findall(r"^    (\S.*)$", text, re.MULTILINE)
    inline = re.findall(r"`([^`\n]+)`", text)
    return [line.strip().replace(".venv/bin/", "") for line in [*fenced, *indented, *inline]]


def anchors(text: str) -> set[str]:
    """Return the anchors of a document's headings."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def has_target(source: Path, link: str) -> bool:
    """Return True if the file of a link exists and has the heading that it names."""
    name, _, anchor = link.partition("#")
    target = source.parent / name if name else source
    return target.exists() and (not anchor or anchor in anchors(target.read_text("utf-8")))


@document
def test_every_link_has_a_target(name: str) -> None:
    links = [link for link in re.findall(r"\]\(([^)]+)\)", read(name)) if "://" not in link]

    assert [link for link in links if not has_target(ROOT / name, link)] == []


@document
def test_every_command_exists_with_its_options(name: str) -> None:
    console = typer.main.get_command(build_console())
    assert isinstance(console, TyperGroup)

    for line in commands(read(name)):
        program, *words = [*line.partition("#")[0].split(), ""]
        options = {word.strip("[]").partition("=")[0] for word in words if re.match(r"\[?-{1,2}[a-z]", word)}
        if program == "mnemogram" and re.fullmatch(r"[a-z]+,?", words[0]):
            command = console.commands[words[0].strip(",")]
            if isinstance(command, TyperGroup):
                command = command.commands.get(words[1], command)
            known = {option for each in command.params for option in each.opts} | {"--help"}
            assert options <= known, line
        elif program == "python" and words[0].startswith("benchmarks/"):
            source = read(words[0])
            assert [option for option in options if f'"{option}"' not in source] == [], line


@document
def test_every_setting_exists(name: str) -> None:
    named = set(re.findall(r"`([A-Z]+(?:_[A-Z0-9]+)+)(?:=[^`]*)?`", read(name)))

    assert {
        each for each in named - NOT_SETTINGS if each.lower() not in AllSettings.model_fields
    } <= constants()


def constants() -> set[str]:
    """Return the names of constants in the code, which documents may name too."""
    sources = [path.read_text("utf-8") for top in ("bot", "memory") for path in (ROOT / top).rglob("*.py")]
    return {
        found
        for source in sources
        for found in re.findall(r"^([A-Z][A-Z0-9_]+)(?:: \S+)? = ", source, re.MULTILINE)
    }


@document
def test_every_metric_exists(name: str) -> None:
    known = metrics.render().decode()

    if name == "CHANGELOG.md":
        return  # it names metrics of earlier releases
    named = set(re.findall(r"(?<!@)\bmnemogram_(?!qdrant|bot)\w+", read(name)))

    assert [each for each in named if f"# HELP {each.removesuffix('_bucket')} " not in known] == []


@document
def test_every_file_exists(name: str) -> None:
    tops = "bot|memory|simulator|chaos|tests|benchmarks|deploy|docs|examples|scripts"
    named = (
        set(re.findall(rf"`((?:{tops})/[\w/.-]+\w)`?", read(name))) if name != "CHANGELOG.md" else set[str]()
    )

    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_the_generated_tables_are_fresh() -> None:
    text = script("write_reference").reference()

    assert read("docs/reference.md") == text, "run: python scripts/write_reference.py"


def test_the_example_has_every_setting_under_a_heading() -> None:
    text = script("write_env_example").example()

    assert read(".env.example") == text, "run: python scripts/write_env_example.py"
    assert re.findall(r"^## (.+)$", text, re.MULTILINE)[-2:] == ["Operation", "Features"]


def script(name: str) -> Any:
    """Import a script of `scripts/`, which is no package."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_plot_of_recall_has_the_figures_of_its_table() -> None:
    drawn: dict[str, list[str]] = {}
    label = ""
    for element in ET.parse(ROOT / "docs" / "recall.svg").iter(f"{_SVG}text"):  # noqa: S314 - our own file
        text = element.text or ""
        if element.get("x") == "20":
            label = text
        elif re.fullmatch(r"\d+\.\d", text):
            drawn.setdefault(label, []).insert(0, text)
    table = read("docs/recall.md").partition("\n| set | questions |")[2].partition("\n\n")[0]
    heads, _, *rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in f"| set | questions |{table}".splitlines()
    ]
    cells = {
        f"{row[0]}: {name}": cell.split(" / ")
        for row in rows
        for name, cell in zip(heads[3:], row[3:], strict=True)
    }

    assert drawn == cells


def test_the_scope_in_the_threat_model_can_be_parsed(tmp_path: Path) -> None:
    (example,) = re.findall(r"^```toml\n(.*?)^```$", read("docs/security.md"), re.DOTALL | re.MULTILINE)
    agents = tmp_path / "agents.toml"
    agents.write_text(
        '[agent]\ntools = ["current_time"]\n' + example.replace("tools.refund", "tools.current_time")
    )

    team = load_agents(agents, built_in_tools=BUILT_IN_TOOLS)

    assert team.agents[team.main].tools[0].scope == Scope(
        who="administrators", where=frozenset({"groups"}), chats=frozenset({-1001234567890})
    )


def test_the_scaled_compose_file_has_two_of_each_process_behind_a_balancer() -> None:
    services = yaml.safe_load(read("compose.scale.yaml"))["services"]

    assert [services[name]["deploy"]["replicas"] for name in ("serve", "work")] == [2, 2]
    assert services["valkey-replica"]["command"] == services["valkey"]["command"], (
        "a Sentinel says who follows"
    )
    for volume in services["balancer"]["volumes"]:
        assert (ROOT / volume.split(":")[0]).exists()
    # A process ends within 20 s (bot/app/lifecycle.py).
    assert services["serve"]["stop_grace_period"] == services["work"]["stop_grace_period"] == "25s"
