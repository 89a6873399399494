"""The declarations, one file for each paper."""

from supple.experiments._declare import Paper
from supple.experiments.papers._klinkenberg_joachims import KLINKENBERG_JOACHIMS
from supple.experiments.papers._morgado_pereira import MORGADO_PEREIRA
from supple.experiments.papers._rueping import RUEPING
from supple.experiments.papers._syed import SYED
from supple.experiments.papers._tax_laskov import TAX_LASKOV

__all__ = ["PAPERS"]

PAPERS: dict[str, Paper] = {
    paper.name: paper
    for paper in (RUEPING, SYED, TAX_LASKOV, KLINKENBERG_JOACHIMS, MORGADO_PEREIRA)
}
