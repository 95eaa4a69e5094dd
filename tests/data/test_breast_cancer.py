import numpy as np
from sklearn.datasets import load_breast_cancer

from jali.data.breast_cancer import BreastCancer


def test_equals_the_copy_in_scikit_learn():
    data, (X, y) = BreastCancer().load(), load_breast_cancer(return_X_y=True)
    assert (data.X == X).all()
    assert np.bincount(data.y).tolist() == [357, 212]
    # scikit-learn counts malignant as 0.
    assert (data.y == 1 - y).all()
    assert data.schema.classes[data.schema.favourable] == "benign"
    assert {c.kind for c in data.schema.columns} == {"number"}
