"""``memrot bounds``: from when to when a sentence says that it holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memrot.errors import BadInput


def bounds(
    sentence: Annotated[str | None, typer.Argument(help="What somebody wrote.", metavar="[SENTENCE]")] = None,
    at: Annotated[
        str | None, typer.Option(help="When: an instant such as 2026-03-18T10:00:00Z.", metavar="INSTANT")
    ] = None,
    zone: Annotated[str, typer.Option(help="Where: a time zone such as Europe/Lisbon.")] = "UTC",
    table: Annotated[
        list[Path] | None,
        typer.Option(help="Score a table of sentences with the right answers instead; repeatable."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the scores as a Markdown page.")] = None,
) -> None:
    """Extract the temporal bounds that a sentence states, or score the extraction."""
    if table:
        if sentence is not None:
            raise BadInput("expected a SENTENCE or --table, got both")
        _score(table, out)
    elif out is not None:
        raise BadInput("--out: expected --table, whose scores it takes")
    elif sentence is None or at is None:
        raise BadInput("expected a SENTENCE with --at INSTANT, or --table FILE")
    else:
        _extract(sentence, at, zone)


def _extract(sentence: str, at: str, zone: str) -> None:
    from memrot.bounds import extract, named_zone
    from memrot.bounds.zones import local
    from memrot.lines import format_instant, parse_instant

    try:
        written = parse_instant(at)
    except ValueError as error:
        raise BadInput(f"--at: {error}") from None
    there = named_zone(zone)
    found = extract(sentence, written, there)
    if found.flag is not None:
        typer.echo(f"flagged     {found.flag}")
    for name, instant in (("valid_from", found.valid_from), ("valid_to", found.valid_to)):
        shown = (
            "-"
            if instant is None
            else f"{format_instant(instant)}  {local(instant, there):%a %d %b %Y %H:%M}"
        )
        typer.echo(f"{name:<10}  {shown}")


def _score(files: list[Path], out: Path | None) -> None:
    from tabulate import tabulate

    from memrot.bounds import table as scored
    from memrot.bounds.libraries import CHOSEN, NAMES, installed, library
    from memrot.bounds.page import page
    from memrot.lines import write_lines

    names = [name for name in NAMES if name == CHOSEN or installed(name)]
    libraries = [library(name) for name in names]
    read = [(file.name, scored.read(file)) for file in files]
    tables = [(name, each.note, scored.columns(each.sentences, libraries)) for name, each in read]
    if out is None:
        for file, _, found in tables:
            headings, cells = scored.rows(found)
            typer.echo(f"{file}\n{tabulate(cells, headings, disable_numparse=True)}\n")
        return
    given = " ".join(f"--table {file.as_posix()}" for file in files)
    text = page(f"memrot bounds {given} --out {out.as_posix()}", tables, names)
    write_lines(out, text.rstrip("\n").split("\n"))
    typer.echo(f"wrote {out}")
