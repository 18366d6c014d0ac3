"""Serves the files of the memory page to a browser, without a service behind them."""

import threading
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

_STATIC = Path(__file__).parent.parent.parent / "bot" / "page" / "static"


class _Files(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None: ...


@contextmanager
def serve_static() -> Generator[str, None, None]:
    """Serve the folder on a free port of loopback, and yield its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Files, directory=str(_STATIC))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()
