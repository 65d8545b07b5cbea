"""Retention policies as TOML files.

[bands]                     # optional
assert_from = 0.65
hedge_from = 0.33

[classes.slow_attribute]
half_life_days = 730        # or ttl_days, or neither; with shape = 0.6 a Weibull curve
action = "verify"           # or demote, archive, delete

[classes.regulated]         # required: its lifetime is imposed from outside
ttl_days = 365
action = "delete"
"""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from memrot.errors import BadInput
from memrot.layers.base import BANDS, Bands
from memrot.layers.policy import ACTIONS, DEFAULT, REGULATED, ClassPolicy, Policy


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    classes: dict[str, ClassPolicy]
    bands: Bands = BANDS


def read(path: Path) -> Policy:
    """Read and check a policy file; raises BadInput that names file, class and what was expected."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror or error}", file=str(path)) from None
    except UnicodeDecodeError as error:
        raise BadInput(f"expected TOML in UTF-8: {error}", file=str(path)) from None
    return parse(text, str(path))


def parse(text: str, file: str | None = None) -> Policy:
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"expected TOML: {error}", file=file) from None
    try:
        read_ = msgspec.convert(raw, _File)
    except msgspec.ValidationError as error:
        hint = f" (actions are {', '.join(ACTIONS)})" if "action" in str(error) else ""
        raise BadInput(f"{error}{hint}", file=file) from None
    classes = {name.lower(): policy for name, policy in read_.classes.items()}
    problems = [
        *(["two classes differ in their case only"] if len(classes) < len(read_.classes) else []),
        *_wrong_bands(read_.bands),
        *(f"class {name!r}: {what}" for name, policy in classes.items() for what in _wrong(policy)),
        *_wrong_regulated(classes.get(REGULATED)),
    ]
    if problems:
        raise BadInput(problems[0], file=file)
    return Policy(classes=classes, bands=read_.bands)


def _wrong_bands(bands: Bands) -> list[str]:
    if 0 < bands.hedge_from <= bands.assert_from <= 1:
        return []
    return [f"expected 0 < hedge_from <= assert_from <= 1, got {bands.hedge_from} and {bands.assert_from}"]


def _wrong(policy: ClassPolicy) -> list[str]:
    wrong = []
    half_life, ttl = policy.half_life_days, policy.ttl_days
    if half_life is not None and not 0 < half_life < math.inf:
        wrong.append(f"expected half_life_days above 0, got {half_life}")
    if ttl is not None and ttl < 0:
        wrong.append(f"expected ttl_days from 0 (the day of the last touch), got {ttl}")
    if half_life is not None and (ttl is not None or policy.stated_end):
        wrong.append("half_life_days stands alone: with ttl_days or stated_end a fact does not fade")
    if not 0 < policy.shape < math.inf or (policy.shape != 1 and half_life is None):
        wrong.append(f"expected a shape above 0, and with half_life_days, got {policy.shape}")
    if not 0 <= policy.grace_days < math.inf:
        wrong.append(f"expected grace_days from 0, got {policy.grace_days}")
    return wrong


def _wrong_regulated(policy: ClassPolicy | None) -> list[str]:
    expected = 'ttl_days and action = "delete", as they are imposed from outside'
    if policy is None:
        return [f"expected a class {REGULATED!r} with {expected}"]
    if policy.ttl_days is None or policy.stated_end or policy.action != "delete":
        return [f"class {REGULATED!r}: expected {expected}"]
    return []


def written(policy: Policy) -> str:
    """The file that ``parse`` reads back as the same policy."""
    lines = ["[bands]", *_pairs(msgspec.structs.asdict(policy.bands))]
    for name, each in policy.classes.items():
        lines += ["", f"[classes.{_key(name)}]"]
        lines += _pairs(
            {
                **msgspec.to_builtins(each),
                **({"action": each.action} if each.lifetime_days is not None else {}),
            }
        )
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    # TOML's strings are JSON's, but for this character
    return name if bare else msgspec.json.encode(name).decode().replace("\x7f", "\\u007f")


def _pairs(values: dict[str, Any]) -> list[str]:
    return [f"{name} = {msgspec.json.encode(value).decode()}" for name, value in values.items()]


def table(policy: Policy) -> list[list[str]]:
    """A row a class: lifetime, action, and the ages at which a certain fact is hedged and withheld."""
    return [
        [
            name,
            _lifetime(each),
            each.action if each.lifetime_days is not None else "-",
            *_ages(each, policy.bands),
        ]
        for name, each in policy.classes.items()
    ]


TABLE = ("class", "lifetime", "then", "hedged from day", "withheld from day")


def _lifetime(policy: ClassPolicy) -> str:
    if policy.stated_end:
        grace = f" + {policy.grace_days:g} d" if policy.grace_days else ""
        return f"stated end{grace}; {policy.ttl} d where none is stated"
    if policy.ttl is not None:
        return f"{policy.ttl} d since the last touch"
    if policy.half_life_days is None:
        return "no expiry"
    curve = f", Weibull shape {policy.shape:g}" if policy.shape != 1 else ""
    return f"half-life {policy.half_life_days:g} d{curve}"


def _ages(policy: ClassPolicy, bands: Bands) -> tuple[str, str]:
    if policy.ttl is not None:
        return ("-", f"{policy.ttl + 1}")
    half_life = policy.half_life_days
    if half_life is None:
        return ("-", "-")
    hedged, withheld = (
        f"{half_life * (-math.log2(confidence)) ** (1 / policy.shape):.0f}"
        for confidence in (bands.assert_from, bands.hedge_from)
    )
    return (hedged, withheld)


__all__ = ["DEFAULT", "TABLE", "parse", "read", "table", "written"]
