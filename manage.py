#!/usr/bin/env python
"""Django's command line, with the project's settings."""

import os
import sys
from importlib import import_module

from django.core.management import execute_from_command_line
from django.db import DatabaseError


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        execute_from_command_line(sys.argv)
        sys.stdout.flush()
    except BrokenPipeError:
        # Its reader wanted no more, as `head`. Python's own last flush would complain again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except DatabaseError:
        # It needs the applications, which were loaded by then.
        if sentence := import_module("config.migrations").why_refused():
            sys.exit(sentence)
        raise


if __name__ == "__main__":
    main()
