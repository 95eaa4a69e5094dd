"""A torch module as an estimator, with gradients; and random states for estimators that draw from torch."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from jali.core.errors import JaliError
from jali.core.values import Floats, Rng
from jali.models.fitted.answers import checked
from jali.models.fitted.estimator import first_line
from jali.models.given import Refit

BLOCK = 4096  # rows per forward pass, which bounds the memory
# How the steps are called that torch remembers of a forward pass.
RESHAPING = ("Squeeze", "Unsqueeze", "View", "UnsafeView", "Reshape", "Select", "Slice", "TBackward", "Alias", "ToCopy")
PRODUCTS = ("Addmm", "Mm", "Addmv", "Mv", "Addbmm", "Baddbmm", "Bmm", "Linear")


def is_module(model: Any) -> bool:
    """Whether it is a torch module; torch is not loaded to answer that."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, torch.nn.Module)


def training_mode(model: Any) -> tuple[str, ...]:
    """What is to be said of a module that is in training mode, where that changes its answers."""
    if not is_module(model) or not model.training:
        return ()
    kinds = [type(part).__name__ for part in model.modules()]
    if not any(kind.endswith("Dropout") or kind.startswith(("Dropout", "BatchNorm")) for kind in kinds):
        return ()
    return (
        f"{type(model).__name__} was in training mode, in which dropout or batch normalisation change its answers. It "
        "was put into evaluation mode, as for answers to people: model.eval().",
    )


class TorchModule:
    """A module that maps rows (n, D) to logits (n, K), to one logit of two classes, or to probabilities.

    Rows are float32, or float64 where its weights are. Where the outputs of the first call all lie between 0 and 1, and
    several add up to one in each row, they are taken for probabilities from then on, and their logits are used; but
    what comes straight from a linear layer is a logit.

    >>> import torch
    >>> net = torch.nn.Linear(1, 2)
    >>> _ = net.load_state_dict({"weight": torch.tensor([[0.0], [2.0]]), "bias": torch.zeros(2)})
    >>> model = TorchModule(net, [0, 1])
    >>> model.decision_function(np.array([[3.0]])), model.slopes(np.array([[3.0]]), np.array([[0.0, 1.0]]))
    (array([[0., 6.]]), (array([6.]), array([[2.]])))
    """

    def __init__(self, module: Any, classes: Sequence[Any]) -> None:
        self.module = module.eval()
        self.classes_ = np.asarray(classes)
        self.squashed: bool | None = None  # whether outputs are probabilities; unknown before the first call

    def __repr__(self) -> str:
        return f"TorchModule({type(self.module).__name__})"

    @property
    def own(self) -> Any:
        """The module, in evaluation mode."""
        return self.module

    def decision_function(self, rows: Any) -> Floats:
        """Logits (n, K)."""
        import torch

        if not len(rows):  # modules need not know what to do with no rows, and these tell nothing about the outputs
            return np.empty((0, len(self.classes_)))
        with torch.no_grad():
            parts = [self._logits(some).numpy() for some in self._tensors(rows)]
        found = np.concatenate(parts).astype(np.float64)
        if not np.isfinite(found).all():
            checked(type(self.module).__name__, found)
        return found

    def slopes(self, rows: Any, weight: Floats) -> tuple[Floats, Floats]:
        """Sums (n,) of the logits weighted by (n, K), and their gradients (n, D) by the columns of rows."""
        import torch

        if not len(rows):
            return np.empty(0), np.empty(np.shape(rows))
        value = np.empty(len(rows))
        slope = []
        at = 0
        for x in self._tensors(rows):
            x.requires_grad_()
            with torch.enable_grad():
                share = torch.from_numpy(weight[at : at + len(x)]).to(x.dtype)
                sums = (self._logits(x) * share).sum(dim=1)
            value[at : at + len(x)] = sums.detach().numpy()
            slope.append(torch.autograd.grad(sums.sum(), x)[0].numpy())
            at += len(x)
        return value, np.concatenate(slope).astype(np.float64)

    def _tensors(self, rows: Any) -> list[Any]:
        import torch

        try:
            numbers = np.asarray(rows, dtype=precision(self.module))
        except (ValueError, TypeError):
            raise JaliError(
                f"{type(self.module).__name__} is a torch module, which reads numbers, but the table has text: give a "
                "function predict_proba(X) that encodes the rows and calls the module."
            ) from None
        return [torch.from_numpy(np.array(numbers[at : at + BLOCK])) for at in range(0, len(numbers), BLOCK)]

    def _logits(self, x: Any) -> Any:
        """Logits (n, K) of a tensor (n, D), on the processor."""
        import torch

        name = type(self.module).__name__
        out = forward(self.module, x).reshape(len(x), -1)
        one = out.shape[1] == 1 and len(self.classes_) == 2
        if not one and out.shape[1] != len(self.classes_):
            raise JaliError(
                f"{name} gives {out.shape[1]} outputs for each row, and the data have {len(self.classes_)} classes."
            )
        if self.squashed is None:
            within = bool(((out >= 0) & (out <= 1)).all())
            sums = one or bool(((out.sum(dim=1) - 1).abs() < 1e-3).all())
            self.squashed = within and sums and not ends_linear(self.module, x[:1])
        if not one:
            return torch.log(out.clamp(min=1e-12)) if self.squashed else out
        score = torch.logit(out.clamp(1e-7, 1 - 1e-7)) if self.squashed else out
        return torch.cat([-score / 2, score / 2], dim=1)


def precision(module: Any) -> Any:
    """The type of the numbers that a module is given: float64 where its weights are, float32 otherwise."""
    import torch

    kinds = [weight.dtype for weight in module.parameters() if weight.is_floating_point()]
    return np.float64 if torch.float64 in kinds else np.float32


def forward(module: Any, x: Any) -> Any:
    """What a module gives for a tensor (n, D), as a tensor on the processor."""
    import torch

    name = type(module).__name__
    device = next((p.device for p in module.parameters()), torch.device("cpu"))
    try:
        out = module(x.to(device))
    except Exception as error:  # a user's code may raise anything
        raise JaliError(f"{name} cannot read rows of {x.shape[1]} columns: {first_line(error)}") from error
    if not isinstance(out, torch.Tensor):
        raise JaliError(
            f"{name} must give one tensor of logits or probabilities, and it gives a {type(out).__name__}: give a "
            "function instead, such as lambda X: model(torch.tensor(X).float())[0].softmax(1)."
        )
    return out.cpu()


def ends_linear(module: Any, x: Any) -> bool:
    """Whether the last thing that a module does is a product with weights, which gives no probabilities.

    Weak models have logits between 0 and 1 for everybody, so the numbers alone do not tell.
    """
    import torch

    with torch.enable_grad():
        step = forward(module, x.detach().clone().requires_grad_()).grad_fn
    while step is not None and type(step).__name__.startswith(RESHAPING):
        step = step.next_functions[0][0]
    return step is not None and type(step).__name__.startswith(PRODUCTS)


def outputs(module: Any, rows: Any) -> Floats:
    """What a module gives for rows (n, D), as it is."""
    import torch

    with torch.no_grad():
        found: Floats = forward(module.eval(), torch.from_numpy(np.array(rows, dtype=precision(module)))).numpy()
    return found


class Reseeded:
    """Trains a shadow model with torch's random numbers started from its own stream, and left as they were after."""

    def __init__(self, refit: Refit) -> None:
        self.refit = refit

    def fit(self, rows: Any, labels: Any, rng: Rng) -> Any:
        """A fitted estimator."""
        import torch

        with torch.random.fork_rng():
            torch.manual_seed(int(rng.integers(2**31 - 1)))
            return self.refit.fit(rows, labels, rng)


def reseeded(model: Any, refit: Refit) -> Refit:
    """How a model is trained again; one that holds a torch module (skorch) draws from torch's random numbers."""
    module = getattr(model, "module_", None) or getattr(model, "module", None)
    holds = is_module(module) or (isinstance(module, type) and "torch" in sys.modules)
    return Reseeded(refit) if holds else refit
