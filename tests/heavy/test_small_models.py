"""What the small models are made from."""

from importlib import import_module
from itertools import islice

import pytest

from annotation.simulation.demonstration import BENCHMARK
from tests.heavy.small_t5 import rows

pytestmark = pytest.mark.models

# As many questions as the demonstration's model is made from: 4,000 for its vocabulary, 16 and 24 a
# step.
QUESTIONS = 4_000 + 3_000 * 16 + 2_500 * 24


def test_no_text_of_the_demonstration_is_generated() -> None:
    generated = import_module("tests.small_models").Generated(1)
    pairs, triples = generated.pairs(), generated.triples()
    texts = {text for text, _answer in islice(pairs, QUESTIONS)}
    texts |= {text for text, _answer in islice(triples, QUESTIONS)}
    everything = "\n".join(texts)
    checked = 0
    for file in BENCHMARK.glob("*/*.jsonl"):
        for row in rows(file):
            context = row["context"]
            for text in [context] if isinstance(context, str) else context:
                assert text not in everything
                checked += 1
    assert checked > 1_000
