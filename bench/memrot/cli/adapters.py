"""``memrot adapters``: which backends can be examined here, and how."""

from __future__ import annotations

import typer


def adapters() -> None:
    """List the adapters: installed or what to install, versions, and what they are."""
    from tabulate import tabulate

    from memrot import registry

    rows = []
    for name, point in registry.found("adapters").items():
        packages = registry.packages(name)
        versions = ", ".join(f"{package} {version}" for package, version in packages.items())
        status = versions or "built in" if registry.installed(name) else registry.advice(point)
        rows.append([name, status, registry.about(name)])
    typer.echo(tabulate(rows, ["adapter", "installed", "about"], maxcolwidths=[None, 30, 60]))
    typer.echo(
        "\nLayers over any of them: ttl, ttl[hard], ttl[x0.5] (lifetimes times 0.5), supersession,\n"
        "propagation, all (these three), overwrite. A stack is an adapter with options and layers,\n"
        "for example chroma, qdrant+all, redis[mode=plain]+ttl[hard]+supersession."
    )
