"""LiRA on 50,000 records x 128 models: our arrays against a loop over records, same numbers, one run."""

from __future__ import annotations

import resource
import time

import numpy as np

from jali.attacks.lira import LiRA
from jali.core.guesses import Shadows, Target
from jali.core.values import Bools, Floats

RECORDS, MODELS, LOOPED = 50_000, 128, 5_000


def loop(value: Floats, shadow: Floats, member: Bools) -> Floats:
    """What a person writes first: one record at a time, pooled variances, normal densities from scipy."""
    from scipy.stats import norm

    inside = [shadow[i][member[i]] for i in range(len(shadow))]
    outside = [shadow[i][~member[i]] for i in range(len(shadow))]
    sd_in = np.sqrt(np.mean([x.var(ddof=1) for x in inside]))
    sd_out = np.sqrt(np.mean([x.var(ddof=1) for x in outside]))
    out = [
        norm.logpdf(value[i], inside[i].mean(), sd_in) - norm.logpdf(value[i], outside[i].mean(), sd_out)
        for i in range(len(value))
    ]
    return np.array(out)


def best(run: object, times: int = 3) -> float:
    """Shortest of a few runs, in seconds."""
    seconds = []
    for _ in range(times):
        began = time.perf_counter()
        run()  # type: ignore[operator]
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def main() -> None:
    """Time both, check that they agree, print the ratio."""
    rng = np.random.default_rng(0)
    member = rng.random((RECORDS, MODELS)) < 0.5
    value = rng.normal(size=(RECORDS, 1)) + 0.5 * member + rng.normal(size=(RECORDS, MODELS))
    target = Target(value[None, :, 0], np.ones((1, RECORDS), dtype=bool))
    shadows = Shadows(value[None, :, 1:], np.ones((1, RECORDS, MODELS - 1), dtype=bool), member[:, 1:])
    few = Shadows(shadows.value[:, :LOOPED], shadows.observed[:, :LOOPED], shadows.member[:LOOPED])
    ours = best(lambda: LiRA().score(target, shadows))
    naive = best(lambda: loop(value[:LOOPED, 0], few.value[0], few.member), 1) * RECORDS / LOOPED
    slice_ = Target(target.value[:, :LOOPED], target.observed[:, :LOOPED])
    apart = np.abs(LiRA().score(slice_, few) - loop(value[:LOOPED, 0], few.value[0], few.member)).max()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"lira, {RECORDS:,} records x {MODELS} models, one target (loop: {LOOPED:,} records, scaled)")
    print(f"  jali {ours:.3f} s, loop over records {naive:.2f} s: {naive / ours:.0f}x; largest difference {apart:.1e}")
    print(f"  peak memory {peak:.0f} MB (the evidence itself: {value.nbytes / 2**20:.0f} MB)")


if __name__ == "__main__":
    main()
