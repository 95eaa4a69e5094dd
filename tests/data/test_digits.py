from sklearn.datasets import load_digits

from jali.data.digits import Digits


def test_equals_the_copy_in_scikit_learn():
    data, (X, y) = Digits().load(), load_digits(return_X_y=True)
    assert (data.X == X).all()
    assert (data.y == y).all()
    assert {(c.kind, c.low, c.high) for c in data.schema.columns} == {("integer", 0, 16)}
    assert data.schema.classes == tuple("0123456789")
    assert data.schema.image == (1, 8, 8)
