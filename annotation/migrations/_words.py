"""For migrations that change what fields are called or explained by, which no database holds."""

from django.db.migrations.operations import SeparateDatabaseAndState
from django.db.migrations.state import ProjectState


class ChangeWords(SeparateDatabaseAndState):
    """Changes fields in the state of the migrations alone, and renders their models once, when they
    are asked for next: Django renders them, and all that they are related to, after every field."""

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        vars(state).pop("apps", None)
        super().state_forwards(app_label, state)
