"""A namespace that holds vectors of another dimension: one clear error, and what it holds stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from memrot import registry
from memrot.embed.hashing import Hashing
from memrot.errors import Unavailable
from memrot.memory import Place
from memrot.model import Question, introduces
from memrot.stack import LayeredMemory
from running import tiny

TOLD = [event for stage in tiny().stages[:3] for event in stage.announced()]


class Narrow(Hashing):
    """The first few dimensions, at unit length again."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.wide, self.dim, self.name = self.dim, dim, f"narrow-{dim}"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        narrow, self.dim = self.dim, self.wide
        vectors = super().embed(texts)[:, :narrow] + 0.01
        self.dim = narrow
        unit: NDArray[np.float32] = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(
            np.float32
        )
        return unit


@pytest.mark.parametrize("name", registry.found("adapters"))
def test_another_dimension_is_refused(name: str, tmp_path: Path) -> None:
    if not registry.installed(name):
        pytest.skip(f"{name} is not installed")

    def opened(dim: int) -> LayeredMemory:
        place = Place("memrotdimension", tmp_path, dim, 10)
        return LayeredMemory(lambda: registry.adapter(name)(place, {}), [], Narrow(dim))

    try:
        memory = opened(8)
    except Unavailable as error:
        pytest.skip(f"{name}: {error}")
    memory.apply(TOLD, TOLD[-1].at)
    memory.close()
    if not memory.info.persists:
        pytest.skip(f"{name} keeps nothing that another could find")
    with pytest.raises(Exception, match=r"dim|shape|size") as refused:
        opened(16)
    assert len(str(refused.value).splitlines()) == 1
    again = opened(8)
    for event in TOLD:
        fact = introduces(event)
        assert fact is not None
        (answer,) = again.answer([Question(fact.text, k=len(TOLD))], TOLD[-1].at)
        assert answer.hits[0].fact == fact.id
        assert len(answer.hits) == len(TOLD)
    again.drop()
    again.close()
