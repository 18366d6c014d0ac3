"""Looks locked dependencies up among known vulnerabilities with pip-audit: `python scripts/audit.py requirements/run.txt …`.

pip-audit ends with 0 if it could look nothing up; this script says so and ends with 3. Status 1: a vulnerable package.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

FOUND, UNKNOWN = 1, 3
_LATEST_S = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """Result for the packages of one lock file."""

    looked_up: int
    skipped: int
    vulnerable: tuple[str, ...]


def read_report(report: str) -> Audit:
    """Parse a JSON report of pip-audit. Raises ValueError if it is not one."""
    packages = json.loads(report)["dependencies"]
    return Audit(
        looked_up=sum("skip_reason" not in package for package in packages),
        skipped=sum("skip_reason" in package for package in packages),
        vulnerable=tuple(
            f"{package['name']} {package['version']}: {found['id']}"
            + (f", fixed in {', '.join(found['fix_versions'])}" if found.get("fix_versions") else "")
            for package in packages
            for found in package.get("vulns", ())
        ),
    )


def verdict(name: str, audit: Audit | None) -> tuple[int, list[str]]:
    """Return the exit status and the lines for a lock file. None: pip-audit itself failed."""
    if audit is None or not audit.looked_up:
        return UNKNOWN, [
            f"{name}: the vulnerability data cannot be reached from here: nothing was looked up."
        ]
    if audit.vulnerable:
        return FOUND, [f"{name}: {line}" for line in audit.vulnerable]
    if audit.skipped:
        return UNKNOWN, [
            f"{name}: {audit.skipped} packages could not be looked up; no known vulnerability of the other {audit.looked_up}."
        ]
    return 0, [f"{name}: {audit.looked_up} packages, no known vulnerability."]


def main(files: Sequence[str]) -> int:
    """Audit each file and return the gravest status."""
    statuses = {0}
    for file in files:
        status, lines = verdict(file, _audit(file))
        statuses.add(status)
        for line in lines:
            print(line)  # noqa: T201 - what it is for
    return FOUND if FOUND in statuses else max(statuses)


def _audit(file: str) -> Audit | None:
    tool = Path(sys.executable).with_name("pip-audit")
    command = [
        tool,
        "--require-hashes",
        "--disable-pip",
        "--progress-spinner=off",
        "--format=json",
        "-r",
        file,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_LATEST_S, check=False)  # noqa: S603 - ours
    try:
        return read_report(done.stdout)
    except ValueError:
        sys.stderr.write("".join(done.stderr.splitlines(keepends=True)[-1:]))
        return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
