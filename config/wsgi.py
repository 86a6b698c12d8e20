"""The web server's entry point."""

import os
from importlib import import_module

from django.conf import settings
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# Nobody looks at a page for longer before it says something; and who waits holds a thread.
os.environ.setdefault("DATABASE_WAIT_S", "3")
os.environ.setdefault("DATABASE_STATEMENT_S", "30")

if settings.METRICS_TOKEN:
    # Each process counts in files of its own, so that any of them can add all up.
    counts = settings.DATA_DIR / "metrics"
    counts.mkdir(exist_ok=True)
    os.environ.setdefault("PROMETHEUS_MULTIPROC_DIR", str(counts))

application = get_wsgi_application()
# It needs the applications, which were loaded just now.
import_module("config.migrations").refuse_another_database()
