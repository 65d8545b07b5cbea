"""Two projects share one store, and their names look alike.

Provokes: what changes in one project changes in the other. In life one index serves several tenants;
"atlas" is the beginning of "atlas-eu", so that a search by prefix finds both, and a name that was
pasted from a document has a Cyrillic letter or full-width digits in it, so that whoever folds names
before comparing them takes two subjects for one. The twin's fact is then ended with the other's, or
given in its place.

The opposite failure: tenants are kept apart so well that a change is not applied to the twin that it
names, or an answer is lost because its name looks odd.
"""

from __future__ import annotations

from collections.abc import Sequence

from memrot.model import Key, Reason, Tests
from memrot_scenarios.area import Area
from memrot_scenarios.stories import Line, Story, background, pages, quiet, silently, within, writing
from memrot_scenarios.world import Scenario

_LOOK_ALIKE = str.maketrans(
    {"a": "\u0430", "c": "\u0441", "e": "\u0435", "o": "\u043e", "p": "\u0440", "i": "\u0456"}
)
"""Latin letters -> Cyrillic ones of the same shape; no Unicode normal form joins them."""
_FULL_WIDTH = str.maketrans({digit: chr(0xFF10 + int(digit)) for digit in "0123456789"})
"""ASCII digits -> full-width ones; NFC keeps them apart, NFKC does not."""
_REASONS: tuple[Reason, ...] = ("dropped", "obsolete", "reorganised")


def twins(services: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of subjects that are not to be confused: by prefix, by look-alike letters, by digits."""
    one, two, three, four = services[:4]
    return [
        (f"atlas/{one}", f"atlas-eu/{one}"),
        (f"atlas/{two}", f"atlas-eu/{two}"),
        (f"atlas/{three}", f"atlas/{three}".translate(_LOOK_ALIKE)),
        (f"atlas/{four}-2024", f"atlas/{four}-2024".translate(_FULL_WIDTH)),
    ]


def _script(area: Area) -> list[Story]:
    pairs = twins(area.services)
    changing, staying = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    spare = area.services[-1]
    revised = [
        (changing[0], "owner"), (changing[1], "database"), (changing[2], "region"), (changing[3], "latency"),
        (staying[0], "image"), (staying[2], "oncall"), (changing[3], "oncall"), (staying[1], "latency"),
    ]  # fmt: skip
    dropped = [(changing[0], "quota"), (staying[1], "quota"), (changing[2], "quota"), (changing[3], "quota")]
    watched = [
        (staying[0], "owner"), (staying[1], "database"), (staying[2], "region"), (staying[3], "latency"),
        (changing[0], "image"), (changing[2], "oncall"),
    ]  # fmt: skip
    outlived = [(staying[0], "quota"), (changing[1], "quota"), (staying[2], "quota"), (staying[3], "quota")]
    drifting = [
        *revised, (staying[0], "oncall"), (changing[1], "oncall"), (spare, "owner"), (spare, "image"),
        (staying[1], "owner"), (changing[0], "region"), (changing[1], "image"), (staying[2], "latency"),
        (staying[3], "oncall"), (spare, "oncall"), (changing[3], "region"), (staying[0], "latency"),
    ]  # fmt: skip
    if area.small:
        revised, watched = revised[:5], watched[:4]
    asked: dict[Key, Tests] = {
        **dict.fromkeys((*watched, *outlived), "tenancy"),
        **dict.fromkeys(revised, "revision"),
        **dict.fromkeys(dropped, "abstention"),
        **dict.fromkeys([(staying[1], "region"), (staying[3], "owner"), (spare, "database")], "preservation"),
    }
    usual = ("owner", "oncall", "database", "region", "image", "latency", "quota")
    lines = {
        subject: [Line(name) for name in usual]
        for subject in (*(twin for pair in pairs for twin in pair), spare)
    }
    return [
        writing(area, pages(lines, asked)),
        quiet(area, 7 if area.small else 10),
        *(_dropped(area, key, n / len(dropped)) for n, key in enumerate(dropped)),
        silently(area, (staying[3], "image"), 0.4, 0.6),
        *background(area, drifting, 36 if area.small else 54),
    ]


def _dropped(area: Area, key: Key, share: float) -> Story:
    """One twin loses what the other keeps: "I don't know" is right for one of them only."""
    yield within(area, 0.08 + 0.75 * share, 0.2 + 0.75 * share)
    if (old := area.now(*key)) is not None:
        area.drop(old, area.rng.choice(_REASONS))


SCENARIO = Scenario(id="project/tenancy", revision=1, doc=__doc__ or "", script=_script)
