from annotation.models import OutcomeRule, Pool, Study
from annotation.models.settings import BY_COLUMN, SETTINGS, in_table
from annotation.models.study import FROZEN_FIELDS, NEVER_FROZEN, OF_THE_ROW
from annotation.studies.drafting import COPIED_FIELDS
from annotation.studies.settings_form import STEPS


def test_says_of_each_column_of_a_study_once_what_the_start_makes_of_it() -> None:
    columns = [field.name for field in Study._meta.concrete_fields]
    assert sorted([*OF_THE_ROW, *NEVER_FROZEN, *FROZEN_FIELDS]) == sorted(columns)


def test_copies_all_that_can_be_set_but_the_seed_and_the_names() -> None:
    can_be_set = {field.name for field in Study._meta.concrete_fields if field.editable}
    kept = {"id", "slug", "title", "seed", "created_at"}
    assert can_be_set - kept == COPIED_FIELDS


def test_describes_each_column_that_can_be_set() -> None:
    can_be_set = {field.name for field in Study._meta.concrete_fields if field.editable}
    assert set(BY_COLUMN) == can_be_set - {"id", "created_at"}
    assert {one.step for one in BY_COLUMN.values()} == STEPS.keys()
    for model, table in ((Pool, "pools"), (OutcomeRule, "outcomes")):
        can_be_set = {field.name for field in model._meta.concrete_fields if field.editable}
        columns = {one.column for one in in_table(table).values()}
        assert columns == can_be_set - {"id", "study", "outcome"}


def test_says_of_each_setting_what_it_means() -> None:
    assert [one.key for one in SETTINGS if not (one.in_file or one.meaning).endswith(".")] == []
    bounded = [one for one in SETTINGS if (one.above, one.least) != (None, None)]
    assert [one.key for one in bounded if not one.refusal] == []
