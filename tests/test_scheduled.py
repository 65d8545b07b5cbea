"""The nightly job of docs/scheduled.md, as it stands there, on a server with somebody else's data in it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from faults.servers import PASSWORD, Redis
from memrot.cli import exits

PAGE = Path(__file__).parent.parent / "docs" / "scheduled.md"


def test_the_nightly_job(tmp_path: Path) -> None:
    [script] = re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (tmp_path / "nightly").write_text(script)
    (tmp_path / "server").mkdir()
    server = Redis(tmp_path / "server")
    theirs = server.held()

    def night(day: str) -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        return subprocess.run(
            ["sh", "nightly", day], cwd=tmp_path, capture_output=True, text=True, check=False,
            env={**os.environ, "PATH": path, "MEMROT_REDIS_URL": server.url(server.port)},
        )  # fmt: skip

    try:
        first, second = night("2026-01-01"), night("2026-01-02")
        assert server.held() == theirs
    finally:
        server.kill()
    third = night("2026-01-03")
    assert [first.returncode, second.returncode, third.returncode] == [exits.OK, exits.OK, exits.MISSING]
    assert "redis[server]+all" in second.stdout.partition("Kept in")[2], (
        "the comparison with the night before"
    )
    gauges = {
        family.name for family in text_string_to_metric_families((tmp_path / "memory.prom").read_text())
    }
    assert {"memory_consistency", "memory_coverage"} <= gauges
    for said in (first, second, third):
        assert PASSWORD not in said.stdout + said.stderr
