"""A session of ONNX Runtime as an estimator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jali.core.errors import JaliError
from jali.core.values import Floats
from jali.models.fitted.answers import probabilities
from jali.models.fitted.estimator import first_line

TYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(int64)": np.int64, "tensor(string)": str}


def is_session(model: Any) -> bool:
    """Whether it is an inference session, by what it can do: the library is not loaded to answer that."""
    return all(hasattr(model, name) for name in ("run", "get_inputs", "get_outputs"))


class OnnxModel:
    """A classifier as ONNX: one input of all columns, or one for each column by name; the probabilities among outputs.

    skl2onnx writes labels and probabilities, these as a list of mappings unless it was told zipmap=False.
    """

    def __init__(self, session: Any, classes: Sequence[Any]) -> None:
        self.session = session
        self.classes_ = np.asarray(classes)

    def __repr__(self) -> str:
        return f"OnnxModel({[entry.name for entry in self.session.get_inputs()]})"

    def run(self, outputs: Any, inputs: Any) -> Any:
        """The outputs of the model in ONNX Runtime."""
        return self.session.run(outputs, inputs)

    def get_inputs(self) -> Any:
        """The inputs of the model in ONNX Runtime."""
        return self.session.get_inputs()

    def get_outputs(self) -> Any:
        """The outputs of the model in ONNX Runtime."""
        return self.session.get_outputs()

    def predict(self, rows: Any) -> Any:
        """The most probable classes (n,)."""
        return self.classes_[self.predict_proba(rows).argmax(axis=1)]

    def predict_proba(self, rows: Any) -> Floats:
        """Probabilities (n, K)."""
        try:
            found = self.session.run(None, self._feeds(rows))
        except JaliError:
            raise
        except Exception as error:  # the runtime's errors have types of their own
            raise JaliError(f"The ONNX session cannot read these rows: {first_line(error)}") from error
        return probabilities("The ONNX session", self._chosen(found), list(self.classes_), len(rows))

    def _feeds(self, rows: Any) -> dict[str, Any]:
        """The rows as the inputs that the ONNX model takes."""
        inputs = self.session.get_inputs()
        if len(inputs) == 1:
            return {inputs[0].name: np.asarray(rows).astype(_type(inputs[0]))}
        if not hasattr(rows, "columns"):
            names = ", ".join(entry.name for entry in inputs[:5])
            raise JaliError(
                f"The ONNX session has {len(inputs)} inputs ({names} …): give train and population as tables."
            )
        if absent := [entry.name for entry in inputs if entry.name not in rows.columns]:
            raise JaliError(f"The ONNX session reads {absent[0]!r}, and the table has no such column.")
        return {e.name: np.asarray(rows[e.name]).astype(_type(e)).reshape(-1, 1) for e in inputs}

    def _chosen(self, found: Sequence[Any]) -> Any:
        """The output with the probabilities: mappings, or one column for each class; else the last one."""
        for output in found:
            named = isinstance(output, list) and output and isinstance(output[0], dict)
            if named or (np.ndim(output) == 2 and np.shape(output)[1] == len(self.classes_)):
                return output
        return found[-1]


def _type(entry: Any) -> Any:
    if entry.type not in TYPES:
        raise JaliError(f"The ONNX session reads {entry.type} as {entry.name!r}; known are {', '.join(TYPES)}.")
    return TYPES[entry.type]
