"""The product's settings, with what tests need to be quick and isolated."""

import os
from typing import Any

from config.settings import *  # noqa: F403
from config.settings import DATABASES

# Playwright keeps an event loop in the thread of the tests; the product has none.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
AXES_ENABLED = False
# Emptied before each test; the threads of one process share it.
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
CELERY_BROKER_URL = "memory://"
CELERY_BROKER_TRANSPORT_OPTIONS = {}
CELERY_TASK_ALWAYS_EAGER = True
CELERY_TASK_EAGER_PROPAGATES = True

# A browser's idle connection would keep its thread's database connection past the last test.
DATABASES["default"]["CONN_MAX_AGE"] = 0

# Nothing that a test stores has to survive a power cut.
OPTIONS: Any = DATABASES["default"]["OPTIONS"]
if "init_command" in OPTIONS:
    OPTIONS["init_command"] += " PRAGMA synchronous=OFF;"
else:
    OPTIONS["options"] = f"{OPTIONS.get('options', '')} -c synchronous_commit=off"
