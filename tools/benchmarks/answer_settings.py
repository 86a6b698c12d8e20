"""The product's settings plus two addresses to measure against. Everybody comes from one place."""

from config.settings import *  # noqa: F403
from config.settings import THROTTLES

ROOT_URLCONF = "tools.benchmarks.answer_urls"
THROTTLES = {
    **THROTTLES,
    **dict.fromkeys(("joins_per_address", "consents_per_address", "joins_an_hour"), 0),
}
