"""Writes the generated blocks of pages: what stands between two markers is a command's output.

    python tests/blocks.py            after publishing a new results/<release>

A test holds every block to its command.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PAGES = (README, ROOT / "docs" / "native.md")
BLOCK = re.compile(
    r"<!-- generated: (?P<command>memrot [^>]*?)(?:, paragraphs (?P<first>\d+) to (?P<last>\d+))? -->\n"
    r"(?P<text>.*?)<!-- end -->",
    re.DOTALL,
)


def output(block: re.Match[str]) -> str:
    """What a block's command prints: Markdown as it is, anything else fenced."""
    arguments = block["command"].split()[1:]
    done = subprocess.run(
        [sys.executable, "-c", "from memrot.cli import main; main()", *arguments],
        cwd=ROOT, check=True, capture_output=True, text=True, env={"COLUMNS": "100"},
    )  # fmt: skip
    paragraphs = done.stdout.strip().split("\n\n")
    first, last = int(block["first"] or 1), int(block["last"] or len(paragraphs))
    text = "\n\n".join(paragraphs[first - 1 : last])
    return f"\n{text.replace('## ', '### ')}\n\n" if "markdown" in arguments else f"\n```\n{text}\n```\n\n"


def generated(page: str) -> str:
    """A page with every block as its command prints it today."""
    return BLOCK.sub(
        lambda block: block[0].replace(block["text"] + "<!-- end -->", output(block) + "<!-- end -->"), page
    )


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(generated(path.read_text()))
