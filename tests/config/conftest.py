from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.config.databases import NewDatabase, new_databases


@pytest.fixture
def new_database(tmp_path: Path) -> Iterator[NewDatabase]:
    with new_databases(tmp_path) as make:
        yield make
