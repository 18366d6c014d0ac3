"""`doctor`: checks every dependency and setting."""

import typer

from bot.cli.failures import FAILED
from bot.cli.options import AsJson
from bot.cli.session import end_with
from bot.errors import SettingsInvalid


def doctor(as_json: AsJson = False) -> None:
    """Check every setting and dependency, and say what to do about each problem. Exit status 0 or 1."""
    from bot.observe.logs import configure_logs
    from bot.settings import load_settings

    try:
        settings = load_settings()
    except SettingsInvalid as error:
        from bot.cli.checks.findings import print_findings, settings_findings

        print_findings(settings_findings(error.problems), as_json=as_json)
        raise typer.Exit(FAILED) from None
    configure_logs(log_format=settings.log_format, level="error", secrets=settings.secrets)
    from bot.cli.checks.examination import examine

    end_with(settings, examine(settings, as_json=as_json))
