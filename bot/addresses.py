"""Checks and mends addresses of settings, and finds the passwords in them."""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from ipaddress import ip_address
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from bot.environment import check_visible
from memory.redis.address import parse_address, split_host

_REACHED_AT = {"//0.0.0.0:": "//127.0.0.1:", "//[::]:": "//[::1]:", "//localhost:": "//127.0.0.1:"}
"""Addresses that a browser cannot open or that Telegram refuses in buttons, and their substitutes."""
_LOOPBACK = ("127.0.0.1", "localhost", "::1")

WEBHOOK_PATH = "/telegram/webhook"
PAGE_PATH = "/app/"
"""The memory page and its API. Behind a proxy only these two paths are published."""

_TELEGRAM_REQUEST = re.compile(r"/+(?:file/)?bot(?:\d+(?::|%3A)[^/]*|[<{][^/]*)?(?:/.*)?$", re.IGNORECASE)
_QDRANT_REQUEST = re.compile(r"/+(?:dashboard|collections)(?:/.*)?$")
NEXT_ADDRESS = re.compile(r"\s*[,;]\s*(?=https?://)", re.IGNORECASE)
"""Place between two addresses. A comma elsewhere may be a part of a password."""
_OTLP_REQUEST = re.compile(r"/+v1/(?:traces|metrics|logs)$")
_OPERATION = re.compile(
    r"/+(?:chat/completions|completions?|chat|responses|embeddings|models"
    r"|audio/\w+|images/\w+|models/[^/]+:\w+|(?:anthropic/)?(?:v1/)?messages|(?:apps/)?anthropic(?:/v1)?)$"
)
_BASE_PATHS = {
    "api.cohere.ai": "/compatibility/v1",
    "api.cohere.com": "/compatibility/v1",
    "api.deepinfra.com": "/v1/openai",
    "api.fireworks.ai": "/inference/v1",
    "api.groq.com": "/openai/v1",
    "api.perplexity.ai": "",
    "api.z.ai": "/api/paas/v4",
    "ark.ap-southeast.bytepluses.com": "/api/v3",
    "ark.cn-beijing.volces.com": "/api/v3",
    "dashscope-intl.aliyuncs.com": "/compatible-mode/v1",
    "dashscope-us.aliyuncs.com": "/compatible-mode/v1",
    "dashscope.aliyuncs.com": "/compatible-mode/v1",
    "generativelanguage.googleapis.com": "/v1beta/openai",
    "maas.aliyuncs.com": "/compatible-mode/v1",
    "models.github.ai": "/inference",
    "models.inference.ai.azure.com": "",
    "open.bigmodel.cn": "/api/paas/v4",
    "openrouter.ai": "/api/v1",
    "qianfan.baidubce.com": "/v2",
}
"""Paths of well-known endpoints other than /v1, which an address without a path, or with a half of it, gets.

A host stands for its subdomains too: Alibaba's workspaces have their own.
"""
_AZURE = (".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com")
_AZURE_VERSIONS = ("api-version=v1", "api-version=latest", "api-version=preview")
_LOCAL_PORTS = (11434, 1234)
"""Of Ollama and LM Studio, which have an API of their own under /api too."""


def _mend_http(url: str, request: re.Pattern[str]) -> str:
    """Return the base URL of an address that may end with the path of a request."""
    parts = _http_parts(url)
    path = request.sub("", parts.path.rstrip("/")).rstrip("/")
    return parts._replace(path=path, query="", fragment="").geturl()


def _mend_qdrant(urls: str) -> str:
    """Return the base URLs of a cluster's addresses, separated by commas."""
    mended: list[str] = []
    for url in NEXT_ADDRESS.split(urls.strip(" ,;")):
        if "," in url.partition("://")[2].partition("/")[0].rpartition("@")[2]:
            raise ValueError("names several hosts: write http:// or https:// before each")
        parts = urlsplit(_mend_http(url, request=_QDRANT_REQUEST))
        mended.append(parts._replace(netloc=parts.netloc.replace(",", "%2C")).geturl())
    return ",".join(dict.fromkeys(mended))


def _mend_openai(url: str) -> str:
    """Return the base URL of an endpoint, which requests continue with `/chat/completions`."""
    parts = _http_parts(url)
    parts, host = parts._replace(path=parts.path.rstrip("/"), fragment=""), parts.hostname or ""
    if host.endswith(_AZURE) and (not parts.path or parts.path.startswith(("/openai", "/models"))):
        # In version 1 of Azure's API the model names the deployment, and dated versions are refused.
        version = parts.query if parts.query in _AZURE_VERSIONS else ""
        return parts._replace(path="/openai/v1", query=version).geturl()
    is_own = (parts.port in _LOCAL_PORTS or host == "ollama.com") and parts.path.startswith("/api")
    path = "" if is_own else _OPERATION.sub("", parts.path).rstrip("/")
    base = next((each for name, each in _BASE_PATHS.items() if f".{host}".endswith(f".{name}")), "/v1")
    is_half = path in ("", "/v1") or f"{base}/".startswith(f"{path}/") or base.endswith(path)
    return parts._replace(path=base if base and is_half else path).geturl()


def _mend_webhook(url: str) -> str:
    parts = _public_parts(url)
    path = parts.path.rstrip("/").removesuffix(WEBHOOK_PATH) + WEBHOOK_PATH
    return parts._replace(path=path, query="", fragment="").geturl()


def _mend_public(url: str) -> str:
    parts = _public_parts(url)
    path = parts.path.rstrip("/")
    if "@" in parts.netloc or not (path in ("", WEBHOOK_PATH) or f"{path}/".startswith(PAGE_PATH)):
        raise ValueError("must be an address without a path, such as https://bot.example.org")
    return f"{parts.scheme}://{parts.netloc}"


def _mend_host(text: str) -> str:
    """Return the host that we listen on, an IPv6 address without its brackets."""
    host = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    with suppress(ValueError):
        return str(ip_address(host)) if {":", "/"} & set(host) else host
    raise ValueError(
        "must be a host or an IP address alone, such as 127.0.0.1 or ::1. HTTP_PORT has the port"
    )


def _mend_redis(url: str) -> str:
    check_visible(url)
    parse_address(url)
    return url


def _http_parts(url: str) -> SplitResult:
    parts = _split(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must be an http:// or https:// address" + _missing_scheme(url))
    return parts


def _public_parts(url: str) -> SplitResult:
    """Return the parts of an address that Telegram or its people can reach."""
    parts = _split(url)
    is_local = parts.scheme == "http" and parts.hostname in _LOOPBACK
    if not parts.hostname or not (parts.scheme == "https" or is_local):
        raise ValueError(
            "must be a public https:// address (http:// only on loopback, for the simulator)"
            + _missing_scheme(url)
        )
    return parts


def _split(url: str) -> SplitResult:
    check_visible(url)
    if " " in url:
        raise ValueError("has a blank inside")
    try:
        parts = urlsplit(url.rstrip(".,;)>"))  # the end of a sentence that was copied too
    except ValueError:
        raise ValueError("has a host that is no address") from None
    split_host(parts.netloc.rpartition("@")[2])
    return parts


def _missing_scheme(url: str) -> str:
    return "" if "://" in url else ". It begins without a scheme: write https:// before it, or http://"


FORMS: Mapping[str, Callable[[str], str]] = {
    "telegram_api_url": partial(_mend_http, request=_TELEGRAM_REQUEST),
    "qdrant_url": _mend_qdrant,
    "otel_exporter_otlp_endpoint": partial(_mend_http, request=_OTLP_REQUEST),
    "openai_base_url": _mend_openai,
    "webhook_url": _mend_webhook,
    "public_url": _mend_public,
    "http_host": _mend_host,
    "redis_url": _mend_redis,
}
"""Functions that mend the address of a setting as people paste it.

They raise ValueError for one without a host or a known scheme, which quotes nothing of it: it may have a password.
"""


def reachable(url: str) -> str:
    """Return the address under which a browser on this machine reaches what listens on `url`."""
    for bound, reached in _REACHED_AT.items():
        url = url.replace(bound, reached)
    return url


def passwords_in(url: str) -> set[str]:
    """Return the password of the URL as it is written and without percent-encoding, as errors of servers have it.

    A proxy's URL may have no scheme, and Qdrant has several addresses.
    """
    if len(addresses := NEXT_ADDRESS.split(url)) > 1:
        return set[str]().union(*map(passwords_in, addresses))
    try:
        parts = urlsplit(url if "://" in url else f"//{url}")
        given = (
            parts.password,
            *(value for name, value in parse_qsl(parts.query) if "password" in name.lower()),
        )
    except ValueError:  # a proxy's URL is not checked
        return set()
    return {form for password in given if password for form in (password, unquote(password))}
