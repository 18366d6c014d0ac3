"""HTTP clients for servers on loopback: without proxies of the environment, and quick to create."""

import ssl
from collections.abc import Mapping

import httpx


def local_client(
    base_url: str = "", *, headers: Mapping[str, str] | None = None, timeout_s: float = 10
) -> httpx.AsyncClient:
    """Return a client without certificate authorities. Loading them takes 30 ms, and loopback has no TLS."""
    nobody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return httpx.AsyncClient(
        base_url=base_url, headers=headers, timeout=timeout_s, trust_env=False, verify=nobody
    )
