"""A model that Inspect reaches, asked from outside its event loop."""

import asyncio
import os
import re
import threading
from concurrent.futures import Future
from importlib.metadata import version
from typing import Any

from inspect_ai.hooks import Hooks, ModelRetry, hooks
from inspect_ai.model import ContentReasoning, GenerateConfig, Model, ModelOutput, get_model
from tenacity import RetryError

from annotation.models.errors import BadInput
from scoring.asking.asked_runs import (
    KEY_OF_ENDPOINT,
    LOCAL,
    NO_KEY,
    Line,
    ModelSettings,
    without_secrets,
)
from scoring.asking.inspect_task import input_of
from scoring.models import Reply
from scoring.prompts.formats import BETWEEN_PARTS

# Inspect's own marks for the terminal.
MARKUP = re.compile(r"\[/?(?:bold|italic|dim|red|blue|green|yellow)[^\]]*\]")
# By the model's name, the last failure that is tried again.
_retried: dict[str, str] = {}


@hooks(name="baseliner_retries", description="Keeps why a model is asked again.")
class Retries(Hooks):
    async def on_model_retry(self, data: ModelRetry) -> None:
        why = data.exception_type or "no answer"
        status = f", status {data.status_code}" if data.status_code else ""
        _retried[data.model_name] = (
            f"{why}{status}: attempt {data.attempt} failed, the next in {data.wait_time:.0f} s"
        )


class InspectClient:
    version = f"inspect-ai {version('inspect-ai')}"

    def __init__(self, settings: ModelSettings) -> None:
        """Raises BadInput for a model that Inspect does not know, or has no key for."""
        self._cache = settings.cache
        self._model = _model(settings)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    @property
    def trouble(self) -> str:
        """Why nothing comes, while it tries again; empty once an answer has come."""
        return _retried.get(self._model.name, "")

    def ask(self, line: Line) -> "Future[Reply]":
        return asyncio.run_coroutine_threadsafe(self._answer(line), self._loop)

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _answer(self, line: Line) -> Reply:
        """Not stored; `version` is what the provider calls the model that answered."""
        try:
            output = await self._model.generate(input_of(line), cache=self._cache)
        except RetryError as error:
            # Only the last of several failures says anything.
            raise error.last_attempt.exception() or error from None
        _retried.pop(self._model.name, None)
        reply = Reply(
            text=_with_thoughts(output),
            version=output.model,
            stop_reason=output.choices[0].stop_reason if output.choices else "",
        )
        if (usage := output.usage) is not None:
            cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
            reply.input_tokens = usage.input_tokens + cached
            reply.output_tokens = usage.output_tokens
        return reply

    async def _end(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await self._model.api.aclose()


def _with_thoughts(output: ModelOutput) -> str:
    """The answer with its thoughts as models write them that do not keep them apart."""
    content = output.choices[0].message.content if output.choices else ""
    parts = [] if isinstance(content, str) else content
    thoughts = [part.reasoning for part in parts if isinstance(part, ContentReasoning)]
    return "".join(f"<think>{one}</think>\n" for one in thoughts if one) + output.completion


def _model(settings: ModelSettings) -> Model:
    # Transformers draws no word at random where it is told so, and takes no temperature of 0.
    is_greedy = settings.model.startswith(LOCAL) and not settings.temperature
    config = GenerateConfig(
        temperature=None if is_greedy else settings.temperature,
        seed=settings.seed,
        max_tokens=settings.max_tokens,
        max_connections=settings.connections,
        max_retries=settings.retries,
        # What goes on writing shots of its own has answered.
        stop_seqs=[BETWEEN_PARTS] if settings.completions and not settings.reasoning else None,
    )
    more: dict[str, Any] = {"do_sample": False} if is_greedy else {}
    if settings.base_url:
        key = os.environ.get(KEY_OF_ENDPOINT) or NO_KEY
        more = {"base_url": settings.base_url, "api_key": key}
    try:
        return get_model(settings.inspect_name, config=config, memoize=False, **more)
    # Each provider has its own way to say that it is unknown, not installed or without a key.
    except Exception as error:
        said = " ".join(MARKUP.sub("", without_secrets(str(error))).split())
        raise BadInput(f"Inspect cannot reach {settings.model}: {said}") from error
