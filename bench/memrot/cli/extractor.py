"""``memrot serve-extractor``: the scripted extractor, until it is interrupted."""

from __future__ import annotations

from typing import Annotated

import typer
from typer import Option

from memrot.errors import BadInput


def serve_extractor(
    port: Annotated[int, Option(metavar="PORT", help="On 127.0.0.1; 0 takes a free one.")] = 0,
) -> None:
    """Serve an extractor that repeats what was said word for word, for mem0/infer without a model."""
    from memrot import extractor

    try:
        listening = extractor.server(port)
    except (OSError, OverflowError) as error:
        raise BadInput(f"--port: {error}") from None
    with listening:
        typer.echo(f"{extractor.MODEL} at {extractor.address(listening)}, until interrupted. For example:")
        typer.echo(f"memrot run --stack mem0/infer --llm-base-url {extractor.address(listening)}")
        listening.serve_forever()
