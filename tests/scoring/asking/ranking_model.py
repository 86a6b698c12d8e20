"""A model whose log-probabilities follow from a checksum, behind two kinds of endpoint."""

import re
from hashlib import sha256
from typing import Any

# A few letters at a time, with the space before them, or one sign.
PIECES = re.compile(r" ?\w{1,3}|\s|.", re.DOTALL)
NAMED = "ranking-model"
Reply = tuple[int, dict[str, Any]]
NOT_FOUND: Reply = (404, {"error": {"message": "no such address"}})


class RankingModel:
    def tokens(self, text: str) -> list[int]:
        """The first says that a text begins."""
        return [0, *map(_number, PIECES.findall(text))]

    def log_probability(self, before: list[int], token: int) -> float:
        return -_number(str([*before, token])) / 2**28

    def sum_of(self, prompt: str, text: str) -> float:
        context, whole = self.tokens(prompt), self.tokens(prompt + text)
        places = range(len(context), len(whole))
        return sum(self.log_probability(whole[:place], whole[place]) for place in places)

    def echoing(self, path: str, body: dict[str, Any]) -> Reply:
        """As vLLM: no /tokenize, the prompt's log-probabilities on demand."""
        if path != "/v1/completions":
            return NOT_FOUND
        tokens = self.tokens(body["prompt"])
        known: list[float | None] = [None]
        known += [self.log_probability(tokens[:n], tokens[n]) for n in range(1, len(tokens))]
        shown = [*known, -0.5] if body.get("echo") else [-0.5]
        return 200, completion(len(tokens), {"token_logprobs": shown})

    def forcing(self, path: str, body: dict[str, Any]) -> Reply:
        """As llama.cpp's server: `echo` is not known, a token is forced by its bias."""
        if path == "/tokenize":
            return 200, {"tokens": self.tokens(body["content"])}
        if path != "/v1/completions":
            return NOT_FOUND
        is_text = isinstance(body["prompt"], str)
        tokens = self.tokens(body["prompt"]) if is_text else body["prompt"]
        forced = [int(token) for token, bias in body.get("logit_bias", {}).items() if bias >= 100]
        token = forced[0] if forced else 1
        said = {"id": token, "logprob": self.log_probability(tokens, token)}
        return 200, completion(len(tokens), {"content": [said]})

    def silent(self, path: str, body: dict[str, Any]) -> Reply:
        """No log-probabilities at all."""
        if path != "/v1/completions":
            return NOT_FOUND
        return 200, completion(len(self.tokens(str(body["prompt"]))), None)


def _number(text: str) -> int:
    """Of 31 bits."""
    return int.from_bytes(sha256(text.encode()).digest()[:4]) >> 1


def completion(read: int, log_probabilities: dict[str, Any] | None) -> dict[str, Any]:
    return {
        "id": "1",
        "object": "text_completion",
        "created": 1,
        "model": NAMED,
        "choices": [
            {"index": 0, "text": "x", "finish_reason": "length", "logprobs": log_probabilities}
        ],
        "usage": {"prompt_tokens": read, "completion_tokens": 1, "total_tokens": read + 1},
    }
