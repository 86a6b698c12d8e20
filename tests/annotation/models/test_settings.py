from annotation.models import Study
from annotation.models.study import FROZEN_FIELDS, NEVER_FROZEN, OF_THE_ROW
from annotation.studies.drafting import COPIED_FIELDS


def test_says_of_each_column_of_a_study_once_what_the_start_makes_of_it() -> None:
    columns = [field.name for field in Study._meta.concrete_fields]
    assert sorted([*OF_THE_ROW, *NEVER_FROZEN, *FROZEN_FIELDS]) == sorted(columns)


def test_copies_all_that_can_be_set_but_the_seed_and_the_names() -> None:
    can_be_set = {field.name for field in Study._meta.concrete_fields if field.editable}
    kept = {"id", "slug", "title", "seed", "created_at"}
    assert can_be_set - kept == COPIED_FIELDS
