"""Run tasks on workers, and share arrays with them once; the only package that imports joblib, dask or ray."""

from jali.parallel.engines import HERE, Engine, engine, stop
from jali.parallel.fanning import Progress, Watch, fan_out, send, silent
from jali.parallel.one_thread import alone
from jali.parallel.processes import cores
from jali.parallel.sharing import Here, Ref, sharing, sweep_killed

__all__ = [
    "HERE",
    "Engine",
    "Here",
    "Progress",
    "Ref",
    "Watch",
    "alone",
    "cores",
    "engine",
    "fan_out",
    "send",
    "sharing",
    "silent",
    "stop",
    "sweep_killed",
]
