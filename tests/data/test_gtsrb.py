import numpy as np

from jali.data.gtsrb import GTSRB


def test_frames_of_one_sign_are_one_group(real, real_data):
    data = real("gtsrb(rows=0, size=4)")
    assert len(data) == 4000
    with np.load(real_data / GTSRB.files[0].path) as file:
        tracks = set(zip(file["y_train"].tolist(), file["track_train"].tolist(), strict=True))
    assert len(np.unique(data.groups)) == len(tracks)
    for group in np.unique(data.groups)[:50]:
        assert len(np.unique(data.y[data.groups == group])) == 1


def test_there_are_43_signs():
    assert len(set(GTSRB.labels)) == 43
    assert (GTSRB.labels[0], GTSRB.labels[13], GTSRB.labels[40]) == ("20 km/h", "give way", "roundabout")
