from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.config.databases import NewDatabase, new_databases


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For all that start `make run`: the demonstration study takes a while, and is loaded once."""
    return tmp_path_factory.mktemp("data")


@pytest.fixture
def new_database(tmp_path: Path) -> Iterator[NewDatabase]:
    with new_databases(tmp_path) as make:
        yield make
