"""Redis with the server's expiry alone: what is expired and not yet swept takes places of what is not.

As ``redis/native``, but no search filters by the expiry.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import structs

from memrot.memory import Capability, Embedder, Place
from memrot_adapters import redis_native

CAPABILITIES = {
    **redis_native.CAPABILITIES,
    "filter": Capability("not_yet", "left out here, to show the server's expiry alone"),
    "expiry": Capability(
        "native",
        "PEXPIREAT, as redis/native; a search returns what is expired and not swept as an empty row",
        "https://github.com/RediSearch/RediSearch/pull/4777",
    ),
}


def open_memory(place: Place, options: Mapping[str, str], embedder: Embedder) -> redis_native.RedisNative:
    name = "redis/native-ttl-only"
    memory = redis_native.opened(name, place, options, embedder, filters=False)
    note = "as it comes, no layers; expired is hidden, yet takes a place until it is swept"
    memory.info = structs.replace(memory.info, name=name, note=note, capabilities=CAPABILITIES)
    return memory
