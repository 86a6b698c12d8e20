"""The product's settings plus two addresses to measure against."""

from config.settings import *  # noqa: F403

ROOT_URLCONF = "tests.benchmarks.answer_urls"
