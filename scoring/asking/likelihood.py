"""A model that tells how likely each option is after a prompt: by an endpoint for completions, or
from a folder by transformers. Prompt and option are cut into tokens together; the option's are
those that follow as many as the prompt has by itself, as in lm-evaluation-harness."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from importlib import import_module
from threading import Lock
from typing import TYPE_CHECKING, Any

import openai

from annotation.models.errors import BadInput, Refusal
from scoring.asking.asked_runs import (
    KEY_OF_ENDPOINT,
    NO_KEY,
    Line,
    ModelSettings,
    without_secrets,
)
from scoring.asking.ranking import (
    CONTENT_FREE,
    JOINT,
    WRITTEN,
    Likelihoods,
    as_reply,
    mean_of_shares,
    sum_of,
)
from scoring.models import Reply

if TYPE_CHECKING:  # transformers are optional
    from scoring.asking.folder import Folder

PROBE = "The sky is"
# Added to the score of a token, so that it is the next one.
FORCED = 100


class LikelihoodClient:
    def __init__(self, settings: ModelSettings) -> None:
        """Raises BadInput for a model that gives no log-probabilities."""
        self._model: Endpoint | Folder
        if settings.base_url:
            self._model = Endpoint(settings)
        else:
            self._model = import_module("scoring.asking.folder").Folder(settings)
        self.version = self._model.way
        self._pool = ThreadPoolExecutor(settings.connections)
        # By prompts without content and options: asked once, while others wait for them.
        self._free: dict[tuple[str, ...], list[float]] = {}
        self._locks: dict[tuple[str, ...], Lock] = {}

    @property
    def trouble(self) -> str:
        return self._model.trouble

    def ask(self, line: Line) -> "Future[Reply]":
        return self._pool.submit(self._answer, line)

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)

    def _answer(self, line: Line) -> Reply:
        """Answer a line; nothing is stored here."""
        prompts = [self._told(line["prompt"], line)]
        known = [prompts[0].log_probabilities]
        if CONTENT_FREE in line:
            key = (*line[CONTENT_FREE], *line[WRITTEN])
            with self._locks.setdefault(key, Lock()):
                if key not in self._free:
                    prompts += [self._told(prompt, line) for prompt in line[CONTENT_FREE]]
                    self._free[key] = mean_of_shares([one.log_probabilities for one in prompts[1:]])
            known.append(self._free[key])
        return Reply(
            text=as_reply(line, *known),
            version=prompts[0].version,
            input_tokens=sum(prompt.read for prompt in prompts),
            output_tokens=sum(prompt.written for prompt in prompts),
        )

    def _told(self, prompt: str, line: Line) -> Likelihoods:
        return self._model.told(prompt.rstrip(), [JOINT + text for text in line[WRITTEN]])


class Endpoint:
    """One of OpenAI's completions. vLLM and others repeat a prompt with the log-probability of each
    of its tokens; llama.cpp's server gives that of the next token alone, whichever is forced."""

    def __init__(self, settings: ModelSettings) -> None:
        self._settings, self.trouble = settings, ""
        self._server = settings.base_url.rstrip("/").removesuffix("/v1")
        self._client = openai.OpenAI(
            base_url=settings.base_url,
            api_key=os.environ.get(KEY_OF_ENDPOINT) or NO_KEY,
            max_retries=settings.retries,
            http_client=openai.DefaultHttpxClient(event_hooks={"response": [self._heard]}),
        )
        self._of = self._probed()
        named = "echo" if self._of == self._echoed else "token by token"
        self.way = f"openai {openai.__version__}, completions with log-probabilities, {named}"

    def told(self, prompt: str, texts: Sequence[str]) -> Likelihoods:
        heard: list[Any] = []
        sums = self._of(heard, prompt, texts)
        read, written = (
            sum(reply["usage"][name] for reply in heard)
            for name in ("prompt_tokens", "completion_tokens")
        )
        return Likelihoods(sums, read, written, heard[-1]["model"])

    def _probed(self) -> Callable[..., list[float]]:
        why = "it sends none"
        for way in (self._echoed, self._forced):
            try:
                way([], PROBE, [" blue"])
            except openai.APIConnectionError as error:
                raise BadInput(
                    f"Nothing answers at {self._settings.base_url}: start the server, or mend the "
                    "address."
                ) from error
            except (openai.OpenAIError, Refusal) as error:
                why = without_secrets(str(error))
            else:
                return way
        raise BadInput(
            f"The endpoint {self._settings.base_url} gives no log-probabilities of options, "
            "neither by echo, as vLLM does, nor token by token, as llama.cpp's server does: ask "
            f"for answers by text. It said: {why}"
        )

    def _echoed(self, heard: list[Any], prompt: str, texts: Sequence[str]) -> list[float]:
        before = self._completion(heard, prompt)["usage"]["prompt_tokens"]
        sums = []
        for text in texts:
            reply = self._completion(heard, prompt + text, echo=True)
            known = (reply["choices"][0].get("logprobs") or {}).get("token_logprobs") or []
            # What it wrote itself comes behind the prompt.
            sums.append(sum_of(known[before : reply["usage"]["prompt_tokens"]], text))
        return sums

    def _forced(self, heard: list[Any], prompt: str, texts: Sequence[str]) -> list[float]:
        context = self._tokens(prompt)

        @cache  # options may begin alike
        def of_last(tokens: tuple[int, ...]) -> float:
            """Its log-probability before it was forced."""
            before, forced = [*context, *tokens[:-1]], {str(tokens[-1]): FORCED}
            reply = self._completion(heard, before, logit_bias=forced)
            said = (reply["choices"][0].get("logprobs") or {}).get("content") or [{}]
            if said[0].get("id") != tokens[-1] or "logprob" not in said[0]:
                raise Refusal("The endpoint does not say how likely a forced token was.")
            return float(said[0]["logprob"])

        sums = []
        for text in texts:
            tokens = tuple(self._tokens(prompt + text)[len(context) :])
            sums.append(sum_of([of_last(tokens[: n + 1]) for n in range(len(tokens))], text))
        return sums

    def _completion(self, heard: list[Any], prompt: str | list[int], **more: Any) -> Any:
        asked = {"model": self._settings.model, "prompt": prompt, "seed": self._settings.seed}
        body = {**asked, "max_tokens": 1, "temperature": 0, "logprobs": 1, **more}
        reply: Any = self._client.post("/completions", body=body, cast_to=object)
        is_whole = isinstance(reply, dict) and {"usage", "model"} <= reply.keys()
        if not is_whole or not reply.get("choices"):
            raise Refusal("The endpoint's reply is no completion with its usage.")
        heard.append(reply)
        return reply

    def _tokens(self, text: str) -> list[int]:
        body = {"content": text, "add_special": True}
        said: Any = self._client.post(f"{self._server}/tokenize", body=body, cast_to=object)
        return list(said["tokens"])

    def _heard(self, response: Any) -> None:
        code = response.status_code
        self.trouble = f"status {code}: asked again after a pause" if response.is_error else ""
