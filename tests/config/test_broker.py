"""The broker in a folder: whoever reads while another process writes finds whole messages."""

import fcntl
from collections.abc import Iterator
from pathlib import Path
from queue import Empty
from typing import Any

import pytest
from kombu.exceptions import ChannelError
from kombu.transport import filesystem
from kombu.utils.json import dumps

from config import broker
from config.celery import app

QUEUE = "celery"


@pytest.fixture
def channel(tmp_path: Path) -> Iterator[Any]:
    folders = {"data_folder_in": str(tmp_path), "data_folder_out": str(tmp_path)}
    options = {**folders, "control_folder": str(tmp_path / "control")}
    with app.connection_for_write("filesystem://", transport_options=options) as connection:
        yield connection.channel()


def test_messages_are_read_in_their_order(channel: Any) -> None:
    for number in range(3):
        channel._put(QUEUE, {"number": number})
    assert [channel._get(QUEUE)["number"] for _ in range(3)] == [0, 1, 2]
    with pytest.raises(Empty):
        channel._get(QUEUE)


def test_a_message_is_not_there_before_it_is_whole(
    channel: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    met = []

    def read_meanwhile(path: Path, text: str) -> None:
        path.write_bytes(text[:5].encode())
        with pytest.raises(Empty):
            channel._get(QUEUE)
        met.append(path)
        path.write_bytes(text.encode())

    monkeypatch.setattr(Path, "write_text", read_meanwhile)
    channel._put(QUEUE, {"number": 1})
    assert met
    assert channel._get(QUEUE) == {"number": 1}


def test_the_table_of_queues_is_written_alone(
    channel: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = []

    def written_meanwhile(table: object) -> Any:
        with open(channel.control_folder / "lock") as file, pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        refused.append(table)
        return dumps(table)

    monkeypatch.setattr(filesystem, "dumps", written_meanwhile)
    channel._queue_bind("jobs", QUEUE, "", QUEUE)
    assert refused
    assert [bound.queue for bound in channel.get_table("jobs")] == [QUEUE]


def test_a_folder_that_takes_no_message_is_named(channel: Any) -> None:
    channel.__dict__["data_folder_out"] = "/nowhere"
    with pytest.raises(ChannelError, match=r"The message /nowhere/\S+ can't be written"):
        channel._put(QUEUE, {})


def test_the_application_uses_it() -> None:
    assert app.connection_for_write("filesystem://").get_transport_cls() is broker.Transport
