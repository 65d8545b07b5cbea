"""The page of the exam is in step with the exam."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from memrot import registry, suite, syllabus
from running import inside

PAGE = Path(__file__).parent.parent / "docs" / "scenarios.md"


@pytest.fixture(scope="module")
def sections() -> dict[str, str]:
    """Scenario -> its section, as the command prints it."""
    _, *parts = inside("scenarios", "--markdown").stdout.split("\n## ")
    return {name: text for name, _, text in (part.partition("\n") for part in parts)}


def rows(table: str) -> dict[str, str]:
    """First cell -> last cell of every row of a section's tables."""
    cells = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("|")]
    return {row[0].strip(): row[-1].strip() for row in cells}


def test_the_published_page_is_what_the_command_prints() -> None:
    assert inside("scenarios", "--markdown").stdout == PAGE.read_text(), (
        "run: memrot scenarios --markdown > docs/scenarios.md"
    )


def test_every_scenario_has_its_section(sections: dict[str, str]) -> None:
    assert list(sections) == list(registry.found("scenarios"))


@pytest.mark.parametrize("name", suite.SCENARIOS)
def test_a_section_counts_what_the_timeline_holds(name: str, sections: dict[str, str]) -> None:
    scenario = registry.scenario(name)
    exam = scenario.generate(syllabus.SEED)
    counted = rows(sections[name])
    for tests, count in Counter(probe.tests for probe in exam.probes).items():
        assert counted[tests] == str(count)
    added = sum(type(event).__name__ == "FactAdded" for event in exam.events)
    assert counted["fact_added"] == str(added)
    for paragraph in syllabus.paragraphs(scenario.doc):
        assert paragraph in sections[name]


def test_the_overview_says_where_a_scenario_is_asked() -> None:
    overview = rows(syllabus.page().split("\n## ")[0])
    assert overview["project/reorg"].startswith("smoke, default, full")
    assert overview["project/tenancy"] == "full"
