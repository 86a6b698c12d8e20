"""The broker that needs no server: messages in a folder, by kombu's transport. That writes its
files in place, and a worker that reads one before it is whole ends on the spot."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import time_ns
from typing import Any
from uuid import uuid4

from kombu.exceptions import ChannelError
from kombu.transport import filesystem
from kombu.utils.json import dumps


class Channel(filesystem.Channel):
    # Its two base classes have two names for what is put.
    def _put(self, queue: str, payload: dict[str, Any], **kwargs: Any) -> None:  # type: ignore[override]
        """A message gets the name that readers look for once it is whole: the oldest name first."""
        whole = Path(self.data_folder_out, f"{time_ns()}_{uuid4()}.{queue}.msg")
        part = whole.with_suffix(".part")
        try:
            part.write_text(dumps(payload))
            part.replace(whole)
        except OSError as problem:
            raise ChannelError(f"The message {whole} can't be written: {problem}") from problem

    def get_table(self, exchange: str) -> list[Any]:
        with self._alone():
            table: list[Any] = super().get_table(exchange)
            return table

    def _queue_bind(self, exchange: str, routing_key: str, pattern: str | None, queue: str) -> None:
        with self._alone():
            super()._queue_bind(exchange, routing_key, pattern, queue)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Lock the tables of who gets which messages: at a start several processes write them."""
        self.control_folder.mkdir(exist_ok=True)
        with open(self.control_folder / "lock", "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


class Transport(filesystem.Transport):
    Channel = Channel
