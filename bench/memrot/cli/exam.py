"""``memrot scenarios`` and ``memrot timeline``: the exam, looked at from outside."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from memrot.timeline import Timeline

timeline = typer.Typer(
    help="Generate, validate and show timelines.", no_args_is_help=True, rich_markup_mode=None
)

File = Annotated[Path, typer.Argument(help="A .timeline.jsonl or .timeline.jsonl.gz file.", metavar="FILE")]


def scenarios(
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print a page: also what each asks, and how big it is.")
    ] = False,
) -> None:
    """List the scenarios: id, revision, and the failure that each provokes."""
    import textwrap

    from memrot import registry, syllabus

    if markdown:
        typer.echo(syllabus.page())
        return
    for name in registry.found("scenarios"):
        scenario = registry.scenario(name)
        typer.echo(f"{scenario.id}  revision {scenario.revision}")
        for paragraph in syllabus.paragraphs(scenario.doc):
            typer.echo(textwrap.fill(paragraph, 98, initial_indent="  ", subsequent_indent="  "))
        typer.echo()


@timeline.command()
def generate(
    scenario: Annotated[str, typer.Argument(help="A scenario's id; 'reorg' is short for 'project/reorg'.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Where to write it; .gz compresses.")],
    seed: Annotated[
        int, typer.Option("--seed", help="The same seed gives the same timeline on any machine.")
    ] = 1,
    size: Annotated[
        str, typer.Option("--size", help="smoke, default, or a number of events from 1000.")
    ] = "default",
) -> None:
    """Generate a scenario's timeline."""
    from memrot import registry

    exam = registry.scenario(scenario).generate(seed, size)
    exam.write(out)
    typer.echo(_described(exam))


@timeline.command()
def validate(file: File) -> None:
    """Check a timeline against the format; warn of probes that leak."""
    from memrot.timeline import read
    from memrot.truth import GroundTruth, leaking_probes

    exam = read(file)
    for probe in leaking_probes(exam, GroundTruth.of(exam)):
        typer.echo(
            f"warning: {file}: probe {probe!r} is asked though its key has no fact left (or never had one)",
            err=True,
        )
    typer.echo(_described(exam))


@timeline.command()
def show(file: File) -> None:
    """Show what became true and false, when, and why."""
    from memrot.explain import Case
    from memrot.timeline import read

    exam = read(file)
    case = Case(exam)
    truth = case.truth
    typer.echo(_described(exam))
    begins: dict[int, list[int]] = {}
    ends: dict[int, list[int]] = {}
    for f in range(len(truth.facts)):
        begins.setdefault(int(truth.begins[f]), []).append(f)
        if truth.begins[f] < truth.ends[f]:
            ends.setdefault(int(truth.ends[f]), []).append(f)
    for stage in exam.stages:
        changes = [("-", f) for f in ends.get(stage.index, ())] + [
            ("+", f) for f in begins.get(stage.index, ())
        ]
        if not changes:
            continue
        typer.echo(f"\n{case.when(stage.index)}  seq {stage.seq}")
        for sign, f in changes:
            silent = "" if truth.told[f] or sign == "-" else "  [never announced]"
            typer.echo(f"  {sign} {truth.fact_ids[f]}  {truth.facts[f].text}{silent}")
            if sign == "-":
                typer.echo(f"      {case.end(f, stage.index)}")


def _described(exam: Timeline) -> str:
    header = exam.header
    return (
        f"{header.id} revision {header.revision} seed {header.seed}: {len(exam.events)} events, "
        f"{len(exam.stages)} stages, {len(exam.facts)} facts, {len(exam.probes)} probes, "
        f"digest {exam.digest[:12]}"
    )
