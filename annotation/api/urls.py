"""The addresses of the API below /api/, but for those that scoring adds."""

from rest_framework.routers import SimpleRouter

from annotation.api.benchmarks import BenchmarkViewSet, JobViewSet
from annotation.api.people import PeopleViewSet
from annotation.api.studies import StudyViewSet
from annotation.api.webhooks import WebhookViewSet

router = SimpleRouter()
router.register("benchmarks", BenchmarkViewSet, basename="benchmark")
router.register("jobs", JobViewSet, basename="job")
router.register("studies", StudyViewSet, basename="study")
router.register("studies", PeopleViewSet, basename="of-study")
router.register("studies", WebhookViewSet, basename="study-hook")
urlpatterns = router.urls
