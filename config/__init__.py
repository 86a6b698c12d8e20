"""Wires the apps together: settings, URLs, the web entry point and the background worker."""

from config.celery import app as celery_app

__all__ = ["celery_app"]
