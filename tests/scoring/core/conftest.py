import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def reference(oracles: Path) -> Callable[[str], Any]:
    """Reads one file of known values by its stem."""
    return lambda stem: json.loads((oracles / f"{stem}.json").read_text())
