"""Layers: pure policies over a store, composed by a stack in the order in which they must run."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from memrot.errors import BadInput
from memrot.layers.base import Layer
from memrot.layers.overwrite import Overwrite
from memrot.layers.propagation import Propagation
from memrot.layers.succession import Succession
from memrot.layers.supersession import Supersession
from memrot.layers.ttl import TTL_DAYS, Ttl

ALL = ("ttl", "supersession", "propagation")
"""What ``all`` stands for."""

_ORDER = ("overwrite", "ttl", "propagation", "supersession")
"""The order in which layers run (tried against METRICS.md §1; supersession first disagrees).
``succession`` runs before ``supersession``, for it and for ``propagation``."""

_SPELLING = re.compile(r"([a-z]+)(?:\[([^\]]*)\])?")


def parse(names: Sequence[str], exclusive: Collection[str] = ()) -> tuple[Layer, ...]:
    """Layers from their names, in running order: ``ttl``, ``ttl[hard]``, ``ttl[x0.5]``,
    ``supersession``, ``propagation``, ``overwrite``, ``all``.

    ``exclusive``: the predicates that have one subject per value. Raises BadInput.
    """
    layers: dict[str, Layer] = {}
    for spelled in names:
        match = _SPELLING.fullmatch(spelled)
        name, options = (match[1], match[2]) if match else (spelled, None)
        for part in ALL if name == "all" and options is None else (name,):
            if part in layers:
                raise BadInput(f"layer {part!r} is named twice")
            layers[part] = _layer(part, options)
    ordered = [layers[name] for name in _ORDER if name in layers]
    if layers.keys() & {"supersession", "propagation"}:
        ordered.insert(len(ordered) - ("supersession" in layers), Succession(exclusive))
    return tuple(ordered)


def _layer(name: str, options: str | None) -> Layer:
    if name == "ttl":
        return _ttl(options)
    if name not in _ORDER:
        raise BadInput(f"unknown layer {name!r}: expected one of all, {', '.join(sorted(_ORDER))}")
    if options is not None:
        raise BadInput(f"layer {name!r} takes no options, got [{options}]")
    match name:
        case "supersession":
            return Supersession()
        case "propagation":
            return Propagation()
        case _:
            return Overwrite()


def _ttl(options: str | None) -> Ttl:
    hard, factor = False, 1.0
    for option in options.split(",") if options else ():
        if option == "hard":
            hard = True
        elif re.fullmatch(r"x\d+(\.\d+)?", option) and float(option[1:]) > 0:
            factor = float(option[1:])
        else:
            raise BadInput(
                f"unknown option {option!r} of layer 'ttl': expected 'hard' or a factor such as 'x0.5'"
            )
    return Ttl({domain: days * factor for domain, days in TTL_DAYS.items()}, hard=hard)
