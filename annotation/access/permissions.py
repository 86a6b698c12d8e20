"""Django's permissions, as far as they follow from roles: a role opens its pages by itself, without
the staff tick and without a group. Whoever loses the role loses them with it."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import Permission

from annotation.models import MemberRole, Membership

# What makes studies and keeps benchmarks; made by the migrations.
GROUP = "Researchers"
OF_VIEWERS = frozenset({"annotation.view_study", "annotation.view_benchmark"})


class RolesBackend(ModelBackend):
    def get_group_permissions(self, user_obj: Any, obj: Any = None) -> set[str]:
        found: set[str] = super().get_group_permissions(user_obj, obj)
        if obj is not None or not user_obj.is_active or user_obj.is_superuser:
            return found
        roles = set(Membership.objects.filter(user=user_obj.pk).values_list("role", flat=True))
        if not roles:
            return found
        if roles == {MemberRole.VIEWER}:
            return found | OF_VIEWERS
        granted = Permission.objects.filter(group__name=GROUP)
        names = granted.values_list("content_type__app_label", "codename")
        return found | {f"{app}.{name}" for app, name in names}
