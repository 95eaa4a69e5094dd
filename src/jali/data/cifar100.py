"""Small photographs of a hundred kinds of things."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from jali.data.tables.files import Remote
from jali.data.tables.images import Pictures

LABELS = """
apple aquarium_fish baby bear beaver bed bee beetle bicycle bottle bowl boy bridge bus butterfly camel can castle
caterpillar cattle chair chimpanzee clock cloud cockroach couch crab crocodile cup dinosaur dolphin elephant flatfish
forest fox girl hamster house kangaroo keyboard lamp lawn_mower leopard lion lizard lobster man maple_tree motorcycle
mountain mouse mushroom oak_tree orange orchid otter palm_tree pear pickup_truck pine_tree plain plate poppy porcupine
possum rabbit raccoon ray road rocket rose sea seal shark shrew skunk skyscraper snail snake spider squirrel streetcar
sunflower sweet_pepper table tank telephone television tiger tractor train trout tulip turtle wardrobe whale
willow_tree wolf woman worm
"""


@dataclass(frozen=True)
class CIFAR100(Pictures):
    """CIFAR-100: photographs of 32 × 32 pixels in colour, a hundred classes; a draw of 2,000 unless `rows` says more.

    From 10,000 of the 60,000 images, drawn at random: 8,000 training images are followed by 2,000 test images. None
    of its images or classes is in CIFAR-10, so it can serve as public data beside CIFAR-10.

    >>> len(CIFAR100(rows=0).labels)
    100
    """

    labels: ClassVar[tuple[str, ...]] = tuple(LABELS.split())
    origin: ClassVar[str] = "CIFAR-100 (Krizhevsky 2009), a draw of 10,000 images"
    licence: ClassVar[str] = "none stated; cite Krizhevsky 2009"
    files: ClassVar[tuple[Remote, ...]] = (
        Remote(
            "cifar100/cifar100_10k.npz",
            "6bb0249e297bb442e144bfccda1e94c62e076684473c66d99bbe0692f8620ccd",
            how="take the binary version of CIFAR-100, choose 8,000 training and 2,000 test images as for cifar10, and "
            "write webp_train (one lossless WebP picture of all, 100 to a row, as bytes), y_train (fine labels), "
            "idx_train, the same of test and fine_label_names with numpy.savez_compressed",
        ),
    )
