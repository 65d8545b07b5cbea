"""What backends say of themselves, each opened empty in a worker, or why one cannot be opened."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from memrot.embed.base import Embedder
from memrot.embed.cache import Cache, Recalled
from memrot.errors import BadInput, Unavailable, Unsupported
from memrot.memory import Info
from memrot.names import StackName
from memrot.run.elsewhere import Environments
from memrot.run.pool import Died
from memrot.run.watch import hung_during
from memrot.run.worker import inspect, last_words

Inspected: TypeAlias = Info | BadInput | Unavailable | Unsupported | str
"""BadInput: it refuses the options that it has; a text: how it failed otherwise."""

_PATIENCE_S = 120.0
"""A backend's first start may be slow: imports, a server."""


def inspected(
    bases: Sequence[StackName], embedder: Embedder, environments: Environments, scratch: Path
) -> dict[StackName, Inspected]:
    """By what is opened: adapters with their own options."""
    with Cache() as cache:
        recalled = Recalled.of(embedder, cache)
    tasks = [
        (base.adapter, base.adapter_options, scratch / f"inspect{place}", recalled, _PATIENCE_S)
        for place, base in enumerate(bases)
    ]
    found: dict[StackName, Inspected] = {}
    adapters = [base.adapter for base in bases]
    for place, result in environments.run(inspect, tasks, adapters, lambda _: None):
        match result:
            case Info() | BadInput() | Unavailable() | Unsupported() | str():
                found[bases[place]] = result
            case Died() if hung_during(last_words(tasks[place][2])):
                found[bases[place]] = f"no reply within {_PATIENCE_S:g} s"
            case Died():
                found[bases[place]] = str(result)
            case error:
                raise error
    return found
