"""A row's pages besides its form: an address, a permission, a view."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from django.contrib import admin, messages
from django.contrib.admin.widgets import RelatedFieldWidgetWrapper
from django.core.exceptions import PermissionDenied
from django.db.models import Field, Model
from django.forms import Field as FormField
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from annotation.models.errors import Refusal

_Row = TypeVar("_Row", bound=Model)


@dataclass(frozen=True)
class Page:
    """The view is called with the ModelAdmin, the request and the row."""

    address: str
    view: Callable[..., HttpResponse]
    permission: str


class PagedAdmin(admin.ModelAdmin[_Row]):
    pages: Sequence[Page] = ()

    class Media:
        css = {"all": ["annotation/studies/researcher.css"]}

    def formfield_for_dbfield(
        self, db_field: Field[Any, Any], request: HttpRequest, **kwargs: Any
    ) -> FormField | None:
        """A choice only chooses: adding, changing and deleting what it offers have pages of their
        own."""
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field is not None and isinstance(field.widget, RelatedFieldWidgetWrapper):
            for right in ("add", "change", "delete", "view"):
                setattr(field.widget, f"can_{right}_related", False)
        return field

    def get_urls(self) -> list[URLPattern]:
        own = [
            path(
                f"<int:pk>/{page.address}/",
                self.admin_site.admin_view(self._wrapped(page)),
                name=f"{self.opts.app_label}_{self.opts.model_name}_{page.address}",
            )
            for page in self.pages
        ]
        return [*own, *super().get_urls()]

    def _wrapped(self, page: Page) -> Callable[..., HttpResponse]:
        def view(request: HttpRequest, pk: int) -> HttpResponse:
            row = get_object_or_404(self.get_queryset(request), pk=pk)
            if not request.user.has_perm(page.permission):
                raise PermissionDenied
            return page.view(self, request, row)

        return view


class ViewOnlyAdmin(PagedAdmin[_Row]):
    """Rows written by the protocol: the admin shows them and changes nothing."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


def show_page(
    model_admin: admin.ModelAdmin[Any], request: HttpRequest, template: str, **context: Any
) -> TemplateResponse:
    """A page inside the admin; its context has at least `original` and `title`."""
    frame = model_admin.admin_site.each_context(request)
    context = {**frame, "opts": model_admin.opts, "media": model_admin.media, **context}
    return TemplateResponse(request, template, context)


def to_row(row: Model) -> HttpResponseRedirect:
    return HttpResponseRedirect(row_url(row))


def row_url(row: Model) -> str:
    opts = row._meta
    return reverse(f"admin:{opts.app_label}_{opts.model_name}_change", args=[row.pk])


def attempt(
    model_admin: admin.ModelAdmin[Any],
    request: HttpRequest,
    row: Model,
    act: Callable[[], Any],
    *,
    done: str,
) -> bool:
    """Perform an act and say so, or show why it was refused; a performed act is logged."""
    try:
        act()
    except Refusal as refusal:
        messages.error(request, str(refusal))
        return False
    model_admin.log_change(request, row, done)
    messages.success(request, done)
    return True
