"""What the learner is made from."""

from itertools import islice

import pytest

from annotation.simulation.demonstration import BENCHMARK
from tests.generated_sentences import Generated, Words, made_up_words
from tests.heavy.commands import rows

pytestmark = pytest.mark.long

# As many questions as it is made from: 4,000 for its vocabulary, 16 and 24 a step.
QUESTIONS = (4_000 + 9_000 * 16, 5_000 * 24)


def test_no_text_of_the_demonstration_is_generated() -> None:
    everything = "\n".join(texts(made_up_words(), *QUESTIONS))
    checked = 0
    for file in BENCHMARK.glob("*/*.jsonl"):
        for row in rows(file):
            context = row["context"]
            for text in [context] if isinstance(context, str) else context:
                assert text not in everything
                checked += 1
    assert checked > 1_000


def test_the_learner_never_meets_the_words_of_the_demonstration() -> None:
    everything = "\n".join(texts(made_up_words(), 20_000, 20_000))
    for word in ("people names", "organizations", "locations"):
        assert word not in everything


def texts(words: Words, single: int, of_triples: int) -> set[str]:
    generated = Generated(1, words)
    asked = {text for text, _answer in islice(generated.pairs(), single)}
    return asked | {text for text, _answer in islice(generated.triples(), of_triples)}
