from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0021_tokens_of_ones_own"),
    ]

    operations = [
        migrations.AddField(
            model_name="study",
            name="is_demonstration",
            field=models.BooleanField(default=False, editable=False),
        ),
        migrations.AddConstraint(
            model_name="study",
            constraint=models.CheckConstraint(
                condition=Q(is_demonstration=False) | Q(slug__startswith="demonstration"),
                name="study_demonstration_says_so",
            ),
        ),
        migrations.AddConstraint(
            model_name="study",
            constraint=models.CheckConstraint(
                condition=Q(is_demonstration=False) | Q(is_rehearsal=False),
                name="study_demonstration_no_rehearsal",
            ),
        ),
    ]
