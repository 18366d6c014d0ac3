"""The console."""


def main() -> None:
    """Placeholder until the console lands."""
