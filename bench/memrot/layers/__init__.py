"""Layers: pure policies over a store, composed by a stack in the order in which they must run."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import get_args

from memrot.errors import BadInput
from memrot.layers.base import Layer
from memrot.layers.eviction import By, Eviction
from memrot.layers.overwrite import Overwrite
from memrot.layers.policy import DEFAULT, WEIBULL
from memrot.layers.propagation import Propagation
from memrot.layers.recency import Recency
from memrot.layers.retention import Retention
from memrot.layers.succession import Succession
from memrot.layers.supersession import Supersession
from memrot.layers.ttl import Ttl
from memrot.memory import TTL_DAYS
from memrot.names import ALL

_ORDER = ("overwrite", "ttl", "retention", "propagation", "succession", "supersession", "evict", "recency")
"""The order in which layers run (tried against METRICS.md §1; supersession first disagrees).
``succession`` is not named: it keeps the books for ``propagation`` and ``supersession``."""

_SPELLING = re.compile(r"([a-z]+)(?:\[([^\]]*)\])?")


def parse(
    names: Sequence[str], exclusive: Collection[str] = (), facts: int | None = None
) -> tuple[Layer, ...]:
    """Layers from their names, in running order: ``ttl``, ``ttl[hard]``, ``ttl[x0.5]``,
    ``ttl[days=90]``, ``retention``, ``retention[weibull]``, ``supersession``, ``propagation``,
    ``overwrite``, ``evict[lru,0.5]``, ``evict[oldest,0.1]``, ``recency``, ``all``.

    ``exclusive``: the predicates that have one subject per value. ``facts``: how many facts the memory
    will be told, of which an eviction keeps a share. Raises BadInput.
    """
    layers: dict[str, Layer] = {}
    for spelled in names:
        match = _SPELLING.fullmatch(spelled)
        name, options = (match[1], match[2]) if match else (spelled, None)
        for part in ALL if name == "all" and options is None else (name,):
            if part in layers:
                raise BadInput(f"layer {part!r} is named twice")
            layers[part] = _layer(part, options, facts)
    if layers.keys() >= {"ttl", "retention"}:
        raise BadInput("layers 'ttl' and 'retention' both say how long facts are believed: name one")
    if layers.keys() & {"supersession", "propagation"}:
        layers["succession"] = Succession(exclusive)
    return tuple(layers[name] for name in _ORDER if name in layers)


def _layer(name: str, options: str | None, facts: int | None) -> Layer:
    given = options.split(",") if options else []
    match name:
        case "ttl":
            return _ttl(given)
        case "evict":
            return _eviction(given, facts)
        case "retention":
            if given not in ([], ["weibull"]):
                raise BadInput(f"layer 'retention' takes the option 'weibull' or none, got [{options}]")
            return Retention(WEIBULL if given else DEFAULT)
    if name not in _PLAIN:
        known = sorted({"ttl", "evict", "retention", *_PLAIN})
        raise BadInput(f"unknown layer {name!r}: expected one of all, {', '.join(known)}")
    if options is not None:
        raise BadInput(f"layer {name!r} takes no options, got [{options}]")
    return _PLAIN[name]()


_PLAIN = {each.name: each for each in (Overwrite, Propagation, Recency, Supersession)}


def _ttl(options: Sequence[str]) -> Ttl:
    hard, factor, everywhere = False, 1.0, None
    for option in options:
        if option == "hard":
            hard = True
        elif re.fullmatch(r"x\d+(\.\d+)?", option) and float(option[1:]) > 0:
            factor = float(option[1:])
        elif re.fullmatch(r"days=\d+(\.\d+)?", option) and float(option[5:]) > 0:
            everywhere = float(option[5:])
        else:
            raise BadInput(
                f"unknown option {option!r} of layer 'ttl': expected 'hard', a factor such as 'x0.5', or "
                "days for all domains such as 'days=90'"
            )
    if everywhere is not None:
        return Ttl(everywhere * factor, hard=hard)
    return Ttl({domain: days * factor for domain, days in TTL_DAYS.items()}, hard=hard)


def _eviction(options: Sequence[str], facts: int | None) -> Eviction:
    shares = [float(option) for option in options if re.fullmatch(r"0?\.\d+|1", option)]
    by: list[By] = [each for each in get_args(By) if each in options]
    if len(options) != 2 or len(shares) != 1 or len(by) != 1 or shares[0] <= 0:
        raise BadInput(
            "layer 'evict' takes what goes first, 'lru' or 'oldest', and the share of all facts that is "
            f"kept, such as [lru,0.5]; got [{','.join(options)}]"
        )
    if facts is None:
        raise ValueError("an eviction keeps a share of the facts: expected their number")
    return Eviction(by[0], max(1, round(shares[0] * facts)))
