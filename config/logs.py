"""What a log line may say: never who an annotator is, what they answered, or gold. A request is
logged by the name of its address, since addresses hold personal links."""

import json
import logging
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from traceback import walk_tb
from typing import Any
from urllib.request import Request, urlopen

from pythonjsonlogger.json import JsonFormatter

# PostgreSQL repeats the values of a refused row, among them a person's external id.
ROW_VALUES = re.compile(r"^(DETAIL|CONTEXT): .*$", re.MULTILINE)
# Where an address names whoever has it: links to join, resume or come in as a colleague, and all
# that follows a question mark.
LINKS = re.compile(
    r"(/(?:join(?:/(?:batch|pool))?|invited|resume|colleagues|prolific)/)(?!batch/|pool/)[^/\s'\"?]+"
)
QUERIES = re.compile(r"(?:(?<=/)\?|\?(?=[\w%.-]+=))[^\s'\"<>]+")
# What the API's header, a cookie or a form carries; and what Django signed, as cookies are.
TOKENS = re.compile(
    r"\b((?:Token|Bearer|Basic)\s+)[^\s'\",]{12,}|\b((?:token|csrf\w*)=)[^\s'\",;&]+", re.I
)
SIGNED = re.compile(r"(?<![\w.:=-])[\w.:=-]*:[\w-]{27,}")
HOOK_WAITS_S = 5
MOST_WAITING = 100


def discreet(text: str) -> str:
    text = ROW_VALUES.sub(r"\1: (left out)", text)
    text = QUERIES.sub("?(left out)", LINKS.sub(r"\1(left out)", text))
    return SIGNED.sub("(left out)", TOKENS.sub(r"\1\2(left out)", text))


class DiscreetFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return discreet(super().format(record))


class DiscreetJsonFormatter(JsonFormatter):
    def process_log_record(self, log_data: dict[str, Any]) -> dict[str, Any]:
        return {
            name: value if value is None or isinstance(value, int | float) else discreet(str(value))
            for name, value in log_data.items()
        }


class ErrorHook(logging.Handler):
    """Tells an address of ours about every error, as JSON: when, where in the code and of which
    kind, with the request's id, by which the log is searched. Messages stay here."""

    def __init__(self, url: str) -> None:
        super().__init__(level=logging.ERROR)
        self.url = url
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="error-hook")
        self._waiting = threading.BoundedSemaphore(MOST_WAITING)

    def emit(self, record: logging.LogRecord) -> None:
        # A receiver that is slow or away holds up nobody, and gets what there is room for.
        if self._waiting.acquire(blocking=False):
            self._pool.submit(self._send, told_of(record))

    def close(self) -> None:
        self._pool.shutdown()
        super().close()

    def _send(self, record: dict[str, object]) -> None:
        body = json.dumps(record).encode()
        request = Request(self.url, body, {"Content-Type": "application/json"})
        try:
            urlopen(request, timeout=HOOK_WAITS_S).close()
        except OSError as problem:
            logging.getLogger(__name__).warning("The error hook can't be reached: %s", problem)
        finally:
            self._waiting.release()


def told_of(record: logging.LogRecord) -> dict[str, object]:
    kind, file, line = "", record.pathname, record.lineno
    if record.exc_info and record.exc_info[1] is not None:
        error = record.exc_info[1]
        kind = type(error).__name__
        for place, number in walk_tb(error.__traceback__):
            file, line = place.f_code.co_filename, number
    return {
        "at": datetime.fromtimestamp(record.created, UTC).isoformat(),
        "logger": record.name,
        "level": record.levelname,
        "error": kind,
        "file": file,
        "line": line,
        "request_id": getattr(record, "correlation_id", None),
    }
