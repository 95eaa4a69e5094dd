import numpy as np

from jali.data.cifar100 import CIFAR100


def test_all_images_and_the_names_of_the_file(real, real_data):
    data = real("cifar100(rows=0, size=4)")
    assert len(data) == 10000
    assert data.schema.image == (3, 4, 4)
    assert 60 < np.bincount(data.y).min() <= np.bincount(data.y).max() < 140
    with np.load(real_data / CIFAR100.files[0].path) as file:
        names = file["fine_label_names"]
        assert data.schema.classes[data.y[0]].startswith(str(names[file["y_train"][0]]))
        assert all(long.startswith(short) for long, short in zip(CIFAR100.labels, names, strict=True))


def test_labels_are_a_hundred():
    assert len(set(CIFAR100.labels)) == 100
    assert list(CIFAR100.labels) == sorted(CIFAR100.labels)
