"""Proxies for stores that a test can cut and restore:

the fault lab's TCP proxy in front of an embedded server.
"""

from contextlib import AbstractAsyncContextManager

from chaos.rig.tcp_proxy import TcpProxy, place_of, tcp_proxy


def redis_proxy(redis_url: str) -> AbstractAsyncContextManager[TcpProxy]:
    """Run a proxy to the server at this `unix://` URL, open at first."""
    return tcp_proxy(place_of(redis_url))


def index_proxy(url: str) -> AbstractAsyncContextManager[TcpProxy]:
    """Run a proxy to the index server at this `http://` URL, open at first."""
    return tcp_proxy(place_of(url))
