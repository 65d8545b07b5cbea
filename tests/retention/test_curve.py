"""Figures: what they hold, and where a policy stands to a curve."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from memrot.layers.policy import DEFAULT
from memrot.retention.beliefs import beliefs
from memrot.retention.curve import DAYS, Point, Standing, decays, figure, one_ttl, outlived_rate, standing
from memrot.retention.svg import Panel, Series, drawn
from memrot.stats import Rate
from retention.synthetic import silent

SVG = "{http://www.w3.org/2000/svg}"


def point(
    name: str, worse: int, untrue: int, *, days: int | None = None, spoiled: int = 0, of: int = 1000
) -> Point:
    return Point(name, days, Rate(worse, of), Rate(untrue, of), Rate(untrue, of), Rate(spoiled or worse, of))


CURVE = [
    point(f"{days}", worse, untrue, days=days)
    for days, worse, untrue in ((1, 800, 0), (90, 400, 50), (365, 100, 150), (3650, 0, 300))
]


@pytest.mark.parametrize(
    ("worse", "untrue", "where"),
    [
        (100, 50, "beyond"),
        (100, 149, "on"),
        (100, 200, "short of"),
        (10, 150, "beyond"),
        (600, 1, "beyond"),
        (600, 80, "short of"),
        (950, 5, "outside"),
    ],
)
def test_standing(worse: int, untrue: int, where: Standing) -> None:
    assert standing(point("p", worse, untrue), CURVE) == where


def test_hedging_can_be_counted() -> None:
    hedging = point("p", 0, 150, spoiled=500)
    assert standing(hedging, CURVE) == "beyond"
    assert standing(hedging, CURVE, "spoiled") == "short of"


def test_too_few_conversations_tell_nothing() -> None:
    assert standing(point("p", 1, 1, of=10), CURVE) == "on"
    assert standing(point("p", 0, 0, of=0), CURVE) == "outside"


def test_the_second_test_of_one_ttl() -> None:
    known = beliefs(silent({"tech": (100, 1), "preference": (20_000, 1)}, 100))
    rates = [outlived_rate(known, one_ttl(days, known)).value for days in (1, 30, 400)]
    assert rates == sorted(rate for rate in rates if rate is not None)
    assert outlived_rate(known, one_ttl(DAYS[-1], known)) == Rate(0, 0)
    assert set(one_ttl(9, known).classes) == {"tech", "preference"}


def shapes(svg: str, tag: str) -> list[ET.Element]:
    return list(ET.fromstring(svg).iter(SVG + tag))


def test_the_figure_draws_every_point_of_the_dial_and_every_policy_with_its_intervals() -> None:
    policies = [point("half-lives <1>", 50, 80), point("Weibull", 30, 60)]
    svg = figure(CURVE, CURVE[:2], policies)
    lines = [element.attrib["points"].split() for element in shapes(svg, "polyline")]
    assert [len(line) for line in lines] == [4, 2] * 3
    texts = [element.text for element in shapes(svg, "text")]
    assert texts.count("half-lives <1>") == 3
    assert {"1 d", "90 d", "365 d", "3650 d"} <= set(texts)
    colour = "#1d4ed8"
    crosses = [element for element in shapes(svg, "line") if element.attrib["stroke"] == colour]
    assert len(crosses) == 2 * 3
    across = crosses[0].attrib
    assert float(across["x2"]) - float(across["x1"]) == pytest.approx(384 * 0.0273, abs=0.5)


def test_places_are_to_scale() -> None:
    series = Series(name="s", points=[(0, 0), (5, 50), (10, 100), (20, 50)], line=True)
    svg = drawn([Panel(title="t", x="x", y="y", x_max=10, y_max=100, series=[series], levels=[(50, "half")])])
    (line,) = shapes(svg, "polyline")
    (left, bottom), middle, (right, top), beyond = (
        tuple(map(float, at.split(","))) for at in line.attrib["points"].split()
    )
    assert middle == ((left + right) / 2, (bottom + top) / 2)
    assert beyond == (right, middle[1])
    (half,) = (element for element in shapes(svg, "line") if "stroke-dasharray" in element.attrib)
    assert float(half.attrib["y1"]) == middle[1]


def test_decay_curves_of_all_classes_that_fade() -> None:
    svg = decays(DEFAULT, 0.91)
    fading = [name for name, each in DEFAULT.classes.items() if each.half_life_days]
    assert len(shapes(svg, "polyline")) == len(fading) == 7
    assert set(fading) <= {element.text for element in shapes(svg, "text")}
