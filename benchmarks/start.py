"""Seconds to ready, of CPU and of imports, and memory of each process at a start that is not the first.

The stores are embedded and start with the process, the Bot API is the simulator. See benchmarks/README.md.
"""

import argparse
import asyncio
import json
import re
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median

from rig.surroundings import child, cpu_seconds, free_port, local_bot_api, says_ready, until
from rig.table import print_table

from bot.settings import SIMULATOR_TOKEN

ROOT = Path(__file__).parents[1]
EMBEDDED, REMOTE = "embedded embedder", "embedder of an endpoint"
PROCESSES = (("serve", EMBEDDED), ("work", EMBEDDED), ("work", REMOTE), ("run", EMBEDDED))
_SELF_US = re.compile(r"^import time:\s+(\d+) \|", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Medians of the starts of one process."""

    ready_s: float
    cpu_s: float
    """CPU time of the process alone, without its embedded stores, until it is ready."""
    imports_s: float
    rss_mb: float
    """Memory of the process alone, without its embedded stores, when it is ready."""


async def main() -> None:
    """Measure and print."""
    options = _options()
    with tempfile.TemporaryDirectory(prefix="mnemogram-bench-") as directory:
        programs = {
            "python -c pass": await time_command(Path(directory), options.starts, "-c", "pass"),
            "mnemogram --help": await time_command(Path(directory), options.starts, "-m", "bot", "--help"),
        }
        async with local_bot_api() as api_url:
            starts: dict[str, Start] = {}
            for command, embedder in PROCESSES:
                versions = {
                    f"{command}, {embedder}{of}": environment_of(api_url, embedder, root)
                    for root, of in ((ROOT, ""), *((each, f", {each.name}") for each in options.against))
                }
                starts |= await measure(Path(directory), command, versions, options.starts)
    if options.json:
        print(
            json.dumps(
                {"programs_s": programs, "starts": {name: asdict(each) for name, each in starts.items()}}
            )
        )
    else:
        _print(programs, starts, count=options.starts)


async def time_command(directory: Path, count: int, *arguments: str) -> float:
    """Return the median of the seconds that Python takes with these arguments."""
    taken: list[float] = []
    for _ in range(count):
        begun = time.perf_counter()
        log, environment = directory / "command.log", {"PYTHONPATH": str(ROOT)}
        async with child(sys.executable, *arguments, log=log, environment=environment) as process:
            await process.wait()
            taken.append(time.perf_counter() - begun)
    return median(taken)


def environment_of(api_url: str, embedder: str, root: Path) -> dict[str, str]:
    """Return the settings of a process. An endpoint's embedder is not asked anything before the first turn."""
    environment = {
        "PYTHONPATH": str(root),
        "TELEGRAM_BOT_TOKEN": SIMULATOR_TOKEN,
        "TELEGRAM_API_URL": api_url,
        "LOG_FORMAT": "json",
    }
    if embedder == REMOTE:
        environment |= {"OPENAI_API_KEY": "unused", "OPENAI_BASE_URL": f"{api_url}/v1"}
        environment |= {"OPENAI_EMBEDDING_MODEL": "text-embedding-3-small"}
    return environment


async def measure(
    directory: Path, command: str, versions: Mapping[str, Mapping[str, str]], count: int
) -> dict[str, Start]:
    """Start each version once to make its files, then `count` times to time it and `count` to time its imports.

    Those are apart because timing each import slows them down. The versions take turns.
    """
    environments = {name: _with_place(directory, command, each) for name, each in versions.items()}
    log = directory / f"{command}.log"
    for each in environments.values():
        await _start(log, command, each)
    plain: dict[str, list[Start]] = {name: [] for name in versions}
    timed: dict[str, list[Start]] = {name: [] for name in versions}
    for _ in range(count):
        for name, each in environments.items():
            plain[name].append(await _start(log, command, each))
            timed[name].append(await _start(log, command, each, "-X", "importtime"))
    return {
        name: Start(
            ready_s=median(each.ready_s for each in plain[name]),
            cpu_s=median(each.cpu_s for each in plain[name]),
            imports_s=median(each.imports_s for each in timed[name]),
            rss_mb=median(each.rss_mb for each in plain[name]),
        )
        for name in versions
    }


def _with_place(directory: Path, command: str, environment: Mapping[str, str]) -> dict[str, str]:
    port = free_port()
    return {
        **environment,
        "HTTP_PORT": str(port),
        "DATA_DIR": str(directory / f"data-{command}-{port}"),
        **({"WEBHOOK_URL": f"http://127.0.0.1:{port}"} if command == "serve" else {}),
    }


async def _start(log: Path, command: str, environment: Mapping[str, str], *flags: str) -> Start:
    begun = time.perf_counter()
    async with child(
        sys.executable, *flags, "-m", "bot", command, log=log, environment=environment
    ) as process:
        await until(partial(says_ready, log), f"{command} is ready")
        ready_s = time.perf_counter() - begun
        cpu_s, rss_mb = cpu_seconds(process.pid) or 0.0, _rss_mb(process.pid)
    imports_s = sum(map(int, _SELF_US.findall(await asyncio.to_thread(log.read_text)))) / 1e6
    return Start(ready_s=ready_s, cpu_s=cpu_s, imports_s=imports_s, rss_mb=rss_mb)


def _rss_mb(pid: int) -> float:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) * 1024 / 1e6 if found else 0.0


def _print(programs: Mapping[str, float], starts: Mapping[str, Start], *, count: int) -> None:
    rows = [
        [name, f"{each.ready_s:.2f}", f"{each.cpu_s:.2f}", f"{each.imports_s:.2f}", f"{each.rss_mb:.0f}"]
        for name, each in starts.items()
    ]
    columns = ("process", "ready after s", "CPU s", "imports s", "RSS MB")
    print_table(f"Medians of {count} starts", columns, rows)
    for name, seconds in programs.items():
        print(f"{name} takes {seconds:.3f} s.")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--starts", type=int, default=3)
    parser.add_argument("--against", type=Path, nargs="*", default=[], help="Folders of other versions.")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(main())
