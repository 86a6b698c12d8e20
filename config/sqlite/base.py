"""SQLite, with no garbage collected while its write lock is held.

Python's collector frees what it finds in whichever thread happens to run it, other threads' cursors
among it: one that was refused the lock lies in its own traceback until then. SQLite frees a cursor
only once its connection is at rest. If that connection waits for the lock which this thread holds,
neither goes on, and nobody else can write, until the other gives up; and it is asked again at once.
"""

import gc

from django.db.backends.sqlite3 import base


class DatabaseWrapper(base.DatabaseWrapper):
    """By methods of Django's own that its types leave out."""

    _holds_lock = False

    def _start_transaction_under_autocommit(self) -> None:
        super()._start_transaction_under_autocommit()  # type: ignore[misc]
        # The lock is one thread's at a time, and so is this.
        self._holds_lock = True
        gc.disable()

    def _set_autocommit(self, autocommit: bool) -> None:
        super()._set_autocommit(autocommit)  # type: ignore[misc]
        if autocommit:
            self._collect_again()

    def _close(self) -> None:
        super()._close()  # type: ignore[misc]
        self._collect_again()

    def _collect_again(self) -> None:
        if self._holds_lock:
            self._holds_lock = False
            gc.enable()
