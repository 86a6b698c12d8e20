"""Settings that work unchanged on a fresh clone; DEBUG=0 is production and requires a secret."""

import mimetypes
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import django_stubs_ext
from django_guid.integrations import CeleryIntegration

from config import env
from config.catalogues import FOLDER, locales

# ModelAdmin, ModelForm and the like take a parameter in annotations; here, also at run time.
django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parent.parent
# On somebody's own machine, secrets are generated and plain HTTP will do.
IS_LOCAL = env.boolean("DEBUG", default=True)
# Django's own, which notes every query and shows code and settings where something failed.
DEBUG = IS_LOCAL and env.boolean("DEBUG_PAGES", default=False)
# What this installation writes itself: the embedded database and queue, generated secrets.
DATA_DIR = env.folder("DATA_DIR", BASE_DIR / "var")

if IS_LOCAL:
    SECRET_KEY = env.ensure_secret(DATA_DIR / "secret-key")
else:
    SECRET_KEY = env.required(
        "SECRET_KEY", "production (DEBUG=0) signs with a long random value that only you know"
    )

# Keys the hashes of identities, by which a person is found again. Where it is not set, SECRET_KEY
# does: annotation/access/identity.py notices when the key changes.
IDENTITY_KEY = env.text("IDENTITY_KEY", "")
if IS_LOCAL and not IDENTITY_KEY:
    IDENTITY_KEY = env.ensure_secret(DATA_DIR / "identity-key", first=SECRET_KEY)

# Where people reach this installation: for the links that commands print.
PUBLIC_URL = env.text("PUBLIC_URL", "http://127.0.0.1:8000").rstrip("/")
# Where the documentation is published, if not by this installation alone.
DOCS_URL = env.text("DOCS_URL", "").rstrip("/")
ALLOWED_HOSTS = [
    "127.0.0.1",
    "localhost",
    "[::1]",
    urlsplit(PUBLIC_URL).hostname or "",
    *env.words("ALLOWED_HOSTS"),
]
CSRF_TRUSTED_ORIGINS = env.words("CSRF_TRUSTED_ORIGINS")

INSTALLED_APPS = [
    "config.admin_config.ResearchersAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "rest_framework.authtoken",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_htmx",
    "template_partials",
    "axes",
    "django_guid",
    "annotation",
    "scoring",
    "config",
]

MIDDLEWARE = [
    "django_guid.middleware.guid_middleware",
    "config.middleware.watch",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.gzip.GZipMiddleware",
    "config.middleware.tell_programs",
    "config.middleware.load_from_here_alone",
    "config.middleware.Sessions",
    "config.middleware.AnnotatorsLanguage",
    "config.middleware.limit_strangers",
    "config.middleware.slow_guessing",
    "django.middleware.common.CommonMiddleware",
    "config.middleware.refuse_nul",
    "config.middleware.keep_out_of_caches",
    "django.middleware.csrf.CsrfViewMiddleware",
    "config.middleware.take_no_work_unfit",
    "config.middleware.Users",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "config.middleware.Messages",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
    "config.middleware.TryAgainMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "annotation.studies.tabs.scoring_pages",
            ],
            "libraries": {
                "images": "annotation.kinds.images",
                "markup": "annotation.kinds.markup",
                "wording": "annotation.work.wording",
                "report": "scoring.report.words",
                "documentation": "config.documentation.pages",
            },
        },
    },
]

# Database: connections stay open, which matters more than the choice of web server.
DATABASES = {
    "default": {
        **env.database(
            "DATABASE_URL",
            f"sqlite:///{DATA_DIR}/baseliner.sqlite3",
            root=BASE_DIR,
            # For a lock that others hold, and for an answer; the web server does not wait long for
            # either: config/wsgi.py.
            wait_s=env.seconds("DATABASE_WAIT_S"),
            statement_s=env.seconds("DATABASE_STATEMENT_S"),
        ),
        "CONN_MAX_AGE": None,
        "CONN_HEALTH_CHECKS": True,
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Signing in
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "/"
# Of one name at one address; then it waits for a minute, and whoever knows the password is let in.
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = timedelta(minutes=1)
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_COOLOFF_MESSAGE = (
    "Many wrong passwords for this name came from here: wait for a minute, and try again."
)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True

# Mail, for new passwords: where there is a server of it.
EMAIL_HOST = env.text("EMAIL_HOST", "")
EMAIL_PORT = env.number("EMAIL_PORT", 587)
EMAIL_HOST_USER = env.text("EMAIL_HOST_USER", "")
EMAIL_HOST_PASSWORD = env.text("EMAIL_HOST_PASSWORD", "")
EMAIL_USE_TLS = env.boolean("EMAIL_USE_TLS", default=True)
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.text("DEFAULT_FROM_EMAIL", EMAIL_HOST_USER or "baseliner@localhost")

# Languages and time
LANGUAGE_CODE = "en"
LANGUAGES = [(code, locale.display_name) for code, locale in locales().items()]
LANGUAGES_BIDI = [code for code, locale in locales().items() if locale.text_direction == "rtl"]
LOCALE_PATHS = [FOLDER]
TIME_ZONE = "UTC"
# Dates on the desk are as in its files: 2027-01-31 14:05.
FORMAT_MODULE_PATH = "config.formats"

# Static files
STATIC_URL = "static/"
STATIC_ROOT = BASE_DIR / "staticfiles"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = IS_LOCAL
WHITENOISE_AUTOREFRESH = IS_LOCAL
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if IS_LOCAL
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}
mimetypes.add_type("text/javascript", ".js")

# Sizes: an annotator's form is small, a benchmark's archive is not.
DATA_UPLOAD_MAX_MEMORY_SIZE = 2_500_000
BENCHMARK_UPLOAD_MAX_BYTES = 200_000_000

# Asked only by studies whose owners stored a token.
PROLIFIC_API = env.text("PROLIFIC_API", "https://api.prolific.com/api/v1/").rstrip("/") + "/"

# Whether webhooks may lead into the network of the installation.
PRIVATE_WEBHOOKS = env.boolean("PRIVATE_WEBHOOKS", default=False)

# In whichever currency a study pays: more is approved, corrected or sent once it is typed again.
TYPE_AGAIN_ABOVE = env.number("TYPE_AGAIN_ABOVE", 200, least=0)

# Runs of those who may not see the gold: how many one person may finish a day on one task, since
# each shows a mean, and how many may be open at once.
RUNS_A_DAY = env.number("RUNS_A_DAY", 5)
OPEN_RUNS = env.number("OPEN_RUNS", 100)

# Security
CONTENT_SECURITY_POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
SESSION_COOKIE_SECURE = not IS_LOCAL
CSRF_COOKIE_SECURE = not IS_LOCAL
SECURE_HSTS_SECONDS = 0 if IS_LOCAL else 365 * 24 * 60 * 60
# TLS ends at a proxy, which is where plain requests are redirected; and whether all that stands
# below this host speaks TLS too is for its owner to say.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W008", "security.W021"]
# The headers of a proxy are believed from there alone: this machine, and the networks next to it.
PROXIES = env.networks(
    "PROXIES",
    [
        *("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"),
        *("::1", "fc00::/7"),
    ],
)
if env.boolean("BEHIND_PROXY", default=False):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    AXES_CLIENT_IP_CALLABLE = "config.middleware.client_address"
    MIDDLEWARE.insert(0, "config.middleware.name_the_client")

# API
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "annotation.access.authenticating.Tokens",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["annotation.access.authenticating.TokenMay"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.PageNumberPagination",
    "PAGE_SIZE": 100,
    "NON_FIELD_ERRORS_KEY": "detail",
    # “format” chooses among the forms of a file, of which each address has its own.
    "URL_FORMAT_OVERRIDE": None,
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Baseliner",
    "DESCRIPTION": "Human baselines for few-shot language benchmarks.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    # What is sent is not what is shown: a name that is sent has at least one letter.
    "COMPONENT_SPLIT_REQUEST": True,
    # The sidecar's copies, not those of a content delivery network.
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SERVE_PERMISSIONS": ["rest_framework.permissions.IsAuthenticated"],
}

# Background work
CELERY_BROKER_URL = env.text("CELERY_BROKER_URL", "filesystem://localhost/")
if CELERY_BROKER_URL.startswith("filesystem:"):
    queue = env.folder("QUEUE_DIR", DATA_DIR / "queue")
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "data_folder_in": str(queue),
        "data_folder_out": str(queue),
        "control_folder": str(queue / "control"),
        # With the default of one second, people would wait that long for every job.
        "polling_interval": 0.1,
    }
elif CELERY_BROKER_URL.startswith(("redis:", "rediss:")):
    # Somebody waits for the page that orders a job, and the job is stored in any case.
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "socket_connect_timeout": 1,
        "socket_timeout": 5,
        "max_retries": 1,
    }
# A page gives its broker and its cache so long; a worker may wait for messages.
WAITS_S = 0.3
PUBLISHING = {"socket_connect_timeout": WAITS_S, "socket_timeout": WAITS_S, "max_retries": 0}
CELERY_BROKER_CONNECTION_TIMEOUT = 2
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 1, "interval_start": 0.1}
# A worker waits for its broker however long that takes.
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_TASK_IGNORE_RESULT = True
JOB_HOURS = env.number("JOB_HOURS", 12)
JOB_MEGABYTES = env.number("JOB_MEGABYTES", 8_000)
# A worker of several processes gives back what a large job took.
CELERY_WORKER_MAX_MEMORY_PER_CHILD = JOB_MEGABYTES * 1_000
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
# The schedule is every minute, always: nothing to keep on a disk.
CELERY_BEAT_SCHEDULER = "celery.beat:Scheduler"

# What all processes share for a short time: a Redis that is there anyway, else files.
if CELERY_BROKER_URL.startswith(("redis:", "rediss:")):
    SHARED: dict[str, object] = {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": CELERY_BROKER_URL,
        "KEY_PREFIX": "baseliner",
        "OPTIONS": {"socket_connect_timeout": WAITS_S, "socket_timeout": WAITS_S},
    }
else:
    SHARED = {
        "BACKEND": "django.core.cache.backends.filebased.FileBasedCache",
        "LOCATION": env.folder("CACHE_DIR", DATA_DIR / "cache"),
        "OPTIONS": {"MAX_ENTRIES": 5_000},
    }
CACHES = {"default": SHARED}

# Models that researchers may ask from a page, with the keys of this environment: names as Inspect
# has them (openai/…), or for an OpenAI-compatible endpoint its name for the model @ its address;
# behind each, after =, the USD for a million tokens read / written.
MODELS = env.prices("MODELS")

# How much may come from one address, and by one link, in so many minutes; 0 is no limit. A whole
# laboratory may share an address.
THROTTLE_MINUTES = env.number("THROTTLE_MINUTES", 10)
THROTTLES = {
    "joins_per_address": env.number("JOINS_PER_ADDRESS", 1_000, least=0),
    "joins_per_link": env.number("JOINS_PER_LINK", 10_000, least=0),
    "consents_per_address": env.number("CONSENTS_PER_ADDRESS", 300, least=0),
    "consents_per_link": env.number("CONSENTS_PER_LINK", 3_000, least=0),
    # Of one study and from one address; beyond it the code of the study's owner lets in.
    "joins_an_hour": env.number("JOINS_AN_HOUR", 300, least=0),
    "platform_joins_an_hour": env.number("PLATFORM_JOINS_AN_HOUR", 20, least=0),
    "wrong_codes_per_address": env.number("WRONG_CODES_PER_ADDRESS", 30, least=0),
    "requests_per_token": env.number("REQUESTS_PER_TOKEN", 6_000, least=0),
    "failed_sign_ins_per_address": env.number("FAILED_SIGN_INS_PER_ADDRESS", 30, least=0),
    "failed_sign_ins_per_name": env.number("FAILED_SIGN_INS_PER_NAME", 100, least=0),
}

# Logging and metrics. As JSON the log holds every request, by its address's name.
LOG_FORMAT = env.choice("LOG_FORMAT", ["text", "json"])
# Told of every error, without its message.
ERROR_HOOK = env.text("ERROR_HOOK", "")
METRICS_TOKEN = env.text("METRICS_TOKEN", "")
DJANGO_GUID = {"GUID_HEADER_NAME": "X-Request-ID", "INTEGRATIONS": [CeleryIntegration()]}
HANDLERS: dict[str, dict[str, object]] = {
    "console": {
        "class": "logging.StreamHandler",
        "formatter": LOG_FORMAT,
        "filters": ["request_id"],
    }
}
if ERROR_HOOK:
    HANDLERS["hook"] = {"()": "config.logs.ErrorHook", "url": ERROR_HOOK, "filters": ["request_id"]}
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"request_id": {"()": "django_guid.log_filters.CorrelationId"}},
    "formatters": {
        "text": {
            "()": "config.logs.DiscreetFormatter",
            "format": "%(asctime)s %(levelname)s %(name)s: %(message)s",
        },
        "json": {
            "()": "config.logs.DiscreetJsonFormatter",
            "format": "%(asctime)s %(levelname)s %(name)s %(message)s %(correlation_id)s",
            "rename_fields": {
                "asctime": "at",
                "levelname": "level",
                "name": "logger",
                "correlation_id": "request_id",
            },
        },
    },
    "handlers": HANDLERS,
    "root": {"handlers": list(HANDLERS), "level": "WARNING"},
    "loggers": {
        # Its own handlers would bypass the formatter. Below ERROR it writes paths of refused
        # requests, which name the person who asked.
        "django": {"handlers": [], "level": "INFO"},
        "django.request": {"level": "ERROR"},
        "django_guid": {"level": "WARNING"},
        "config.requests": {"level": "INFO" if LOG_FORMAT == "json" else "WARNING"},
        "annotation": {"level": "INFO"},
        "scoring": {"level": "INFO"},
    },
}
