"""Known numbers of training rows are found in objects, files and documents, and none among other people's rows."""

from __future__ import annotations

import base64
import gzip
import json
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest

import jali
from jali.core.errors import JaliError
from jali.report import scan as page
from tests.audit.scan.people import NUMBERS, OTHERS, TRAIN, table

ROWS = TRAIN[NUMBERS].to_numpy(float)


def leaks(what, **options):
    found = jali.scan(what, TRAIN, **options).results
    return found.people, [(place.where, place.rows, place.of) for place in found.leaks]


class Explainer:
    """Stands for a library's explainer: rows deep inside, in whatever form."""

    def __init__(self, rows):
        self.masker = {"data": rows}
        self.predict = lambda X: rows[: len(X)]


def encoded():
    scaled = (TRAIN[NUMBERS] - TRAIN[NUMBERS].mean()) / TRAIN[NUMBERS].std(ddof=0)
    return np.hstack([scaled.to_numpy(), pd.get_dummies(TRAIN[["job", "paid"]]).to_numpy(float)])


@pytest.mark.parametrize(
    "rows",
    [
        ROWS[:60],
        ROWS[:60, [2, 0, 1]],
        ROWS[:60].astype(np.float32),
        ((TRAIN[NUMBERS] - TRAIN[NUMBERS].mean()) / TRAIN[NUMBERS].std()).to_numpy()[:60],
        ((TRAIN[NUMBERS] - TRAIN[NUMBERS].min()) / (TRAIN[NUMBERS].max() - TRAIN[NUMBERS].min())).to_numpy()[:60],
        encoded()[:60],
        encoded()[:60, ::-1],
        TRAIN.assign(job=pd.Categorical(TRAIN.job).codes, paid=pd.Categorical(TRAIN.paid).codes).to_numpy(float)[:60],
        TRAIN[:60],
        TRAIN[:60].round({"income": 1}),
        TRAIN.iloc[:60, [4, 1, 0]],
        ROWS[:60].tolist(),
        TRAIN[:60].to_dict("records"),
        TRAIN[:60].to_dict("list"),
        TRAIN[:60].to_dict(),
        TRAIN[:60].to_dict("split"),
        TRAIN[:60].to_records(index=False),
    ],
    ids=range(17),
)
def test_rows_are_found_in_any_form_and_order(rows):
    assert leaks(Explainer(rows)) == (60, [("Explainer.masker.data", 60, 60)])


def test_other_peoples_rows_are_no_leak():
    others = OTHERS[NUMBERS].to_numpy(float)
    for rows in (others, OTHERS, OTHERS.to_dict("records"), others / others.max(axis=0), np.zeros((50, 3))):
        assert leaks(Explainer(rows)) == (0, [])


def test_chance_matches_on_a_coarse_table_are_not_called_a_leak():
    """With 80 possible rows nearly everybody's row is somebody's: such a match says nothing."""
    rng = np.random.default_rng(0)
    coarse = [pd.DataFrame(rng.integers(0, 3, (300, 4)), columns=list("abcd")) for _ in range(3)]
    for others in (None, coarse[2]):
        found = jali.scan(coarse[1], coarse[0], others=others).results
        assert found.places[0].rows > 250
        assert found.places[0].chance == pytest.approx(found.places[0].rows, rel=0.05)
        assert not found.leaks
        assert page.answer(found).startswith("No more training rows than chance explains were found")


def test_columns_without_names_in_another_order_are_no_leak_on_a_coarse_table():
    """Taken for the wrong columns, other people's rows fit more often than rows of the right ones."""
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(4), size=4)
    train, others = (np.stack([rng.choice(4, 300, p=p) for p in shares], axis=1) for _ in range(2))
    names = list("abcd")
    for rows in (others[:, ::-1], others[:, [1, 0, 3, 2]], others):
        assert not jali.scan(rows.astype(float), pd.DataFrame(train, columns=names)).results.leaks
    found = jali.scan(others[:, ::-1].astype(float), pd.DataFrame(train, columns=names)).results
    assert "too common to tell" in found.notes[-1]


def test_a_few_training_rows_among_many_others_are_found():
    """With 300 training rows alone, chance matches may be too frequent to tell; 2,000 other people settle it."""
    mixed = pd.concat([OTHERS, TRAIN[:7]], ignore_index=True)
    assert leaks(mixed, others=table(3, 2000)) == (7, [("DataFrame", 7, 507)])
    found = jali.scan(mixed, TRAIN).results
    assert [(place.rows, place.leak, place.open) for place in found.places] == [(7, False, True)]
    assert page.answer(found).startswith("7 rows equal training rows, too few to tell from chance")


def test_a_row_with_one_changed_column_is_nearly_a_training_row():
    changed = TRAIN[:50].assign(age=TRAIN.age[:50] + 200)
    (place,) = jali.scan(changed, TRAIN).results.places
    assert (place.rows, place.nearly, place.people, place.leak) == (0, 50, 50, True)


def write(folder):
    """The same 40 rows in every kind of file."""
    rows = TRAIN[:40]
    rows.to_csv(folder / "a.csv", index=False)
    rows.to_parquet(folder / "b.parquet")
    np.savez(folder / "c.npz", data=ROWS[:40])
    np.save(folder / "d.npy", ROWS[:40])
    (folder / "e.json").write_text(json.dumps({"examples": rows.to_dict("records")}))
    (folder / "f.jsonl").write_text("\n".join(map(json.dumps, rows.to_dict("records"))))
    for protocol in (0, 2, 5):
        (folder / f"g{protocol}.pkl").write_bytes(pickle.dumps({"df": rows, "n": 1}, protocol=protocol))
    (folder / "h.pkl.gz").write_bytes(b"")
    with gzip.open(folder / "i.pickle", "wb") as file:
        pickle.dump([Explainer.__name__, ROWS[:40]], file)
    joblib.dump({"x": ROWS[:40], "names": np.array(["a", "b"], dtype=object), "y": rows}, folder / "j.joblib")
    joblib.dump({"x": np.asfortranarray(ROWS[:40])}, folder / "k.joblib", compress=3)
    header = {"rows": {"dtype": "F64", "shape": [40, 3], "data_offsets": [0, 960]}}
    text = json.dumps(header).encode()
    data = np.ascontiguousarray(ROWS[:40]).tobytes()
    (folder / "l.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + data)


def test_every_kind_of_file_is_read(tmp_path):
    write(tmp_path)
    found = jali.scan(tmp_path, TRAIN).results
    assert found.people == 40
    where = {place.where.partition(".")[0] for place in found.leaks}
    assert where == {"a", "b", "c", "d", "e", "f", "g0", "g2", "g5", "i", "j", "k", "l"}
    assert {place.rows for place in found.leaks} == {40}
    assert sum(place.where.startswith("j.joblib") for place in found.leaks) == 2


def figure(rows):
    numbers = np.ascontiguousarray(rows[NUMBERS].to_numpy(float))
    typed = {"dtype": "f8", "bdata": base64.b64encode(numbers.tobytes()).decode(), "shape": f"{len(rows)}, 3"}
    return {"data": [{"type": "scatter", "customdata": typed}], "layout": {}}


def documents(rows):
    """Values of a notebook's outputs and a page, by what makes them."""
    force = [{"features": {str(j): {"effect": 0.1, "value": v} for j, v in enumerate(r)}} for r in rows[NUMBERS].values]
    shap = {"featureNames": NUMBERS, "explanations": force}
    outputs = {
        "frame": {"data": {"text/html": rows.to_html(), "text/plain": repr(rows)}},
        "printed": {"text": [f"{line}\n" for line in rows.to_string().splitlines()]},
        "plotly": {"data": {"application/vnd.plotly.v1+json": figure(rows)}},
        "vega": {"data": {"application/vnd.vegalite.v5+json": {"data": {"values": rows.to_dict("records")}}}},
        "shap": {"data": {"text/html": f"<script>SHAP.render({json.dumps(shap)}, 1);</script>"}},
    }
    cells = [{"cell_type": "code", "source": ["x = 1"], "outputs": [output]} for output in outputs.values()]
    page = f"<p>{rows.to_html(index=False)}</p><script>Plotly.newPlot('a', {json.dumps(figure(rows)['data'])})</script>"
    return {"book.ipynb": json.dumps({"cells": cells}), "page.html": page}


def test_rows_in_documents_are_found(tmp_path):
    for name, text in documents(TRAIN[:12]).items():
        (tmp_path / name).write_text(text)
    found = jali.scan(tmp_path, TRAIN).results
    assert found.people == 12
    places = {place.where: place.rows for place in found.leaks}
    assert {where: n for where, n in places.items() if n == 12} == places
    cells = {where.split(", ")[1] for where in places if where.startswith("book")}
    assert cells == {f"cell {n}" for n in range(1, 6)}
    assert {where for where in places if where.startswith("page")} == {
        "page.html, table",
        "page.html, script[].customdata",
    }
    assert all(place.fix for place in found.leaks)


def test_documents_of_other_people_have_no_hits(tmp_path):
    for name, text in documents(OTHERS[:30]).items():
        (tmp_path / name).write_text(text)
    found = jali.scan(tmp_path, TRAIN, others=table(3, 400)).results
    assert found.tables >= 7
    assert (found.people, found.leaks) == (0, [])


def test_limes_list_of_names_and_values_is_one_row(tmp_path):
    row = TRAIN.iloc[5]
    shown = [[name, str(row[name]), 0.1] for name in TRAIN.columns]
    (tmp_path / "lime.html").write_text(f"<script>exp.show_raw_tabular({json.dumps(shown)}, 1);</script>")
    assert leaks(tmp_path / "lime.html") == (1, [("lime.html, script", 1, 1)])


def test_small_counts_are_counted():
    class Boosted:
        bins = 3

        def __init__(self):
            self.bin_weights_ = [np.array([0.0, 1.0, 3.0, 200.0]), np.array([4.0, 5.0])]

    (counts,) = jali.scan(Boosted(), TRAIN).results.counts
    assert (counts.where, counts.counts, counts.small) == ("Boosted.bin_weights_[]", 6, 3)


def test_shap_keeps_its_background(tmp_path):
    shap = pytest.importorskip("shap")
    masker = shap.maskers.Independent(ROWS[:80], max_samples=80)
    found = jali.scan(masker, TRAIN).results
    assert found.people == 80
    assert found.leaks[0].library == "shap"
    assert "round_values=False" in found.leaks[0].fix
    (tmp_path / "masker.pkl").write_bytes(pickle.dumps(masker))
    again = jali.scan(tmp_path, TRAIN).results
    assert again.people == 80
    assert again.leaks[0].library == "shap"


def test_no_value_of_anybody_is_in_the_results(tmp_path):
    write(tmp_path)
    answer = jali.scan(tmp_path, TRAIN)
    text = answer.results.model_dump_json() + repr(answer)
    assert not [v for v in TRAIN.income.astype(str) if len(v) > 5 and v in text]


def test_what_is_wrong_is_one_sentence(tmp_path):
    with pytest.raises(JaliError, match="There is no file or folder"):
        jali.scan(tmp_path / "none", TRAIN)
    with pytest.raises(JaliError, match="others has no column 'income'"):
        jali.scan(ROWS, TRAIN, others=TRAIN[["age"]])
    (tmp_path / "broken.json").write_text("{")
    found = jali.scan(tmp_path, TRAIN).results
    assert "not readable as JSON" in found.skipped["broken.json"]
    assert page.answer(found).endswith("nothing can be said about training rows in it.")


def test_numbers_that_are_too_large_to_be_counted_in_steps_are_compared_as_they_are(tmp_path):
    huge = pd.DataFrame({"x": [1e305, 1.5, 2.5, 3.25], "y": [1.0, 2.0, 3.0, 4.0]})
    (tmp_path / "a.csv").write_text("x,y\n1e305,1\n1.50,2\n9e307,3\n-1e308,4\n")
    places = jali.scan(tmp_path, huge).results.places
    assert [place.rows for place in places] == [2]


def test_tables_and_pickles_as_others_write_them_are_read(tmp_path):
    rows = TRAIN[:60]
    rows.to_csv(tmp_path / "with_index.csv")
    rows.to_csv(tmp_path / "semicolons.csv", sep=";", index=False)
    rows.to_csv(tmp_path / "tabs.csv", sep="\t", index=False)
    pd.concat([rows, rows], axis=1).to_csv(tmp_path / "names_twice.csv", index=False)
    rows.to_csv(tmp_path / "no_names.csv", index=False, header=False)
    joblib.dump(rows, tmp_path / "frame.joblib.gz")
    joblib.dump(rows, tmp_path / "frame.gz")
    rows.to_pickle(tmp_path / "frame.pkl.xz")
    found = jali.scan(tmp_path, TRAIN).results
    counted = {place.where: place.rows for place in found.leaks}
    assert counted.pop("no_names.csv") == 59  # the first row is taken for names
    assert counted.pop("names_twice.csv") == 60
    assert set(counted.values()) == {60}
    assert len(counted) == 6


def test_files_of_other_kinds_are_counted_by_their_endings(tmp_path):
    for name in ("a.sqlite", "b.sqlite", "README", "archive.tar.gz"):
        (tmp_path / name).write_bytes(b"something")
    skipped = jali.scan(tmp_path, TRAIN).results.skipped
    assert skipped == dict.fromkeys(("2 × .sqlite", "1 × no ending", "1 × .gz"), "files of this kind are not read")


def test_what_is_no_path_and_no_table_is_one_sentence():
    with pytest.raises(JaliError, match="no file or folder of such a long name"):
        jali.scan(str(ROWS.tolist()), TRAIN)
    with pytest.raises(JaliError, match="not a tuple of parts that differ in length"):
        jali.scan(ROWS, (TRAIN, np.zeros(len(TRAIN))))
