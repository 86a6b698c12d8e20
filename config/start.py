"""What stops the web server's start; imported once the applications are loaded."""

from django.db import DatabaseError, connections

from annotation.access.identity import KEY_CHANGED, is_migrated, remember_key


def refuse_another_identity_key() -> None:
    try:
        is_refused = is_migrated() and not remember_key()
    except DatabaseError:
        return  # A database that is away may come back, and entering a study asks again.
    finally:
        connections.close_all()
    if is_refused:
        raise SystemExit(KEY_CHANGED)
