"""``memrot adapters``: which backends can be examined here, and how."""

from __future__ import annotations

import typer


def adapters() -> None:
    """List adapters and whole memories: installed or what to install, versions, and what they are."""
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
    typer.echo(
        "\nA memory is measured as it is. Layers over any store: ttl, ttl[hard], ttl[x0.5] (lifetimes\n"
        "times 0.5), supersession, propagation, all (these three), overwrite. A stack is a memory, or an\n"
        "adapter with options and layers: redis/native, qdrant+all, redis[mode=plain]+ttl[hard]."
    )
