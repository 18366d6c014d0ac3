"""Which IP addresses are of the public internet, and of nobody's own network (pure)."""

import ipaddress
from ipaddress import IPv4Address, IPv6Address

Address = IPv4Address | IPv6Address

_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
"""All that IANA has given out for public IPv6; what is not in it is local, reserved or embeds another address."""
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
"""RFC 6052: the last four bytes are the IPv4 address that is reached."""
_NOT_PUBLIC = tuple(
    ipaddress.ip_network(network)
    for network in (
        "168.63.129.16/32",  # Azure's host: public by its number, the machine's own platform by what answers
        "192.0.0.0/24",  # IETF protocol assignments; 192.0.0.192 is Oracle's metadata
        "192.88.99.0/24",  # relays of 6to4
        "2001::/23",  # IETF protocol assignments, Teredo among them
        "2002::/16",  # 6to4: embeds any IPv4 address
        "3fff::/20",  # documentation, unknown to older ipaddress modules
    )
)


def is_public(address: Address) -> bool:
    """Whether a connection there leaves for the public internet.

    False for loopback, private, link-local (metadata services), carrier-grade NAT, multicast and reserved addresses,
    also where one is embedded in an IPv6 address in a way that standards name: a NAT64 prefix of one's own looks public.
    """
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        if address in _NAT64:
            return is_public(IPv4Address(int(address) & 0xFFFF_FFFF))
        if address.scope_id is not None or address not in _GLOBAL_UNICAST:
            return False
    is_special = address.is_multicast or address.is_reserved or address.is_unspecified
    is_taken = any(address.version == network.version and address in network for network in _NOT_PUBLIC)
    return address.is_global and not is_special and not is_taken
