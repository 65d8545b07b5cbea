"""The one grammar of stack names: an adapter, its options, and layers over it.

    chroma    chroma+overwrite    qdrant+ttl[hard]+supersession    redis[mode=plain]+all    qdrant[server]
    redis/native

A name is canonical when written: options sorted, layers in the order of ``LAYERS``, and the three
soft layers together as ``all``. So one stack has one name, and a name says the same on every
leaderboard. Names are published: an address or a secret is refused here, it belongs in the
environment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from msgspec import Struct

from memrot.errors import BadInput

LAYERS = ("ttl", "supersession", "propagation", "overwrite")
"""The order of layers in a name; others follow, sorted."""

ALL = ("ttl", "supersession", "propagation")
"""What ``all`` stands for."""

STACK_OPTIONS: Mapping[str, tuple[str, ...]] = {"swap": ("keep", "refuse", "reembed")}
"""Options of the stack itself, which no adapter sees, with their values; the first is the default, and
is left out of a name."""

_WORD = r"[a-z0-9][a-z0-9_.-]*"
_OPTION = rf"{_WORD}(?:=[A-Za-z0-9_.-]+)?"
_OPTIONS = rf"(?:\[({_OPTION}(?:,{_OPTION})*)\])?"
_ADAPTER = re.compile(rf"({_WORD}(?:/{_WORD})?){_OPTIONS}")
_LAYER = re.compile(rf"({_WORD}){_OPTIONS}")
_ADDRESS = re.compile(r"://|@|:\d")


class StackName(Struct, frozen=True, order=True):
    """Build one with ``parse`` or ``of``: both give the canonical form, so equal stacks are equal."""

    adapter: str
    options: tuple[tuple[str, str], ...] = ()
    """Sorted (key, value); a flag has the value ``""``."""
    layers: tuple[str, ...] = ()
    """Expanded (``all`` never stands here), each with its own options: ``ttl[hard]``."""

    @classmethod
    def of(
        cls, adapter: str, layers: Iterable[str] = (), options: Mapping[str, str] | None = None
    ) -> StackName:
        expanded = [part for layer in layers for part in (ALL if layer == "all" else (layer,))]
        defaults = {(option, values[0]) for option, values in STACK_OPTIONS.items()}
        return cls(
            adapter,
            tuple(sorted(set((options or {}).items()) - defaults)),
            tuple(sorted(expanded, key=_place)),
        )

    @property
    def adapter_options(self) -> dict[str, str]:
        """What the adapter is opened with."""
        return {option: value for option, value in self.options if option not in STACK_OPTIONS}

    @property
    def opened(self) -> StackName:
        """What is opened: the adapter with its own options."""
        return StackName.of(self.adapter, options=self.adapter_options)

    def option(self, name: str) -> str:
        """The value of one of ``STACK_OPTIONS``."""
        return dict(self.options).get(name, STACK_OPTIONS[name][0])

    @property
    def layer_set(self) -> str:
        """The layers as they are shown: ``bare``, ``all``, ``ttl[hard]+supersession``."""
        if not self.layers:
            return "bare"
        shown = self.layers
        if shown[: len(ALL)] == ALL:
            shown = ("all", *shown[len(ALL) :])
        return "+".join(shown)

    @property
    def base(self) -> str:
        """The adapter with its options, without layers."""
        return _spelled(self.adapter, dict(self.options))

    def __str__(self) -> str:
        return f"{self.base}+{self.layer_set}" if self.layers else self.base


def parse(text: str) -> StackName:
    """Read a name; raises BadInput where it is not one."""
    if _ADDRESS.search(text):
        raise BadInput(
            "an address or a secret must not stand in a stack's name: write for example qdrant[server] "
            "and set MEMROT_QDRANT_URL"
        )
    first, *others = text.split("+")
    adapter, options = _part(_ADAPTER, first, text)
    layers = [_part(_LAYER, other, text) for other in others]
    name = StackName.of(adapter, (_spelled(*layer) for layer in layers), options)
    plain = [layer.partition("[")[0] for layer in name.layers]
    if twice := {layer for layer in plain if plain.count(layer) > 1}:
        raise BadInput(f"stack {text!r} names the layer {min(twice)!r} twice")
    return name


def _part(pattern: re.Pattern[str], part: str, text: str) -> tuple[str, dict[str, str]]:
    match = pattern.fullmatch(part)
    if match is None:
        raise BadInput(
            f"stack {text!r}: expected NAME or NAME[OPTION,...] between the plus signs, got {part!r} "
            "(for example qdrant+ttl[hard]+supersession)"
        )
    pairs = [option.partition("=") for option in (match[2] or "").split(",") if option]
    options = {key: value for key, _, value in pairs}
    if len(options) < len(pairs):
        raise BadInput(f"stack {text!r} gives an option of {match[1]!r} twice")
    for name in STACK_OPTIONS.keys() & options.keys():
        if options[name] not in STACK_OPTIONS[name]:
            known = ", ".join(STACK_OPTIONS[name])
            raise BadInput(f"stack {text!r}: expected {name} to be one of {known}, got {options[name]!r}")
    return match[1], options


def _spelled(name: str, options: Mapping[str, str]) -> str:
    if not options:
        return name
    spelled = (f"{key}={value}" if value else key for key, value in sorted(options.items()))
    return f"{name}[{','.join(spelled)}]"


def _place(layer: str) -> tuple[int, str]:
    plain = layer.partition("[")[0]
    return (LAYERS.index(plain) if plain in LAYERS else len(LAYERS), layer)
