"""What must hold after every operation of a walk."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from .certificate import BAR, EPS, Certificate, Problem, certify, margin_of
from .interior import better_objective
from .kernels import diagonal
from .reading import Held, decisions, problems
from .walk import Walk

SAME = 1e-6  # part of the scale by which two ways to the same model may differ
BEATEN = 1e-8  # relative
FRESH = {
    "csvc": "SVC",
    "nusvc": "NuSVC",
    "epssvr": "SVR",
    "oneclass": "OneClassSVM",
    "svdd": "SVDD",
}


@dataclass
class Verdict:
    """Machines, certificates, decision values and claims of one model."""

    problems: list[Problem]
    certificates: list[Certificate]
    values: np.ndarray  # at the probe points, one column per machine
    exact: bool
    kkt: float

    @property
    def flat(self) -> bool:
        """A nu-SVC whose margin has no width beyond rounding: decision values mean nothing."""
        return any(len(p.targets) == 2 and margin_of(p) == 0 for p in self.problems)


@dataclass
class Checks:
    """Check a walk after each of its steps, and count."""

    walk: Walk
    counts: Counter = field(default_factory=Counter)
    where: str = ""  # "" for the model of the walk, or which other is looked at

    def after_step(self) -> None:
        """Check the model as it is now."""
        walk, model = self.walk, self.walk.model
        if "_model" not in vars(model):
            return
        self.counts["steps"] += 1
        if set(model.ids_.tolist()) != set(walk.held):
            walk.fail("ids_ are not those held", f"{sorted(walk.held)} {model.ids_.tolist()}")
            return
        held = walk.now()
        if len(held.X) == 0 or (held.labelled and len(held.classes()) < 2):
            return
        probe = self.probe(held)
        ready = self.ready(model, held, probe)
        if not ready:
            self.counts["waiting"] += 1
            return
        verdict = self.judge(model, held, probe)
        if verdict is None:
            return
        if walk.rng.random() < 0.1:
            self.far_queries(model, held)
        definite = claims(held)
        share = 0.5 if len(held.X) <= 150 else 0.2
        if definite and (not verdict.exact or walk.rng.random() < share):
            self.compare(verdict, held, probe)
        if definite and verdict.exact and len(held.X) <= 150 and walk.rng.random() < 0.15:
            self.second_opinion(verdict)

    # ------------------------------------------------------------------- one model

    def fail(self, kind: str, text: str) -> None:
        self.walk.fail(self.where + kind, text)

    def probe(self, held: Held) -> np.ndarray:
        rng = self.walk.rng
        some = rng.choice(len(held.X), size=min(4, len(held.X)), replace=False)
        return np.concatenate([held.X[some], self.walk.scene.draw(4)[0]])

    def ready(self, model, held: Held, probe) -> bool:
        """Whether the model predicts, which it must do just where its problem is feasible."""
        from supple.errors import InfeasibleError

        room = held.room()
        try:
            model.predict(self.walk.scene.as_input(probe))
        except InfeasibleError as error:
            if room > 1e-9 and held.kind != "nusvc":  # which may refuse to do without a margin
                self.fail("feasible, but waits", str(error))
            return False
        except Exception as error:
            self.fail(f"foreign exception {type(error).__name__}", f"predict: {error}")
            return False
        if room < -1e-9:
            self.fail("infeasible, but predicts", f"room {room:.3g}")
            return False
        return True

    def judge(self, model, held: Held, probe) -> Verdict | None:
        """Certify every machine, and hold the model to what it says of itself."""
        found = problems(model, held)
        certificates = [certify(p) for p in found]
        values = self.values(model, held, probe)
        if values is None:
            return None
        verdict = Verdict(found, certificates, values, bool(model.exact_), model.kkt_violation_)
        if not claims(held) and verdict.exact and held.kernel == "sigmoid":
            self.fail("exact_ with an indefinite kernel", "")
        self.counts["exact" if verdict.exact else "inexact"] += 1
        for p, c in zip(found, certificates, strict=True):
            if verdict.exact:
                self.check_exact(p, c, verdict.kkt)
        self.check_word(model, verdict, held)
        if held.kind == "nusvc" and verdict.exact and verdict.flat:
            largest = np.abs(values).max(axis=0)
            self.fail("nu-SVC without a margin predicts", f"max |f| {largest.min():.2g}")
        return verdict

    def check_exact(self, p: Problem, c: Certificate, kkt: float) -> None:
        if not c.violation <= c.allowed:
            self.fail(
                f"untrue exact_, {size_of(c.violation, c)}",
                f"certificate {c.best:.2e}, boxes and sums {c.feasible:.2e}, allowed "
                f"{c.allowed:.2e}, kkt_violation_ {kkt:.2e}, scale {c.scale:.3g}",
            )
            return
        wrong = np.abs(p.mu - c.mu_middle) > SAME * c.scale + 8 * c.rounding * c.scale
        if wrong.any():
            self.fail(
                "intercept is not the middle of its interval",
                f"mu {p.mu.astype(float)}, middle {c.mu_middle.astype(float)}, width "
                f"{c.mu_width.astype(float)}, scale {c.scale:.3g}",
            )
        elif not c.own <= c.allowed:
            self.fail(
                f"intercept violates KKT, {size_of(c.own, c)}",
                f"certificate {c.own:.2e} at the intercept, {c.best:.2e} at the best",
            )

    def check_word(self, model, verdict: Verdict, held: Held) -> None:
        """kkt_violation_ and dual_objective_ must be what the certificate measures."""
        kkt = verdict.kkt
        own = max(max(c.own, 0.0) for c in verdict.certificates)
        rounding = max(c.rounding + c.own_rounding for c in verdict.certificates)
        # Without a margin the intercept of a nu-SVC does not tell both of its multipliers. The two
        # variables of an example of SVR may both be away from 0 where the kernel is indefinite.
        told = claims(held) and not verdict.flat
        # The certificate takes a variable one rounding from its bound to be on it; a model that is
        # not exact may count its violation.
        apart = own - kkt if not model.exact_ else abs(kkt - own)
        if told and not apart <= 0.1 * max(kkt, own) + 1e-9 + 64 * rounding:
            ratio = "too small" if kkt < own else "too large"
            self.fail(
                f"kkt_violation_ is {ratio}",
                f"{kkt:.3e}, certificate {own:.3e}, exact_ {verdict.exact}",
            )
        value = sum(c.objective for c in verdict.certificates)
        allowed = sum(64 * c.objective_rounding for c in verdict.certificates) + 1e-9 * abs(value)
        if model.exact_ and not abs(model.dual_objective_ - value) <= allowed:
            self.fail("dual_objective_ is wrong", f"{model.dual_objective_!r}, should be {value!r}")

    def values(self, model, held: Held, probe) -> np.ndarray | None:
        """Decision values, which must be what the attributes tell."""
        Z = self.walk.scene.as_input(probe)
        decide = model.predict if held.kind == "epssvr" else model.decision_function
        got = decide(Z)
        got = got[:, None] if got.ndim == 1 else got
        f, terms = decisions(model, held, probe)
        f, terms = f.astype(float), terms.astype(float)
        known = np.isfinite(f) & np.isfinite(terms)
        if not np.isfinite(got[known]).all():
            self.fail("NaN or infinity predicted", f"{got.tolist()}, should be {f.tolist()}")
            return None
        apart = np.abs(got - f)[known]
        allowed = 256 * EPS * (held.X.shape[1] + 1) * terms[known]
        if held.kind in ("oneclass", "svdd"):  # 0 stands for values up to 1e-12 of the offset
            allowed = allowed + 1.01e-12 * np.abs(model.offset_)
        if (apart > allowed).any():
            worst = int(np.argmax(apart - allowed))
            self.fail(
                "decision values are not those of the attributes",
                f"{got[known][worst]!r}, should be {f[known][worst]!r}, terms "
                f"{terms[known][worst]:.3g}",
            )
        return got

    def far_queries(self, model, held: Held) -> None:
        """Queries where kernel values overflow may be refused, but NaN is no answer."""
        from supple.errors import InvalidInputError

        far = self.walk.rng.choice([1e3, 1e30, 1e100, 1e200])
        if self.walk.scene.form == "float32":
            far = min(far, 1e30)
        Z = self.walk.scene.as_input(held.X[:3] * far)
        decide = model.predict if held.kind == "epssvr" else model.decision_function
        try:
            with warnings.catch_warnings(record=True) as heard:
                warnings.simplefilter("always")
                values = decide(Z)
        except InvalidInputError:
            return
        except Exception as error:
            self.fail(f"foreign exception {type(error).__name__}", f"far query: {error}")
            return
        if np.isnan(values).any():
            self.fail("NaN predicted far away", f"at {far:g} times examples held")
        for warning in heard:
            kind = f"foreign warning {warning.category.__name__}"
            self.fail(kind, f"far query: {warning.message} ({warning.filename})")

    # ------------------------------------------------------------------- other ways

    def compare(self, walked: Verdict, held: Held, probe) -> None:
        """A fresh fit on what is held must give the same model."""
        walk = self.walk
        known = {k: v for k, v in held.params.items() if k not in ("budget", "sv_weight", "memory")}
        known.pop("cache_size", None)
        model = walk.scene.make(FRESH[held.kind], known)
        target = {"y": held.y} if held.kind in ("csvc", "nusvc", "epssvr") else {}
        if not held.w.any():
            return
        walk.announce(f"step {walk.count}: fresh fit on {len(held.X)}")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(walk.scene.as_input(held.X), **target, sample_weight=held.w)
        except Exception as error:
            if not type(error).__module__.startswith("supple"):
                walk.fail(f"foreign exception {type(error).__name__}", f"fresh fit: {error}")
            self.counts["fresh fit refused"] += 1
            return
        self.where = "fresh fit: "
        fresh = self.judge(model, held, probe)
        self.where = ""
        if fresh is None:
            return
        if walked.flat or fresh.flat:  # which are not exact, and neither are the others
            self.counts["without a margin"] += 1
            return
        side = "ordinary" if walk.scene.ordinary else "wild"
        self.counts[f"compared {side}"] += 1
        self.counts[f"fresh inexact {side}"] += not fresh.exact
        self.counts[f"walk inexact, fresh exact {side}"] += fresh.exact and not walked.exact
        self.counts[f"walk exact, fresh inexact {side}"] += walked.exact and not fresh.exact
        if walked.exact and fresh.exact:
            self.check_same(walked, fresh, held, probe)

    def check_same(self, walked: Verdict, fresh: Verdict, held: Held, probe) -> None:
        points = np.concatenate([probe, held.X])
        reach = float(np.sqrt(np.abs(diagonal(held.kernel, held.params, points)).max()))
        pairs = zip(
            walked.problems, walked.certificates, fresh.certificates,
            walked.values.T, fresh.values.T, strict=True,
        )  # fmt: skip
        for p, a, b, f, g in pairs:
            # 1/2 |w - w*|^2 <= gap: so far the certificates leave w, and b with it, open.
            apart = 2 * reach * (np.sqrt(2 * a.gap) + np.sqrt(2 * b.gap))
            size = max(a.scale, float(np.abs(p.unit * f).max()))
            open_yet = apart + 64 * (a.rounding + b.rounding) * a.scale
            allowed = (SAME * size + open_yet) * (1 + np.abs(f).max() * (len(p.targets) == 2))
            difference = f - g
            if np.abs(difference).max() * p.unit <= allowed:
                continue
            kind = "two ways differ"
            if np.ptp(difference) <= 1e-3 * np.abs(difference).max():
                pinned = [np.isnan(c.mu_middle).all() for c in (a, b)]
                kind += {0: ", b without margin", 1: ", b with margin in one", 2: ", b"}[
                    sum(pinned)
                ]
            self.fail(
                kind,
                f"by {np.abs(difference).max():.3g} (|f| {np.abs(f).max():.3g}), allowed "
                f"{allowed / p.unit:.3g}; KKT {a.own:.1e} and {b.own:.1e}, gaps {a.gap:.1e}, "
                f"{b.gap:.1e}",
            )
            return

    def second_opinion(self, verdict: Verdict) -> None:
        """An interior-point solver must not find a better point."""
        for p, c in zip(verdict.problems, verdict.certificates, strict=True):
            self.walk.announce(f"step {self.walk.count}: Clarabel")
            theirs = better_objective(p)
            if theirs is None:
                continue
            self.counts["second opinions"] += 1
            infeasible = c.feasible * float(np.abs(p.mu).max() * np.abs(p.x).sum())
            x_off = 1e-12 * np.maximum(np.abs(p.lo), np.abs(p.hi))  # what Clarabel may leave
            terms = np.abs(p.c) @ x_off + x_off.sum() ** 2 * np.abs(p.K).max()
            rounding = 4 * c.objective_rounding + float(terms)
            allowed = BEATEN * abs(c.objective) + rounding + infeasible
            if theirs - c.objective > allowed:
                self.fail(
                    "Clarabel is better",
                    f"{theirs!r} against {c.objective!r}, gap {c.gap:.2e}, KKT {c.best:.1e}",
                )
            elif theirs - c.objective > c.gap * (1 + 1e-9) + rounding + infeasible:
                self.fail(
                    "the certificate is wrong",
                    f"Clarabel gains {theirs - c.objective:.3e}, gap {c.gap:.3e}",
                )


def size_of(violation: float, c: Certificate) -> str:
    """How bad a violation above the bar is."""
    if violation <= BAR + 4 * c.rounding:
        return "by what float64 cannot measure"
    return "up to 1e-6" if violation <= 1e-6 else "above 1e-6"


def claims(held: Held) -> bool:
    """Whether the kernel is positive semi-definite, so that models can be exact."""
    if held.kernel == "sigmoid":
        return False
    return held.kernel != "poly" or held.params["coef0"] >= 0
