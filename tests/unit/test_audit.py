"""`make audit`: its result for a report, and for an auditor that fails."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def audit() -> ModuleType:
    path = Path(__file__).resolve().parents[2] / "scripts" / "audit.py"
    spec = importlib.util.spec_from_file_location("audit_script", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


KNOWN: dict[str, object] = {"name": "a", "version": "1", "vulns": []}
SKIPPED: dict[str, object] = {
    "name": "b",
    "skip_reason": "Dependency not found on PyPI and could not be audited: b (1)",
}
VULNERABLE: dict[str, object] = {
    "name": "c",
    "version": "2",
    "vulns": [{"id": "PYSEC-1", "fix_versions": ["3"]}],
}


@pytest.mark.parametrize(
    ("packages", "status", "line"),
    [
        ([KNOWN], 0, "f: 1 packages, no known vulnerability."),
        ([SKIPPED], 3, "f: the vulnerability data cannot be reached from here: nothing was looked up."),
        ([KNOWN, SKIPPED], 3, "f: 1 packages could not be looked up; no known vulnerability of the other 1."),
        ([SKIPPED, VULNERABLE], 1, "f: c 2: PYSEC-1, fixed in 3"),
    ],
)
def test_a_report_becomes_one_line(audit: ModuleType, packages: list[object], status: int, line: str) -> None:
    report = audit.read_report(json.dumps({"dependencies": packages, "fixes": []}))

    assert audit.verdict("f", report) == (status, [line])


def test_a_failed_auditor_is_not_reported_as_clean(audit: ModuleType) -> None:
    assert audit.verdict("f", None)[0] == 3
    with pytest.raises(ValueError, match="Expecting value"):
        audit.read_report("Traceback")
