"""What the positive control expects of an audit, beside what audits of that size do; finer than counting what is found.

`python benchmarks/bench_control.py "500 people" 0.02 0.03 0.04 0.05 [--controls 40] [--audits 80]`: a setting of
`bench_combined.py` whose name begins so, and additions in AUC. Controls are drawn, and audits with each addition beside
them. For each addition: what is recovered, half of the interval and the share that is found, as the controls expect it
and as audits have it; and by the audits' shares, how often what the controls name would be found.
"""

from __future__ import annotations

import argparse

import numpy as np

from bench_combined import SIZES_OF_AUDITS, Size, audit_of, drawn, interval
from jali.attacks.joint import Joint
from jali.audit.detection import Planted, detectable, power
from jali.audit.planting import Ideal, plant
from jali.audit.positive_control import recover
from jali.audit.trials import Trial
from jali.core.values import Channel, Evidence, Floats


def trial_of(found: Evidence) -> Trial:
    """The combined attack on all signals, beside the first."""
    return Trial(Joint(), found.names, Channel.SCORE_AND_EXPLANATION, "e", Channel.SCORE, 1)


def one_control(seed: int, size: Size) -> list[Planted]:
    """What the control of one audit knows."""
    rng = np.random.default_rng([9, seed])
    found, game = drawn(rng, size)
    return recover(found, game, trial_of(found), rng)


def one_audit(seed: int, size: Size, additions: Floats) -> Floats:
    """The difference and the ends of its interval (A, 3) with each addition planted in another audit."""
    rng = np.random.default_rng([10, seed])
    found, game = drawn(rng, size)
    made, _, trial = audit_of(found, game)
    ideal = Ideal.of(made.baseline["auc"])
    out = []
    for addition in additions:
        shift = ideal.shift_for(float(addition), rng)
        if shift is None:
            raise SystemExit(f"No AUC leaves room for an addition of {addition}: give smaller ones.")
        out.append(interval(audit_of(plant(found, trial, shift, rng).evidence, game)[1]))
    return np.array(out)


def main() -> None:
    """Print both sides, and how often what is named is found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("setting")
    parser.add_argument("additions", type=float, nargs="+")
    parser.add_argument("--controls", type=int, default=40)
    parser.add_argument("--audits", type=int, default=80)
    given = parser.parse_args()
    size = next(size for name, size in SIZES_OF_AUDITS.items() if name.startswith(given.setting))
    additions = np.sort(given.additions)
    audits = np.array([one_audit(seed, size, additions) for seed in range(given.audits)])
    controls = [one_control(seed, size) for seed in range(given.controls)]
    half = (audits[:, :, 2] - audits[:, :, 1]) / 2
    found = (audits[:, :, 1] > 0).mean(axis=0)
    expected = np.mean([power(additions, planted) for planted in controls], axis=0)
    for i, addition in enumerate(additions):
        mean = f"{audits[:, i, 0].mean():.4f} ± {audits[:, i, 0].std(ddof=1):.4f}"
        lower = f"half {half[:, i].mean():.4f}, lower end ± {audits[:, i, 1].std(ddof=1):.4f}"
        print(
            f"{addition:.4f}: audits recover {mean}, {lower}, found {found[i]:.2f}; controls expect {expected[i]:.2f}"
        )
    limits = np.array([limit for limit in map(detectable, controls) if limit is not None])
    # Between the additions by interpolation; the shares rise, as chance allows.
    share = np.interp(limits, additions, np.maximum.accumulate(found))
    low, middle, high = np.quantile(limits, (0.1, 0.5, 0.9))
    outside = int(((limits < additions[0]) | (limits > additions[-1])).sum())
    print(f"named in {len(limits)} of {len(controls)}: {middle:.4f} (80 % of controls {low:.4f} to {high:.4f})")
    print(f"of what is named {share.mean():.2f} would be found; {outside} of the limits lie outside the additions")


if __name__ == "__main__":
    main()
