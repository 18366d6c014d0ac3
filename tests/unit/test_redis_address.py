"""Every form of REDIS_URL, as people of other clients write it."""

import pytest

from memory.redis.address import RedisAddress, parse_address


@pytest.mark.parametrize(
    ("text", "url", "nodes"),
    [
        ("redis://h", "redis://h:6379", (("h", 6379),)),
        (
            "valkey://:p%40w@[::1]:1/2?client_name=b%20c",
            "redis://:p%40w@[::1]:1/2?client_name=b%20c",
            (("::1", 1),),
        ),
        ("REDISS://u:p@h:7/1?ssl_ca_certs=/a.pem", "rediss://u:p@h:7/1?ssl_ca_certs=%2Fa.pem", (("h", 7),)),
        ("unix:///run/valkey.sock?db=2", "unix:///run/valkey.sock?db=2", ()),
        ("redis+socket:///run/valkey.sock", "unix:///run/valkey.sock", ()),
        ("redis+socket:///run/v.sock?virtual_host=3", "unix:///run/v.sock?db=3", ()),
        ("rediss://h?ssl_cert_reqs=CERT_NONE", "rediss://h:6379?ssl_cert_reqs=none", (("h", 6379),)),
        ("rediss://h/?SSL_CERT_REQS=Optional", "rediss://h:6379/?ssl_cert_reqs=optional", (("h", 6379),)),
        (
            "rediss://h/1/?ssl_cert_reqs=CERT_REQUIRED",
            "rediss://h:6379/1/?ssl_cert_reqs=required",
            (("h", 6379),),
        ),
        (
            "redis://h?decode_responses=True&health_check_interval=2",
            "redis://h:6379?health_check_interval=2",
            (("h", 6379),),
        ),
    ],
)
def test_one_server(text: str, url: str, nodes: tuple[tuple[str, int], ...]) -> None:
    assert parse_address(text) == RedisAddress(kind="server", url=url, nodes=nodes)


@pytest.mark.parametrize("scheme", ["redis+cluster", "redis-cluster", "rediss+cluster"])
def test_a_cluster_has_nodes_of_any_form(scheme: str) -> None:
    address = parse_address(f"{scheme}://u:p%2Cw@one:1,[fe80::1]:2,three/0")

    assert (address.kind, address.url) == ("cluster", f"{scheme[:-8]}://u:p%2Cw@one:1/0")
    assert address.nodes == (("one", 1), ("fe80::1", 2), ("three", 6379))


@pytest.mark.parametrize(
    "text",
    [
        "redis+sentinel://:p%40w@one:1,two/3?service=bot",
        "redis+sentinel://:p%40w@one:1,two:26379/bot/3",
        "redis-sentinel://:p%40w@one:1,two/3#bot",
        "redis-sentinel://:p%40w@one:1,two/3?sentinelMasterId=bot",
        "redis+sentinel://:p%40w@one:1,two/3/bot",
        "sentinel://:p%40w@one:1/3;sentinel://:p%40w@two:26379/3?master_name=bot",
        "sentinel://:p%40w@one:1/bot/3,sentinel://two/bot/3;",
        "sentinel://:p%40w@one:1/bot/3;sentinel://two",
        "redis+sentinel://:p%40w@one:1,:p%40w@two/bot/3",
        "sentinel://:p%40w@one:1;sentinel://:p%40w@two/bot/3",
    ],
)
def test_sentinels_and_their_service(text: str) -> None:
    assert parse_address(text) == RedisAddress(
        kind="sentinel", url="redis://:p%40w@sentinel/3", nodes=(("one", 1), ("two", 26379)), service="bot"
    )


def test_sentinels_have_usual_values_and_credentials_of_their_own() -> None:
    plain = parse_address("redis+sentinel://one")
    guarded = parse_address(
        "rediss+sentinel://[::1]:5/0?sentinel_username=a%40b&sentinel_password=c+d%26&ssl_ca_certs=/a"
    )

    assert (plain.url, plain.service) == ("redis://sentinel/0", "mymaster")
    assert (guarded.sentinel_username, guarded.sentinel_password) == ("a@b", "c+d&")
    assert guarded.url == "rediss://sentinel/0?ssl_ca_certs=%2Fa"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("127.0.0.1:6379", "must start with one of redis://"),
        ("http://hidden@h", "must start with one of redis://"),
        ("redis://:hid/den@h:1", "has a port that is no number"),
        ("redis+sentinel://:hidden@one:1,two:port", "has a port that is no number"),
        ("redis+cluster://:hidden@[::1", "has a host that is no address"),
        ("redis://:hid[den@h", r"has a host that is no address \(signs such as .* \[ in a password"),
        ("redis://:hidden@one,two", "names several hosts"),
        ("redis+sentinel://:hidden@one/a/b", "has a path"),
        ("redis+sentinel://:hidden@one/0/a/1", "has a path"),
        ("redis://:hidden@one/abc", "has a path that is no database"),
        ("redis+cluster://:hidden@one/0/1", "has a path that is no database"),
        ("redis://:1/hid@den", "has an @ after its host"),
        ("redis://:1#hid@den", "has an @ after its host"),
        ("redis+sentinel://:hidden@one,:hid@two/m", "has different credentials"),
        ("redis+sentinel://u:hidden@one,v:hidden@two/m", "has different credentials"),
        ("redis+cluster://:hidden@one,:hid@two", "has different credentials"),
        ("redis+cluster://:hidden@one/1", "names a database, and a cluster has only 0"),
        ("redis+cluster://:hidden@one?db=3", "names a database, and a cluster has only 0"),
        ("redis://one?foo=hidden", "has an unknown parameter: foo$"),
        ("unix:///run/valkey.sock?foo=hidden", "has an unknown parameter: foo$"),
        ("unix:///run/valkey.sock?socket_keepalive=hid", "has an unknown parameter: socket_keepalive$"),
        ("redis+cluster://one?retry_on_timeout=hid", "has an unknown parameter: retry_on_timeout$"),
        ("redis://one?ssl=hidden", "has an unknown parameter: ssl. Write rediss://"),
        ("redis://one?serviceName=hidden", "has an unknown parameter: serviceName. .* service=NAME"),
        ("redis://one?service=hidden", r"has an unknown parameter: service. It is for redis\+sentinel"),
        ("redis://:1?hid=den@one", r"has an unknown parameter \(signs"),
        ("redis://one?%0ahid=den", r"has an unknown parameter \(signs"),
        ("redis://one?ssl_cert_reqs=none", "has ssl_cert_reqs, which needs TLS"),
        ("rediss://one?ssl_cert_reqs=hidden", "has another ssl_cert_reqs than none, optional, required"),
        ("redis://one?db=hidden", "has a db that is no such number"),
        ("redis://one?socket_timeout=hidden", "has a socket_timeout that is no such number"),
        ("redis://one?protocol=4", "has a protocol that is no such number"),
    ],
)
def test_another_form_is_refused_without_its_password(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=told) as refused:
        parse_address(text)

    assert "hid" not in str(refused.value)
