"""What takes minutes to make is made once."""

from importlib import import_module
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def learner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model") / "learner"
    import_module("tests.small_models").make_learner(folder)
    return folder
