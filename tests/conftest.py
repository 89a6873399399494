"""Hypothesis profiles: HYPOTHESIS_PROFILE=thorough or exhaustive searches longer."""

import os

from hypothesis import HealthCheck, settings

COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("ci", max_examples=30, derandomize=True, **COMMON)
settings.register_profile("thorough", max_examples=500, **COMMON)
settings.register_profile("exhaustive", max_examples=10_000, **COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
