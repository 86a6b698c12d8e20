"""SQLite for several threads and processes that write.

Its own way to wait for the write lock is to sleep, longer and longer, and to look again: the lock
lies free meanwhile, and whoever has waited longest comes last. Here a process's threads queue for
it, and the first of them looks often, since a step holds it for less than a millisecond; after a
while of waiting for longer work, every millisecond.

And no garbage is collected while the lock is held. The collector frees other threads' cursors too
(one that was refused the lock lies in its own traceback until then), and SQLite frees a cursor only
once its connection is at rest. If that one waits for the lock which this thread holds, neither goes
on, and nobody else can write, until the other gives up; and it is asked again at once.
"""

import gc
import time
from collections import defaultdict
from itertools import chain, repeat
from threading import Lock
from typing import Any

from django.db import OperationalError
from django.db.backends.sqlite3 import base

AT_FIRST_S, TIMES, LATER_S = 0.0002, 20, 0.001
# Of each database, who writes or is the next to write in this process.
_turns: defaultdict[str, Lock] = defaultdict(Lock)


class DatabaseWrapper(base.DatabaseWrapper):
    """Calls methods of Django's own that its types leave out."""

    transaction_mode: str | None
    _turn: "Lock | None" = None

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        connection = super().get_new_connection(conn_params)
        # A regular expression of somebody's own may never end, and nothing here asks for one.
        connection.create_function("REGEXP", 2, None)
        return connection

    def _start_transaction_under_autocommit(self) -> None:
        if self.transaction_mode != "IMMEDIATE":
            # It reads a moment's state, and keeps nobody waiting.
            self._begin()
            return
        wait_s: float = self.settings_dict["OPTIONS"]["timeout"]
        deadline = time.monotonic() + wait_s
        turn = _turns[str(self.settings_dict["NAME"])]
        if not turn.acquire(timeout=wait_s):
            raise OperationalError("database is locked")
        try:
            self._take_lock(deadline)
        except BaseException:
            turn.release()
            raise
        self._turn = turn
        # The lock is one thread's at a time, and so is this.
        gc.disable()

    def _begin(self) -> None:
        super()._start_transaction_under_autocommit()  # type: ignore[misc]

    def _take_lock(self, deadline: float) -> None:
        """Refused at once, and asked again here, until the deadline."""
        [[usual_ms]] = self.connection.execute("PRAGMA busy_timeout")
        self.connection.execute("PRAGMA busy_timeout = 0")
        try:
            for pause_s in chain(repeat(AT_FIRST_S, TIMES), repeat(LATER_S)):
                if self._is_taken(deadline):
                    break
                time.sleep(pause_s)
        finally:
            self.connection.execute(f"PRAGMA busy_timeout = {usual_ms}")

    def _is_taken(self, deadline: float) -> bool:
        try:
            self._begin()
        except OperationalError as refusal:
            if "locked" in str(refusal) and time.monotonic() < deadline:
                return False
            raise
        return True

    def _set_autocommit(self, autocommit: bool) -> None:
        super()._set_autocommit(autocommit)  # type: ignore[misc]
        if autocommit:
            self._end_turn()

    def _close(self) -> None:
        super()._close()  # type: ignore[misc]
        self._end_turn()

    def _end_turn(self) -> None:
        if self._turn is not None:
            turn, self._turn = self._turn, None
            gc.enable()
            turn.release()
