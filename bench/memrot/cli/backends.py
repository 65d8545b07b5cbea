"""What ``memrot adapters --markdown`` opens: every adapter, each in a process of its own, for its page."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memrot import extractor, registry
from memrot.embed.cache import Cache, Recalled
from memrot.embed.hashing import Hashing
from memrot.leaderboard.backends import Row, page
from memrot.memory import Info, under_layers
from memrot.names import StackName
from memrot.run.elsewhere import Environments
from memrot.run.inspection import inspected
from memrot.run.pool import Pool
from memrot.run.worker import options


def written(jobs: int) -> str:
    """The page, of what is installed here."""
    names = list(registry.examinees())
    bases = [StackName.of(name) for name in names]
    embedder = Hashing()
    with Cache() as cache:
        recalled = Recalled.of(embedder, cache)
    with _by_default(), tempfile.TemporaryDirectory() as folder, Pool(jobs, Path(folder)) as pool:
        infos = inspected(bases, embedder, Environments(pool, {}, jobs, Path(folder)), Path(folder))
        tasks = [(name, Path(folder) / f"options{place}", recalled) for place, name in enumerate(names)]
        known = {names[place]: result for place, result in pool.run(options, tasks, lambda _: None)}
    rows = []
    for name, base in zip(names, bases, strict=True):
        info, memory = infos[base], registry.is_memory(name)
        if isinstance(info, Info):
            declared = info.capabilities if memory else under_layers(info)
        else:
            declared = registry.capabilities(name)
        rows.append(
            Row(
                name=name,
                memory=memory,
                family=registry.family(name),
                words=registry.described(name),
                install=registry.advice(registry.examinee(name)) if registry.packages(name) else "",
                info=info if isinstance(info, Info) else str(info),
                options=known[name] if isinstance(known[name], dict) else None,
                variables=registry.variables(name),
                capabilities=declared,
                differences=registry.differences(name),
            )
        )
    return page(rows)


@contextmanager
def _by_default() -> Iterator[None]:
    """No server of anybody's, and for what needs a language model the scripted one."""
    ours = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("MEMROT_")}
    with extractor.server(0) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        os.environ["MEMROT_LLM_URL"] = extractor.address(listening)
        try:
            yield
        finally:
            listening.shutdown()
            del os.environ["MEMROT_LLM_URL"]
            os.environ.update(ours)
