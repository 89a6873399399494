"""Random walks over the exact estimators, judged by a certificate in extended precision.

``benchmarks/fuzz.py`` runs them (``make fuzz``), ``tests/exactness/test_fuzz.py`` runs a few.
"""
