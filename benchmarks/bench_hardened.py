"""What `hardened` does to attacks, whose shadow models go through the same wrapper.

German credit, 500 people, networks that remember them, LIME with few samples. First: the attack on the L1 norm of the
attributions, and the combined attack on all signals, without and with normalisation, and with two digits of three
columns; the same for input_x_gradient, which leaks more. Second: an attacker who asks 64 times and averages, without a
key; with a key, the 64 answers must be the same bit for bit.
Usage: bench_hardened.py [models] [people] [1: gradients alone]
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from jali.audit.all_models import gather
from jali.audit.plan import plan
from jali.audit.setup import Experiment, Resources, load
from jali.audit.trials import guess_by_metric
from jali.core import registry
from jali.core.explanation import Attribution, Gives, Wants
from jali.core.values import Channel, Floats, Rng, SignalName
from jali.defend._keys import FRESH
from jali.defend.explain.hardened import Hardened
from jali.explain.lime import Lime
from jali.stats.intervals import estimate

TIMES = 64
SAMPLES = 40
ASKED = 20


@dataclass(frozen=True)
class Asked:
    """The attacker asks `times` times and averages."""

    inner: Any = field(default_factory=Lime)
    times: int = TIMES
    gives: ClassVar[Gives] = "attribution"
    wants: ClassVar[Wants] = "labels"
    reads_training_data: ClassVar[bool] = False

    def prepare(self, model: Any, schema: Any, train: Any, rng: Rng) -> _Prepared:
        return _Prepared(self.inner.prepare(model, schema, train, rng), self.times)


@dataclass(frozen=True, eq=False)
class _Prepared:
    ready: Any
    times: int

    def explain(self, X: Floats, rng: Rng) -> Attribution:
        answers = [self.ready.explain(X, rng).value for _ in range(self.times)]
        same = all(np.array_equal(answers[0], other) for other in answers)
        return Attribution(answers[0] if same else np.mean(answers, axis=0))


def attacked(evidence: Any, game: Any, name: str) -> dict[str, Any]:
    """The strongest attack on the L1 norm, and the combined attack on the explanation, as AUC with intervals."""
    todo = plan(evidence, game)
    size = [t for t in todo.singles if t.names == (SignalName("attribution_l1", name),)]
    out = {}
    for label, trials in {"L1 norm": size, "combined": [todo.combined[name, Channel.EXPLANATION]]}.items():
        found = [guess_by_metric(evidence, game, t, metrics=("auc",)).score["auc"] for t in trials]
        numbers = [estimate("auc", g, np.random.default_rng(0))[0] for g in found]
        out[label] = max(numbers, key=lambda e: e.value or 0.0)
    return out


def gradients() -> dict[str, Any]:
    """An explainer that leaks without being asked again, as it is and hardened."""
    plain = registry.build("explain", "input_x_gradient")
    return {
        "input_x_gradient": plain,
        "gradient, normalised": Hardened(plain, normalise=True),
        "gradient, two digits of three": Hardened(plain, round=2, top=3, normalise=True),
    }


def main(models: int, people: int, only_gradients: int = 0) -> bool:
    lime = Lime(samples=SAMPLES)
    parts: dict[str, Any] = {
        "lime": lime,
        "normalised": Hardened(lime, normalise=True),
        "two digits of three columns": Hardened(lime, round=2, top=3, normalise=True),
        f"asked {TIMES} times": Asked(lime),
    }
    parts = gradients() if only_gradients else parts | gradients()
    data = registry.build("data", f"sample(german, n={people})")
    network = registry.build("model", "mlp(hidden=[64], epochs=150, lr=0.01)")
    game = registry.build("game", f"rotate(models={models})")
    setup = load(Experiment(data, network, game, explain=tuple(parts.values())))
    began = time.process_time()
    evidence = gather(setup, Resources()).evidence
    print(f"{time.process_time() - began:.0f} CPU seconds for models and explanations", flush=True)
    for label, part in parts.items():
        found = attacked(evidence, setup.game, registry.spec(part))
        told = "; ".join(f"{k} {e.value:.3f} ({e.low:.3f} to {e.high:.3f})" for k, e in found.items())
        print(f"{label:<30}{told}", flush=True)
    same = repeated(setup, network, lime)
    print(f"with a key, {TIMES} answers to each of {ASKED} people are the same bit for bit: {same}")
    return same


def repeated(setup: Any, network: Any, lime: Lime) -> bool:
    """Whether an answer is the same however often, in whatever company and with whatever seed it is asked for."""
    rng = np.random.default_rng(0)
    model = network.fit(setup.data, setup.game.member[:, :1], [rng])[0]
    ready = Hardened(lime, keyed=FRESH).prepare(model, setup.data.schema, None, rng)
    X = setup.data.X[:ASKED]
    first = ready.explain(X, rng)
    assert isinstance(first, Attribution)
    for seed in range(TIMES):
        order = np.random.default_rng(seed).permutation(ASKED)
        again = ready.explain(X[order], np.random.default_rng(seed))
        assert isinstance(again, Attribution)
        if not np.array_equal(again.value, first.value[order]):
            return False
    return True


if __name__ == "__main__":
    numbers = [int(text) for text in sys.argv[1:]]
    sys.exit(0 if main(*(numbers or [12, 500])) else 1)
