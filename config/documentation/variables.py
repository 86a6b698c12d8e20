"""What each variable of the environment means, and what holds where it is not set."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Variable:
    name: str
    meaning: str
    default: str


VARIABLES = (
    Variable("DEBUG", "0 in production", "1"),
    Variable(
        "DEBUG_PAGES",
        "1 for Django's pages for programmers where something is missing or failed, with `DEBUG=1`",
        "0",
    ),
    Variable(
        "SECRET_KEY",
        "signs cookies and links; may be renewed, which signs everybody out",
        "required when `DEBUG=0`; generated otherwise",
    ),
    Variable(
        "IDENTITY_KEY",
        "keys the hashes by which people are found again; keep it as long as the data",
        "`SECRET_KEY` when `DEBUG=0`; otherwise kept in `DATA_DIR/identity-key`",
    ),
    Variable(
        "DATABASE_URL",
        "`postgres://user:password@host:port/name` or `sqlite:///path`",
        "SQLite in `DATA_DIR`",
    ),
    Variable(
        "DATABASE_WAIT_S",
        "seconds to wait for a lock that others hold, from 1 to 3600; a page that waits in vain "
        "keeps what was sent and tries again",
        "the web server 3; otherwise 20 on SQLite, and no limit on PostgreSQL",
    ),
    Variable(
        "CELERY_BROKER_URL",
        "the queue of long work: `redis://host:port/0`, or files that the processes of one machine "
        "share",
        "filesystem://localhost/",
    ),
    Variable("QUEUE_DIR", "where the queue is if there is no Redis", "`queue` in `DATA_DIR`"),
    Variable("PUBLIC_URL", "how people reach the installation", "http://127.0.0.1:8000"),
    Variable("ALLOWED_HOSTS", "further host names, with commas between them", ""),
    Variable("CSRF_TRUSTED_ORIGINS", "further origins of forms, with commas between them", ""),
    Variable(
        "BEHIND_PROXY", "1 if a proxy sets `X-Forwarded-Proto` and `X-Forwarded-For` itself", "0"
    ),
    Variable(
        "PROXIES",
        "the addresses or networks that the proxy asks from; nobody else's headers are believed",
        "those that are not public",
    ),
    Variable(
        "DOCS_URL",
        "where these pages are published, if elsewhere: pages link to them there",
        "the installation's own, under `/docs/`",
    ),
    Variable(
        "RUNS_A_DAY",
        "how many runs a submitter may finish within 24 hours on the same test items (see "
        "[the leaderboard](../explained/leaderboard.md))",
        "5",
    ),
    Variable("OPEN_RUNS", "how many runs a submitter may have open at once", "100"),
    Variable(
        "MODELS",
        "which models researchers may run from a page, with commas between them: Inspect's names "
        "(`openai/…`), or `NAME@http://…/v1` for an endpoint; their keys are in the worker's "
        "environment ([models](../how-to/models.md))",
        "",
    ),
    Variable("PROLIFIC_API", "where Prolific is asked", "https://api.prolific.com/api/v1/"),
    Variable(
        "JOINS_PER_ADDRESS",
        "how often a link may be opened from one address in a window; 0 is no limit",
        "1000",
    ),
    Variable("JOINS_PER_LINK", "how often one link may be opened by all in a window", "10000"),
    Variable("CONSENTS_PER_ADDRESS", "consents from one address in a window", "300"),
    Variable("CONSENTS_PER_LINK", "consents by one link in a window", "3000"),
    Variable(
        "WRONG_CODES_PER_ADDRESS", "wrong codes typed at `/go/` from one address in a window", "30"
    ),
    Variable(
        "FAILED_SIGN_INS_PER_ADDRESS",
        "wrong passwords and tokens from one address in a window, whatever the name",
        "30",
    ),
    Variable("THROTTLE_MINUTES", "the length of the window", "10"),
    Variable(
        "CACHE_DIR", "where windows are counted if there is no Redis", "`cache` in `DATA_DIR`"
    ),
    Variable("LOG_FORMAT", "`text` or `json`; as JSON the log holds every request too", "text"),
    Variable(
        "ERROR_HOOK",
        "an address that is sent every error as JSON: kind, file, line and request id, never the "
        "message",
        "",
    ),
    Variable(
        "METRICS_TOKEN",
        "opens `/metrics` to whoever sends it as `Authorization: Bearer …`",
        "",
    ),
    Variable("DATA_DIR", "where the installation stores its files", "`var` in the checkout"),
)
