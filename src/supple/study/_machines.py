"""The machines that can be compared, with explanations for users."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import sklearn.svm
from sklearn.pipeline import make_pipeline

from supple.estimators import (
    LASVC,
    RVC,
    SVC,
    BudgetSVC,
    SimpleSVC,
    SVIncrementalSVC,
    WindowedSVC,
)
from supple.kernels import KERNELS
from supple.study._parameters import Parameter, check_params

__all__ = ["MACHINES", "STUDY_MACHINES", "Machine"]


@dataclass(frozen=True)
class Machine:
    """A kind of machine that can take part in a study.

    Attributes
    ----------
    key : str
        Its name in a `MachineSpec`.
    title : str
        Its display name.
    build : callable
        Makes the estimator from all its parameters.
    parameters : tuple of Parameter
        Its parameters.
    equation : str
        What it minimises or maximises, as one line of text.
    paper : str
        Where it was published.
    summary : str
        What it does, in a sentence or two.

    Examples
    --------
    >>> from supple.study import MACHINES
    >>> MACHINES["svc"].make({"C": 10}).C
    10.0
    """

    key: str
    title: str
    build: Callable[..., Any]
    parameters: tuple[Parameter, ...]
    equation: str
    paper: str
    summary: str

    def check(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the given parameters as the estimator takes them; raise if one is wrong."""
        return check_params(self.parameters, params, self.key)

    def make(self, params: Mapping[str, Any]) -> Any:
        """Return an unfitted estimator; parameters that are not given have their default."""
        defaults = {each.name: each.default for each in self.parameters}
        return self.build(**{**defaults, **self.check(params)})


_KERNEL = (
    Parameter(
        "kernel",
        "choice",
        "rbf",
        choices=tuple(KERNELS),
        help=f"How alike two examples are: {', '.join(each.formula for each in KERNELS.values())}.",
    ),
    Parameter(
        "gamma",
        "float",
        "auto",
        low=0.0,
        above=True,
        choices=("auto", "scale"),
        help="How quickly the likeness falls with distance. auto: 1 / number of features, the same "
        "for all machines; scale: 1 / (number of features · variance of the first examples).",
    ),
    Parameter("degree", "int", 3, low=1, high=20, help="Degree of the polynomial kernel."),
    Parameter("coef0", "float", 0.0, help="Constant of the polynomial and sigmoid kernels."),
)
_COST = Parameter(
    "C",
    "float",
    1.0,
    low=0.0,
    above=True,
    help="Cost of an example on the wrong side of the margin.",
)
_MARGIN = (_COST, *_KERNEL)
_LOSS = Parameter(
    "loss",
    "choice",
    "hinge",
    choices=("hinge", "squared_hinge"),
    help="What an example on the wrong side of the margin costs: C ξ, or C ξ².",
)

_SVM_EQUATION = "min ½|w|² + C Σᵢ max(0, 1 − yᵢ f(xᵢ)),  f(x) = w·φ(x) + b"


def _refitted(**params: Any) -> Any:
    # A pipeline has no partial_fit, so that compare fits it anew to all examples so far.
    return make_pipeline(SVC(**params))


_ALL = (
    Machine(
        "svc",
        "exact incremental SVM (C&P)",
        SVC,
        (*_MARGIN, _LOSS),
        _SVM_EQUATION,
        "Cauwenberghs & Poggio: Incremental and decremental support vector machine learning. "
        "NIPS 2000.",
        "Learns example by example along the exact path of solutions; the model is always the "
        "optimum on all examples so far.",
    ),
    Machine(
        "batch",
        "batch SVM of supple",
        _refitted,
        _MARGIN,
        _SVM_EQUATION,
        "Platt: Fast training of SVMs using sequential minimal optimization. 1999; Fan, Chen & "
        "Lin: Working set selection using second order information. JMLR 6, 2005.",
        "The same optimum, fitted anew to all examples so far at every training size.",
    ),
    Machine(
        "libsvm",
        "batch SVM of LIBSVM (scikit-learn)",
        sklearn.svm.SVC,
        _MARGIN,
        _SVM_EQUATION,
        "Chang & Lin: LIBSVM: a library for support vector machines. ACM TIST 2(3), 2011.",
        "scikit-learn's SVC, fitted anew to all examples so far at every training size.",
    ),
    Machine(
        "lasvm",
        "LASVM",
        LASVC,
        (
            *_MARGIN,
            Parameter("epochs", "int", 1, low=1, help="How often each batch is worked through."),
            Parameter(
                "selection",
                "choice",
                "random",
                choices=("random", "gradient", "active", "autoactive"),
                help="Which example of a batch comes next: any, the one with the largest loss, or "
                "the one closest to the boundary.",
            ),
        ),
        _SVM_EQUATION,
        "Bordes, Ertekin, Weston & Bottou: Fast kernel classifiers with online and active "
        "learning. JMLR 6, 2005.",
        "Looks at each example once and keeps few of them; comes close to the optimum in one pass.",
    ),
    Machine(
        "simple",
        "SimpleSVM",
        SimpleSVC,
        _MARGIN,
        _SVM_EQUATION,
        "Vishwanathan, Smola & Murty: SimpleSVM. ICML 2003.",
        "Finds the same optimum by an active set: the worst violator joins until there is none.",
    ),
    Machine(
        "rvm",
        "relevance vector machine",
        RVC,
        _KERNEL,
        "max log p(y | α),  p(y=1 | x) = 1 / (1 + exp(−f(x))),  wⱼ ~ N(0, 1/αⱼ)",
        "Tipping: Sparse Bayesian learning and the relevance vector machine. JMLR 1, 2001.",
        "Very few kernels, with probabilities; fitted anew to all examples so far, which takes "
        "long on large sets.",
    ),
    Machine(
        "budget",
        "SVM with a budget",
        BudgetSVC,
        (
            Parameter("budget", "int", 200, low=2, help="Most examples held in memory."),
            Parameter(
                "rule",
                "choice",
                "merge",
                choices=("merge", "relevance", "oldest"),
                help="What happens when there are more: two are merged, the least relevant or the "
                "oldest one leaves.",
            ),
            *_MARGIN,
        ),
        _SVM_EQUATION + " over at most `budget` examples",
        "Tax & Laskov: Online SVM learning: from classification to data description and back. "
        "NNSP 2003.",
        "Exact on the examples held, of which there are never more than a fixed number.",
    ),
    Machine(
        "sv-incremental",
        "SVM that keeps support vectors",
        SVIncrementalSVC,
        (
            Parameter(
                "sv_weight",
                "float",
                1.0,
                low=0.0,
                above=True,
                choices=("ruping",),
                help="Weight of old support vectors beside new examples; ruping: examples seen "
                "for each support vector.",
            ),
            *_MARGIN,
        ),
        "min ½|w|² + C (Σ_new hᵢ + λ Σ_old SV hᵢ),  hᵢ = max(0, 1 − yᵢ f(xᵢ))",
        "Syed, Liu & Sung: Incremental learning with support vector machines. 1999; Rüping: "
        "Incremental learning with support vector machines. ICDM 2001.",
        "Trains on each new batch and the support vectors of the step before.",
    ),
    Machine(
        "windowed",
        "SVM on a window",
        WindowedSVC,
        (
            Parameter(
                "window",
                "int",
                "adaptive",
                low=1,
                choices=("adaptive", "full", "last"),
                help="Batches in the window; adaptive: chosen after each batch by the ξα bound.",
            ),
            *_MARGIN,
        ),
        _SVM_EQUATION + " over the latest batches",
        "Klinkenberg & Joachims: Detecting concept drift with support vector machines. ICML 2000.",
        "Learns the latest batches and forgets the others exactly, for streams that change.",
    ),
)

MACHINES: dict[str, Machine] = {machine.key: machine for machine in _ALL}

# The machines of the comparison study.
STUDY_MACHINES = ("lasvm", "svc", "simple", "libsvm", "batch", "rvm")
