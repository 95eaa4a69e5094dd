"""An audit has the same bits on every engine, in any number of shards, and after a worker was killed."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from jali import api
from jali.api.shards import Shard, merge, run_shard
from jali.audit.all_models import gather
from jali.audit.setup import Experiment, Resources, load
from jali.config import checked
from jali.core import registry
from jali.core.errors import JaliError
from jali.store import Store

CONFIG = checked(
    {"data": "lending(n=160)", "model": "logistic", "game": "rotate(models=8)", "explain": []} | {"attack": ["lira"]}
)
dask = pytest.mark.skipif(not importlib.util.find_spec("distributed"), reason="Dask is not installed")


def numbers(found) -> str:
    """All rows as text, but the seconds, which no seed repeats."""
    return json.dumps([row.model_dump() for row in found.results.rows if row.metric != "seconds"])


@pytest.fixture(scope="module")
def alone():
    return numbers(api.from_config(CONFIG, Resources()))


def on(engine, store=None, **more) -> str:
    return numbers(api.from_config(CONFIG, Resources(workers=2, block=2, engine=engine, store=store, **more)))


def test_threads_and_processes_and_a_store_at_a_url(alone, tmp_path):
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    with ThreadPoolExecutor(2) as threads:
        assert on(threads) == alone
        assert on(threads, Store("memory://engines")) == alone
    with ProcessPoolExecutor(2) as pool:
        assert on(pool, Store(f"file://{tmp_path}/store")) == alone
    kept = list((tmp_path / "store").rglob("*"))
    assert any(path.suffix == ".npz" for path in kept)
    assert not any(path.suffix in (".npy", ".part") for path in kept)  # what was published is gone


@pytest.mark.parametrize("many", [1, 3, 7])
def test_shards_make_the_same_audit(alone, tmp_path, many):
    resources = Resources(store=Store(tmp_path / "store"))
    done = [run_shard(CONFIG, resources, Shard(part, many), tmp_path) for part in range(1, many)]
    with pytest.raises(JaliError, match=r"not in the store|no audit\.toml"):
        merge(tmp_path, resources)
    done.append(run_shard(CONFIG, resources, Shard(many, many), tmp_path))
    assert sum(d.new for d in done) == sum(d.models for d in done) == 8
    assert run_shard(CONFIG, resources, Shard(1, many), tmp_path).new == 0
    assert numbers(merge(tmp_path, resources)) == alone


@pytest.mark.parametrize("times", [1, 2])
def test_a_folder_that_another_worker_makes_at_the_same_moment_is_there(monkeypatch, times):
    """Over FTP the second of two workers was refused, and its audit ended with a traceback."""
    memory = pytest.importorskip("fsspec.implementations.memory", reason="fsspec is not installed").MemoryFileSystem
    make = memory.makedirs
    refused = []

    def beside(self, path, exist_ok=False):
        if len(refused) < times:
            refused.append(path)
            make(self, path.rpartition("/")[0] if len(refused) < times else path, exist_ok=True)
            raise OSError("550 File exists.")
        make(self, path, exist_ok=exist_ok)

    monkeypatch.setattr(memory, "makedirs", beside)
    store = Store(f"memory://beside{times}")
    store.save("ab" * 20, {"x": np.ones(2)})
    assert len(refused) == times
    assert store.load("ab" * 20)["x"].tolist() == [1.0, 1.0]


def test_shards_with_other_settings_are_refused(tmp_path):
    """`merge` would take the settings of the one that ended last."""
    resources = Resources(store=Store(tmp_path / "store"))
    run_shard(CONFIG, resources, Shard(1, 2), tmp_path)
    written = (tmp_path / "shards.toml").read_text()
    (tmp_path / "shards.toml").write_text(f"# by hand\n{written}")
    (tmp_path / "audit.toml").write_text("seed = 99\n")  # of another audit in the same folder
    assert run_shard(CONFIG, resources, Shard(1, 2), tmp_path).new == 0  # the same settings, written in another way
    other = CONFIG.model_copy(update={"seed": CONFIG.seed + 1})
    with pytest.raises(JaliError, match="has other settings than this shard"):
        run_shard(other, resources, Shard(2, 2), tmp_path)


@pytest.mark.parametrize("text", ["0/7", "8/7", "2", "a/b", "-1/3"])
def test_a_shard_that_is_none_is_one_sentence(text):
    with pytest.raises(JaliError, match="--shard takes"):
        Shard.parse(text)


def small(model: str = "logistic"):
    parts = [registry.build(kind, text) for kind, text in (("data", "lending(n=120)"), ("model", model))]
    return load(Experiment(*parts, registry.build("game", "rotate(models=4)")))


def test_results_stay_in_the_store_and_only_keys_come_back(tmp_path):
    from jali.audit import all_models, one_model
    from jali.parallel import engine, sharing

    setup = small()
    resources = Resources(workers=2, store=Store(tmp_path))
    shared = one_model.shared_arrays(setup.data, all_models.roles_of(setup.game))
    with ThreadPoolExecutor(1) as threads, sharing(shared, engine(threads), resources.store) as ref:
        (block, *_) = all_models.blocks(setup, resources, all_models.readouts(setup.parts), ref)
        assert one_model.run_block(block) == [[None]] * len(block.numbers)
    assert all(resources.store.has(key) for (key,) in block.keys)


def test_a_task_is_small_and_has_no_table_in_it(tmp_path):
    import pickle

    from jali.audit import all_models, one_model
    from jali.parallel import engine, sharing

    setup = load(replace(small().parts, data=registry.build("data", "lending(n=5000)")))
    resources = Resources(workers=2, store=Store(tmp_path))
    shared = one_model.shared_arrays(setup.data, all_models.roles_of(setup.game))
    with ThreadPoolExecutor(1) as threads, sharing(shared, engine(threads), resources.store) as ref:
        for block in all_models.blocks(setup, resources, all_models.readouts(setup.parts), ref):
            assert len(pickle.dumps(block)) < 10_000


def test_what_is_damaged_in_the_store_is_made_again(tmp_path):
    store = Store(tmp_path)
    first = gather(small(), Resources(workers=2, block=1, store=store))
    for path in tmp_path.glob("??/*.npz"):
        path.write_bytes(b"PK half of it")
    with ThreadPoolExecutor(2) as threads:
        again = gather(small(), Resources(workers=2, block=1, store=store, engine=threads))
    np.testing.assert_array_equal(first.evidence.value, again.evidence.value)


def test_a_place_that_workers_do_not_see_is_one_sentence(tmp_path):
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    from jali.parallel.sharing import Mapped, Published

    for ref in (Published(Store(tmp_path), "shared/0", ("X",)), Published(Store("memory://elsewhere"), "s/0", ("X",))):
        with pytest.raises(JaliError, match="must lead every machine to the same files"):
            ref.read()
    with pytest.raises(JaliError, match="give a store that all of them reach"):
        Mapped(str(tmp_path / "gone"), ("X",)).read()


def started(*words: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "distributed.cli.dask_" + words[0], *words[1:], "--no-dashboard"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@dask
def test_a_dask_cluster_over_tcp_whose_worker_is_killed(alone, tmp_path):
    """The worker is killed when the first model is in the store; another one takes over."""
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    host, port = address.split(":")
    one = ["--nthreads", "1", "--no-nanny", "--memory-limit", "0"]
    all_of_them = [started("scheduler", "--host", host, "--port", port)]
    try:
        all_of_them += [started("worker", f"tcp://{address}", *one) for _ in range(2)]
        store = Store(tmp_path / "store")

        def killing(label):
            def progress(done, total):
                if done == 1 and label == "training and explaining":
                    all_of_them[1].kill()
                    time.sleep(0.1)

            return progress

        assert on(f"dask://{address}", store, watch=killing) == alone
        assert all_of_them[1].wait(5) != 0
    finally:
        from jali.parallel import stop

        stop()
        for process in all_of_them:
            process.kill()
            process.wait()


def test_a_fitted_model_of_ones_own_goes_to_its_own_task_and_comes_back_as_arrays(tmp_path):
    """It has no content key, so nothing of it is kept; the table is published in the store all the same."""
    from sklearn.linear_model import LogisticRegression

    from jali.api.own_model import Own, own_experiment

    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = (X[:, 0] + rng.normal(size=120) > 0).astype(int)
    model = LogisticRegression().fit(X[:60], y[:60])
    own = Own((X[:60], y[:60]), (X[60:], y[60:]))
    setup = load(own_experiment(model, own, "given_model(members=60, shadows=4)", 0)[0])
    resources = Resources(workers=2, block=2, store=Store(tmp_path)).unstored()
    here = gather(setup, Resources())
    with ProcessPoolExecutor(2) as pool:
        there = gather(setup, replace(resources, engine=pool))
    np.testing.assert_array_equal(here.evidence.value, there.evidence.value)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
