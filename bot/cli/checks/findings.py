"""What the doctor found: one line each, with what to do about it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from rich.table import Table
from rich.text import Text

from bot.cli.failures import masked
from bot.cli.output import open_console, print_json, printable

Level = Literal["ok", "warn", "fail"]

_MARKS: dict[Level, tuple[str, str]] = {"ok": ("✓", "green"), "warn": ("!", "yellow"), "fail": ("✗", "red")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What was found of one thing. `fix` says what to do; it is empty where nothing is to be done."""

    name: str
    level: Level
    says: str
    fix: str = ""


def ok(name: str, says: str) -> Finding:
    """All is well."""
    return Finding(name=name, level="ok", says=says)


def warn(name: str, says: str, fix: str) -> Finding:
    """It works, and the operator should know."""
    return Finding(name=name, level="warn", says=says, fix=fix)


def fail(name: str, says: str, fix: str = "") -> Finding:
    """It does not work."""
    return Finding(name=name, level="fail", says=says, fix=fix)


def settings_findings(problems: Iterable[str]) -> list[Finding]:
    """One for each wrong setting: with them nothing else can be checked."""
    return [
        fail(
            "settings", problem, "Correct it in the environment or .env; .env.example explains each setting."
        )
        for problem in problems
    ]


def is_well(findings: Iterable[Finding]) -> bool:
    """Whether nothing failed."""
    return all(finding.level != "fail" for finding in findings)


def print_findings(findings: Sequence[Finding], *, as_json: bool, secrets: Sequence[str] = ()) -> None:
    """Print them all, for people or as JSON, with every secret masked."""
    if as_json:
        checks = [
            {
                "name": finding.name,
                "level": finding.level,
                "says": masked(finding.says, secrets),
                "fix": masked(finding.fix, secrets) or None,
            }
            for finding in findings
        ]
        print_json({"is_well": is_well(findings), "checks": checks})
        return
    table = Table.grid(padding=(0, 1))
    table.add_column()
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for finding in findings:
        mark, colour = _MARKS[finding.level]
        lines = [finding.says, *([f"→ {finding.fix}"] if finding.fix else [])]
        table.add_row(
            Text(mark, style=colour), finding.name, Text(masked(printable("\n".join(lines)), secrets))
        )
    open_console().print(table)
