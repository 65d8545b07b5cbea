"""Writes the README's generated blocks: what stands between two markers is a command's output.

    python tests/readme.py            after publishing a new results/<release>

A test holds every block to its command.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
BLOCK = re.compile(r"<!-- generated: (?P<command>[^>]*) -->\n(?P<text>.*?)<!-- end -->", re.DOTALL)


def output(command: str) -> str:
    """What ``memrot ...`` prints, fenced unless it is Markdown."""
    program, *arguments = command.split()
    assert program == "memrot"
    done = subprocess.run(
        [sys.executable, "-m", "memrot.cli", *arguments],
        cwd=ROOT, check=True, capture_output=True, text=True, env={"PATH": "", "COLUMNS": "100", "HOME": str(ROOT)},
    )  # fmt: skip
    text = done.stdout.strip()
    return f"\n{text}\n\n" if "markdown" in arguments else f"\n```\n{text}\n```\n\n"


def generated(readme: str) -> str:
    """The README with every block as its command prints it today."""
    return BLOCK.sub(
        lambda block: f"<!-- generated: {block['command']} -->\n{output(block['command'])}<!-- end -->",
        readme,
    )


if __name__ == "__main__":
    README.write_text(generated(README.read_text()))
