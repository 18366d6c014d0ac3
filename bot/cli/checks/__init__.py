"""The doctor's checks, and their findings: one line each, with advice for each problem."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal

from bot.cli.output import open_console, print_json, printable

Level = Literal["ok", "warn", "fail"]

_MARKS: dict[Level, tuple[str, str]] = {"ok": ("✓", "green"), "warn": ("!", "yellow"), "fail": ("✗", "red")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A result of a check. `fix` is the advice; it is empty if nothing has to be done."""

    name: str
    level: Level
    says: str
    fix: str = ""


def ok(name: str, says: str) -> Finding:
    """Return a finding without a problem."""
    return Finding(name=name, level="ok", says=says)


def warn(name: str, says: str, fix: str) -> Finding:
    """Return a finding that the operator should know about; the service works."""
    return Finding(name=name, level="warn", says=says, fix=fix)


def fail(name: str, says: str, fix: str = "") -> Finding:
    """Return a finding that stops the service from working."""
    return Finding(name=name, level="fail", says=says, fix=fix)


def is_well(findings: Iterable[Finding]) -> bool:
    """Return True if nothing failed."""
    return all(finding.level != "fail" for finding in findings)


def print_findings(findings: Sequence[Finding], *, as_json: bool, secrets: Sequence[str] = ()) -> None:
    """Print the findings for people or as JSON, with every secret masked."""
    from bot.observe.logs import mask

    findings = [
        replace(each, says=mask(each.says, secrets), fix=mask(each.fix, secrets)) for each in findings
    ]
    if as_json:
        checks = [{**asdict(finding), "fix": finding.fix or None} for finding in findings]
        print_json({"is_well": is_well(findings), "checks": checks})
        return
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 1))
    table.add_column()
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for finding in findings:
        mark, colour = _MARKS[finding.level]
        lines = [finding.says, *([f"→ {finding.fix}"] if finding.fix else [])]
        table.add_row(Text(mark, style=colour), finding.name, Text(printable("\n".join(lines))))
    open_console().print(table)
