"""The environment of a machine where nothing has been set."""

import os

READ_BY_SETTINGS = {
    "ALLOWED_HOSTS",
    "BEHIND_PROXY",
    "CELERY_BROKER_URL",
    "CSRF_TRUSTED_ORIGINS",
    "DATABASE_STATEMENT_S",
    "DATABASE_URL",
    "DATABASE_WAIT_S",
    "DATA_DIR",
    "DEBUG",
    "DJANGO_ALLOW_ASYNC_UNSAFE",
    "DJANGO_SETTINGS_MODULE",
    "IDENTITY_KEY",
    "JOB_HOURS",
    "JOB_MEGABYTES",
    "PUBLIC_URL",
    "QUEUE_DIR",
    "SECRET_KEY",
}


def untouched(**variables: str) -> dict[str, str]:
    """It, with these variables on top."""
    rest = {name: value for name, value in os.environ.items() if name not in READ_BY_SETTINGS}
    return rest | variables
