from django.urls import path

from scoring.comparison import views

urlpatterns = [
    path("", views.comparison, name="comparison"),
    path("order/", views.order_comparison, name="order_comparison"),
    path("stop/", views.stop_comparison, name="stop_comparison"),
    path("export/<slug:form>/", views.comparison_export, name="comparison_export"),
]
