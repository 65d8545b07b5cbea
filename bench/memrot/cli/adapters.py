"""``memrot adapters``: which backends can be examined here, whether one keeps its promises, a new one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from memrot.cli import exits
from memrot.errors import BadInput, Unavailable, Unsupported, to_install

if TYPE_CHECKING:
    from memrot.testing.check import Verdict

adapters = typer.Typer(
    help="List what can be examined here; check or begin an adapter.",
    invoke_without_command=True,
    rich_markup_mode=None,
)

CHECK_HELP = """Exit codes: 0 every promise is kept, or declared never or not_yet with a reason (and then
really broken); 1 a promise is broken; 2 no such adapter; 4 it cannot be opened here, or pytest is missing."""


@adapters.callback()
def listing(
    context: typer.Context,
    markdown: Annotated[
        bool, Option("--markdown", help="Print a page: open each, and show all that it says of itself.")
    ] = False,
) -> None:
    """List adapters and whole memories: installed or what to install, versions, and what they are."""
    if context.invoked_subcommand is not None:
        return
    if markdown:
        from memrot.cli import backends

        typer.echo(backends.written(jobs=2))
        return
    from tabulate import tabulate

    from memrot import registry

    rows = []
    for name, point in registry.examinees().items():
        packages = registry.packages(name)
        versions = ", ".join(f"{package} {version}" for package, version in packages.items())
        status = versions or "built in" if registry.installed(name) else registry.advice(point)
        kind = "memory" if registry.is_memory(name) else "store"
        rows.append([name, kind, status, registry.about(name)])
    typer.echo(tabulate(rows, ["adapter", "kind", "installed", "about"], maxcolwidths=[None, None, 30, 60]))
    typer.echo(f"\n{_capabilities()}")
    typer.echo(
        "\nA memory is measured as it is. Layers over any store: ttl, ttl[hard], ttl[x0.5] (lifetimes\n"
        "times 0.5), supersession, propagation, all (these three), overwrite; against silence also\n"
        "ttl[days=90], retention, evict[0.5,lru], recency. A stack is a memory, or an adapter with options\n"
        "and layers: redis/native, qdrant+all, redis[mode=plain]+ttl[hard]. Where the embedder\n"
        "changes, swap=keep does nothing, swap=refuse refuses, swap=reembed embeds all again."
    )


def _capabilities() -> str:
    """What the installed ones declare that they do by themselves."""
    from memrot import registry
    from memrot.leaderboard import tables

    installed = [name for name in registry.examinees() if registry.installed(name)]
    declared = {name: registry.capabilities(name) for name in installed}
    return tables.capabilities({name: each for name, each in declared.items() if each}, "table")


@adapters.command("check", epilog=CHECK_HELP)
def check(
    name: Annotated[
        str, Argument(metavar="NAME", help="An adapter or a memory, with its options: redis[mode=plain].")
    ],
) -> None:
    """Run the conformance kit over what is installed: a verdict for each of its promises."""
    try:
        from memrot.testing import check as kit
    except ImportError as error:
        if error.name != "pytest":
            raise
        raise Unavailable(to_install("memrot", "testing")) from None

    examined = kit.examined(name)
    try:
        info = kit.introduce(examined)
    except Unsupported as error:
        raise Unavailable(f"{name} cannot be measured: {error}") from None
    typer.echo(f"{name}: {info.backend} {info.version}, {info.deployment}, clock {info.clock}\n")
    width = max(map(len, kit.promises(examined)))
    verdicts = kit.check(examined, lambda verdict: _tell(verdict, width))
    broken = [verdict for verdict in verdicts if verdict.outcome == "broken"]
    kept = sum(verdict.outcome == "kept" for verdict in verdicts)
    typer.echo(f"\n{kept} of {len(verdicts)} promises kept, {len(broken)} broken")
    if info.capabilities:
        typer.echo("\nWhat it says of itself, which scenarios measure:")
        for what, capability in info.capabilities.items():
            typer.echo(f"{what:{width}}  {capability.how}{'  ' if capability.why else ''}{capability.why}")
    if broken:
        typer.echo(f"\nThe first that is broken, {broken[0].promise}:\n{broken[0].evidence}", err=True)
        raise typer.Exit(exits.UNDER)


def _tell(verdict: Verdict, width: int) -> None:
    reason = f"  {verdict.reason}" if verdict.reason else ""
    typer.echo(f"{verdict.promise:{width}}  {verdict.outcome}{reason}")


@adapters.command("new")
def new(
    name: Annotated[str, Argument(metavar="NAME", help="What it is to be called in stack names: acme.")],
    kind: Annotated[
        str, Option(metavar="KIND", help="store (memrot adds layers), or memory (measured as it is).")
    ] = "store",
    to: Annotated[
        Path | None,
        Option("--to", metavar="DIR", help="A folder that is not there yet (default: memrot-NAME)."),
    ] = None,
) -> None:
    """Write a package with an adapter that works as it stands, and a README that says what to change."""
    from memrot import starter

    if kind not in starter.KINDS:
        raise BadInput(f"--kind: expected one of {', '.join(starter.KINDS)}, got {kind!r}")
    folder = to or Path(f"memrot-{name}")
    for path in starter.write(name, kind, folder):
        typer.echo(path)
    typer.echo(f"\nNext: pip install -e '{folder}[test]' && memrot adapters check {name}")
