"""``memrot revalidate``: how far a memory lags behind quantities that drift."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from memrot.errors import BadInput

if TYPE_CHECKING:
    from memrot.readings import Readings

Format = Literal["table", "markdown", "json"]


def revalidate(  # noqa: PLR0917 - an option each
    readings: Annotated[str, typer.Argument(help="A .readings.jsonl file, or 'gradual': generated ones.")],
    seed: Annotated[int, typer.Option(help="Of generated readings.")] = 1,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="POLICY", help="never, every:DAYS, beyond, beyond:READINGS, always; repeatable."
        ),
    ] = None,
    beliefs: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="What a memory of yours said over time; repeatable."),
    ] = None,
    propose: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write what the only policy proposes, as a timeline.")
    ] = None,
    write: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the readings.")] = None,
    shape: Annotated[Format, typer.Option("--format", help="How to print the table.")] = "table",
) -> None:
    """Measure how well revalidation keeps up with drift, and how much of it runs after noise."""
    from memrot import readings as files
    from memrot import revalidate as pipeline

    found = _readings(readings, seed)
    if write is not None:
        files.write(write, found)
    asked = policy or ([] if beliefs else list(pipeline.POLICIES))
    rows = {name: pipeline.follow(name, found) for name in asked}
    rows |= {str(path): files.read_beliefs(path) for path in beliefs or ()}
    if propose is not None:
        if len(rows) != 1:
            raise BadInput("--propose needs exactly one --policy or --beliefs")
        (held,) = rows.values()
        pipeline.proposals(held, found).write(propose)
    typer.echo(pipeline.table({name: pipeline.measure(each, found) for name, each in rows.items()}, shape))


def _readings(name: str, seed: int) -> Readings:
    from memrot import readings, registry

    if name.endswith((".jsonl", ".jsonl.gz")):
        return readings.read(Path(name))
    source = registry.readings(name)
    header = readings.Header(
        type="readings", id=source.id, seed=seed, note=f"revision {source.revision}, generated"
    )
    return readings.Readings(header, readings.by_key(source.generate(seed)))
