"""A package with an adapter that works as it stands, to begin one's own from: ``memrot adapters new``.

What it holds are the files beside this module (a folder a kind), with some words filled in:
``$name`` (in stack names), ``$module`` (the package's module), ``$title`` (its class).
"""

from __future__ import annotations

import re
import shutil
import tempfile
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from pathlib import Path
from string import Template

from memrot import registry
from memrot.errors import BadInput
from memrot.lines import refuse_unwritable

KINDS = ("store", "memory")

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_SUFFIX = ".tmpl"


def write(name: str, kind: str, folder: Path) -> list[Path]:
    """Write the package to ``folder``, all of it or nothing; returns its files.

    Raises BadInput for a name that cannot be used, or is used, and where ``folder`` is there already.
    """
    if not _NAME.fullmatch(name):
        raise BadInput(f"expected a name of small letters, digits and single dashes, got {name!r}")
    if name in registry.examinees():
        raise BadInput(f"there is an adapter {name!r} already: two of one name cannot be on a leaderboard")
    if folder.exists() or folder.is_symlink():
        raise BadInput(f"{folder} is there already; nothing was written")
    module = f"memrot_{name.replace('-', '_')}"
    if find_spec(module) is not None:
        raise BadInput(f"there is a package {module} already: choose another name than {name!r}")
    words = {
        "name": name,
        "module": module,
        "title": "".join(part.capitalize() for part in name.split("-")),
        "version": version("memrot"),
    }
    texts = {
        path.replace("MODULE", module): Template(text).substitute(words)
        for path, text in _templates(files(__name__) / kind)
    }
    refuse_unwritable(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        whole = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror}", file=str(folder)) from None
    try:
        for path, text in texts.items():
            (whole / path).parent.mkdir(parents=True, exist_ok=True)
            (whole / path).write_text(text, encoding="utf-8")
        whole.chmod(0o755)
        whole.rename(folder)
    except BaseException:
        shutil.rmtree(whole, ignore_errors=True)
        raise
    return sorted(folder / path for path in texts)


def _templates(part: Traversable, prefix: str = "") -> list[tuple[str, str]]:
    """Path within the package -> text, of the templates in a folder and below it."""
    found: list[tuple[str, str]] = []
    for each in part.iterdir():
        if each.is_dir():
            found += _templates(each, f"{prefix}{each.name}/")
        elif each.name.endswith(_SUFFIX):
            found.append((prefix + each.name.removesuffix(_SUFFIX), each.read_text(encoding="utf-8")))
    return found
