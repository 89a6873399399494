"""Scenes: an estimator, its parameters, and a source of rows, drawn from one seed."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from .kernels import DISTANCES, PythonKernel
from .reading import KINDS

ESTIMATORS = (
    "SVC", "SVC", "SVC", "NuSVC", "NuSVC", "SVR", "SVR", "SVR", "OneClassSVM", "OneClassSVM",
    "SVDD", "SVDD", "SimpleSVC", "BudgetSVC", "BudgetSVDD", "SVIncrementalSVC", "SVIncrementalSVR",
)  # fmt: skip
STRUCTURES = ("blobs", "blobs", "blobs", "grid", "duplicates", "line", "constant")


def power(rng, low: float, high: float) -> float:
    """10 to a power drawn uniformly."""
    return float(10.0 ** rng.uniform(low, high))


@dataclass
class Scene:
    """What one walk is about. ``ordinary``: features of order 1 and moderate parameters."""

    rng: np.random.Generator
    ordinary: bool
    name: str
    form: str  # "float64", "float32" or "csr"
    structure: str
    n: int
    d: int
    n_classes: int
    kernel: object
    kernel_params: dict
    params: dict
    scale: np.ndarray  # of the features
    offset: np.ndarray
    apart: float  # distance of the classes
    noise: float  # of the targets
    t_scale: float
    weights: str  # "ones", "mild" or "wild"
    pool: np.ndarray = field(default_factory=lambda: np.empty(0))

    @property
    def kind(self) -> str:
        return KINDS[self.name]

    @property
    def degrees(self) -> list[int]:
        return [2, 3] if self.ordinary else [1, 2, 3, 5, 30]

    def describe(self) -> str:
        kernel = self.kernel.name if callable(self.kernel) else self.kernel
        values = {k: v for k, v in {**self.params, **self.kernel_params}.items() if k != "kernel"}
        shown = ", ".join(
            f"{k}={v:.6g}" if isinstance(v, float) else f"{k}={v!r}" for k, v in values.items()
        )
        scale = f"{self.scale.min():.1e}..{self.scale.max():.1e}"
        return (
            f"{self.name}({kernel}, {shown}) {self.form} {self.structure} n={self.n} d={self.d} "
            f"classes={self.n_classes} scale={scale} offset={np.abs(self.offset).max():.1e} "
            f"weights={self.weights} {'ordinary' if self.ordinary else 'wild'}"
        )

    def make(self, name: str | None = None, params: dict | None = None):
        """Return an unfitted estimator; by default that of the scene."""
        import supple

        return getattr(supple, name or self.name)(**(params or self.all_params()))

    def all_params(self) -> dict:
        return {"kernel": self.kernel, **self.kernel_params, **self.params}

    # ------------------------------------------------------------------- rows

    def draw(self, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows as float64 numbers that the form can hold, labels or targets, weights."""
        label = self.rng.integers(self.n_classes, size=n)
        base = self._base(n, label)
        t = base @ np.linspace(1.0, -0.5, self.d) + self.noise * self.rng.normal(size=n)
        X = base * self.scale + self.offset
        if self.form == "float32":
            X = X.astype(np.float32).astype(np.float64)
        y = label if self.kind in ("csvc", "nusvc") else t * self.t_scale
        return X, y, self.draw_weights(n)

    def _base(self, n: int, label) -> np.ndarray:
        rng = self.rng
        X = rng.normal(size=(n, self.d))
        if self.kind in ("csvc", "nusvc"):
            X[np.arange(n), label % self.d] += self.apart * np.where(label < self.d, 1.0, -1.0)
        if self.structure == "grid":
            X = np.round(X)
        elif self.structure == "line":
            X = X[:, :1] * np.linspace(1.0, 2.0, self.d)
        elif self.structure == "constant":
            X[:, self.d // 2 :] = 1.0
        elif self.structure == "duplicates":
            if len(self.pool) == 0:
                self.pool = np.round(rng.normal(size=(max(2, self.n // 4), self.d)), 2)
            X = self.pool[rng.integers(len(self.pool), size=n)]
        if self.form == "csr":
            X = X * (rng.random(X.shape) < 0.6)
        return X

    def draw_weights(self, n: int) -> np.ndarray:
        if self.weights == "ones":
            return np.ones(n)
        mild = self.rng.uniform(0.2, 2.0, n)
        odd = self.rng.random(n)
        if self.weights == "mild":
            return np.where(odd < 0.05, 0.0, mild)
        wild = 10.0 ** self.rng.uniform(-4, 4, n)
        return np.select([odd < 0.08, odd < 0.5], [0.0, mild], wild)

    def as_input(self, X):
        """The rows in the form in which the model gets them."""
        if self.form == "csr":
            return sparse.csr_matrix(X)
        return X.astype(np.float32) if self.form == "float32" else X

    # ------------------------------------------------------------------- other parameters

    def retuned(self) -> dict:
        """Draw new values for one or two parameters that retune takes."""
        rng, values = self.rng, {}
        names = [p for p in ("C", "nu", "epsilon") if p in self.params]
        if self.kind == "csvc":
            names.append("class_weight")
        if self.kernel in ("poly", "sigmoid", *DISTANCES):
            names.append("gamma")
        if self.kernel == "poly":
            names += ["coef0", "degree"]
        for name in rng.choice(
            names, size=min(len(names), 1 + (rng.random() < 0.2)), replace=False
        ):
            if name == "class_weight":
                span = 0.7 if self.ordinary else 3.0
                labels = range(self.n_classes)
                values["class_weight"] = {i: power(rng, -span, span) for i in labels}
            elif name in ("C", "nu", "epsilon"):
                values[str(name)] = problem_value(rng, str(name), self)
            elif name == "gamma":
                span = 1.0 if self.ordinary else 4.0
                values["gamma"] = self.kernel_params["gamma"] * power(rng, -span, span)
            elif name == "coef0":
                values["coef0"] = float(rng.choice([0.0, 1.0, 3.0]))
            else:
                values["degree"] = int(rng.choice(self.degrees))
        return values


def problem_value(rng, name: str, scene: Scene) -> float:
    """Draw C, nu or epsilon."""
    if name == "C":
        if scene.kind == "svdd":
            return power(rng, -2, 0) if scene.ordinary else power(rng, -3, 4)
        return power(rng, -2, 3) if scene.ordinary else power(rng, -6, 8)
    if name == "nu":
        return float(rng.choice([rng.uniform(0.02, 0.9), 0.5, 0.1, 1.0], p=[0.7, 0.1, 0.1, 0.1]))
    epsilon = float(rng.choice([0.0, 0.1, rng.uniform(0.0, 1.0)]))
    return epsilon * scene.t_scale


def scene_of(seed: int) -> Scene:
    """Draw a scene."""
    rng = np.random.default_rng(seed)
    ordinary = bool(rng.random() < 0.5)
    name = str(rng.choice(ESTIMATORS))
    large = rng.random() < 0.03
    n = int(rng.integers(150, 500)) if large else int(5 * 24.0 ** rng.random())
    d = int(rng.choice([1, 2, 2, 3, 3, 5, 8, 20]))
    scale, offset = features(rng, d, ordinary)
    scene = Scene(
        rng=rng,
        ordinary=ordinary,
        name=name,
        form=str(rng.choice(["float64", "float64", "float32", "csr"])),
        structure=str(rng.choice(STRUCTURES)),
        n=n,
        d=d,
        n_classes=int(rng.choice([2, 2, 2, 3, 4])),
        kernel=None,
        kernel_params={},
        params={},
        scale=scale,
        offset=offset,
        apart=float(rng.choice([0.0, 1.0, 2.0, 6.0])),
        noise=float(rng.choice([0.0, 0.3, 1.0])),
        t_scale=1.0 if ordinary or rng.random() < 0.5 else power(rng, -6, 6),
        weights=str(rng.choice(["ones", "mild"] if ordinary else ["ones", "mild", "wild"])),
    )
    choose_kernel(scene)
    choose_params(scene)
    if name == "SVC" and np.random.default_rng([seed, 2]).random() < 0.5:
        scene.params["loss"] = "squared_hinge"
    choose_memory(scene, np.random.default_rng([seed, 1]))
    choose_distance(scene, np.random.default_rng([seed, 2]))
    return scene


def features(rng, d: int, ordinary: bool) -> tuple[np.ndarray, np.ndarray]:
    """Scales and offsets of the features."""
    scale, offset = np.ones(d), np.zeros(d)
    if ordinary:
        return scale * rng.uniform(0.5, 2.0), offset + rng.choice([0.0, 2.0])
    how = rng.random()
    if how < 0.3:
        scale = scale * power(rng, -6, 6)
    elif how < 0.6:
        scale = 10.0 ** rng.uniform(-6, 6, d)
    elif how < 0.7:
        scale = 10.0 ** rng.uniform(-2, 2, d)
    if rng.random() < 0.4:
        offset = rng.choice([-1.0, 0.0, 1.0], d) * power(rng, 0, 7)
    return scale, offset


def choose_kernel(scene: Scene) -> None:
    rng = scene.rng
    names = ["linear", "rbf", "rbf", "poly"]
    if not scene.ordinary:
        names += ["sigmoid", "callable"]
    name = str(rng.choice(names))
    width = 1.0 / (scene.d * float(np.median(scene.scale)) ** 2)
    span = 1.0 if scene.ordinary else 4.0
    gamma = width * power(rng, -span, span)
    if not scene.ordinary and rng.random() < 0.15:
        gamma = power(rng, -8, 8)
    if name == "callable":
        scene.form = "float64"
        which = str(rng.choice(["laplace", "affine"]))
        scene.kernel = PythonKernel(which, np.sqrt(gamma) if which == "laplace" else gamma)
        return
    scene.kernel = name
    if name != "linear":
        scene.kernel_params["gamma"] = gamma
    if name in ("poly", "sigmoid"):
        choices = [0.0, 1.0] if scene.ordinary else [0.0, 1.0, 1.0, -0.5, 10.0]
        scene.kernel_params["coef0"] = float(rng.choice(choices))
    if name == "poly":
        scene.kernel_params["degree"] = int(rng.choice(scene.degrees))


def choose_distance(scene: Scene, rng) -> None:
    """Let others stand for half of the rbf kernels; `rng` leaves older walks as they were."""
    if scene.kernel != "rbf" or rng.random() < 0.5:
        return
    scene.kernel = str(rng.choice(DISTANCES[1:]))
    if scene.kernel == "laplacian":
        scene.kernel_params["gamma"] = float(np.sqrt(scene.kernel_params["gamma"]))


def choose_params(scene: Scene) -> None:
    rng, params = scene.rng, scene.params
    for parameter in {
        "csvc": ("C",),
        "nusvc": ("nu",),
        "epssvr": ("C", "epsilon"),
        "oneclass": ("nu",),
        "svdd": ("C",),
    }[scene.kind]:
        params[parameter] = problem_value(rng, parameter, scene)
    if scene.kind in ("csvc", "nusvc"):
        params["multi_class"] = str(rng.choice(["ovo", "ovo", "ovr"]))
        params["decision_function_shape"] = params["multi_class"]
    if rng.random() < 0.3:
        params["cache_size"] = float(rng.choice([1e-3, 1e-2]))
    if scene.name.startswith("Budget"):
        params["budget"] = max(2, scene.n)
    if scene.name.startswith("SVIncremental"):
        params["sv_weight"] = rng.choice([1.0, 3.0]).item()


def choose_memory(scene: Scene, rng: np.random.Generator) -> None:
    """Give a third of the machines that take any memory one that lets examples go."""
    from supple.memory import AdaptiveWindow, Budget, Decay, SupportVectors, Window

    if scene.name not in ("SVC", "NuSVC", "SVR", "OneClassSVM", "SVDD") or rng.random() > 1 / 3:
        return
    size = max(2, int(scene.n * rng.uniform(0.3, 1.2)))
    supervised = scene.name in ("SVC", "NuSVC", "SVR")
    hinge = "loss" not in scene.params
    scene.params["memory"] = [
        Window(size),
        AdaptiveWindow("leave_one_out", n_estimated=size) if supervised else Window(5, "batches"),
        AdaptiveWindow() if scene.name == "SVC" and hinge else Decay(3.0, "batches"),
        Decay(float(size)),
        SupportVectors("ruping" if rng.random() < 0.5 else 2.0),
        Budget(size),
        Budget(size, rule="relevance"),
    ][int(rng.integers(7))]
