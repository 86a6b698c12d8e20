"""A causal model that transformers reads, from a folder or by a hub's name."""

from collections.abc import Sequence
from threading import Lock

import torch
import transformers

from annotation.models.errors import Refusal
from scoring.asking.asked_runs import LOCAL, ModelSettings
from scoring.asking.ranking import Likelihoods, sum_of
from scoring.tuning.fitting import Source


class Folder:
    """Reads one prompt at a time."""

    trouble = ""

    def __init__(self, settings: ModelSettings) -> None:
        device = "cuda" if torch.cuda.is_available() else "cpu"
        source = Source(settings.model.removeprefix(LOCAL), None, device)
        self._tokenizer = source.tokenizer
        self._model = source.model(transformers.AutoModelForCausalLM, seed=0, dtype="auto").eval()
        self._most = getattr(source.config, "max_position_embeddings", None)
        self._version = source.fingerprint
        self.way = f"transformers {transformers.__version__}, {device}"
        self._lock = Lock()

    def told(self, prompt: str, texts: Sequence[str]) -> Likelihoods:
        context = self._tokens(prompt)
        parts = [self._tokens(prompt + text)[len(context) :] for text in texts]
        if self._most and len(context) + max(map(len, parts)) > self._most:
            raise Refusal(
                f"The prompt has {len(context)} tokens, and the model reads {self._most} at most: "
                "show fewer shots."
            )
        with self._lock, torch.inference_mode():
            sums = [self._sum(context, some, text) for some, text in zip(parts, texts, strict=True)]
        return Likelihoods(sums, sum(len(context) + len(some) for some in parts), 0, self._version)

    def _sum(self, context: list[int], option: list[int], text: str) -> float:
        inputs = torch.tensor([[*context, *option]], device=self._model.device)
        # The last place says what would follow the option.
        logits = self._model(inputs, logits_to_keep=len(option) + 1).logits[0, :-1].float()
        known = logits.log_softmax(-1)[range(len(option)), option]
        return sum_of(known.tolist(), text)

    def _tokens(self, text: str) -> list[int]:
        return list(self._tokenizer(text)["input_ids"])
