"""The command line: thin, and quick to answer ``--help``; commands import what they need when run."""

from __future__ import annotations

import signal
import sys
from typing import Any, NoReturn

import typer

from memrot.cli import exits
from memrot.cli.adapters import adapters
from memrot.cli.bounds import bounds
from memrot.cli.compare import ablate, compare
from memrot.cli.exam import scenarios, timeline
from memrot.cli.extractor import serve_extractor
from memrot.cli.publish import cite, publish, verify
from memrot.cli.retention import retention
from memrot.cli.revalidate import revalidate
from memrot.cli.run import run
from memrot.cli.show import diagnose, explain, leaderboard, score
from memrot.errors import BadInput, Unavailable
from memrot.redact import redacted

app = typer.Typer(
    name="memrot",
    help="Measure how an AI memory rots: replay changing facts over backends, compare what comes back.",
    epilog=exits.HELP,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command("run", epilog=exits.HELP)(run)
app.command("leaderboard")(leaderboard)
app.command("diagnose")(diagnose)
app.command("explain")(explain)
app.command("score")(score)
app.command("revalidate")(revalidate)
app.command("compare", epilog=exits.HELP)(compare)
app.command("ablate")(ablate)
app.command("publish")(publish)
app.command("verify", epilog=exits.HELP)(verify)
app.command("cite")(cite)
app.add_typer(adapters, name="adapters")
app.command("scenarios")(scenarios)
app.command("bounds")(bounds)
app.command("serve-extractor")(serve_extractor)
app.add_typer(timeline, name="timeline")
app.add_typer(retention, name="retention")


def main() -> None:
    """The entry point: what a person can put right is one line on standard error, never a traceback."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        code = app(prog_name="memrot", standalone_mode=False)
    except BadInput as error:
        _stop(f"error: {error}", exits.BAD_INPUT)
    except Unavailable as error:
        _stop(f"error: {redacted(str(error))}", exits.MISSING)
    except (KeyboardInterrupt, typer.Abort):
        _stop("interrupted", exits.INTERRUPTED)
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        _stop(_misused(error), exits.BAD_INPUT)
    sys.exit(code or exits.OK)


def _misused(error: Any) -> str:
    """One line for a wrong command line; the help where nothing was asked."""
    message: str = error.format_message()
    if message.startswith("Usage:"):
        return message
    command = getattr(error.ctx, "command_path", "memrot")
    return f"error: {command}: {' '.join(message.split())}"


def _stop(line: str, code: int) -> NoReturn:
    typer.echo(line, err=True)
    sys.exit(code)
