"""A reader of pickles that runs nothing: opcodes build lists, dictionaries, texts, numbers and stand-ins.

No callable of a pickle is ever looked up, imported or called. A global is a `Name`, a call or an object of it is a
`Made` that keeps its arguments and its state. Arrays are built from these afterwards (`pickle_values`).
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO, Any

from jali.core.errors import JaliError

MOST = 30_000_000  # opcodes of one pickle
MARK = object()
EMPTY: dict[str, Callable[[], Any]] = {"EMPTY_LIST": list, "EMPTY_DICT": dict, "EMPTY_TUPLE": tuple, "EMPTY_SET": list}
FIXED: dict[str, Any] = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
NESTED = ("LIST", "TUPLE", "FROZENSET")  # opcodes that make one value of everything above the mark
PLAIN_OBJECTS = ("copy_reg._reconstructor", "copyreg._reconstructor", "copy_reg.__newobj__", "copyreg.__newobj__")
SILENT = ("PROTO", "FRAME", "NEXT_BUFFER", "READONLY_BUFFER")


@dataclass(frozen=True)
class Name:
    """A global that a pickle names, such as numpy.dtype."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


@dataclass(eq=False)
class Made:
    """What a pickle would make by calling `of`: the arguments, the state set afterwards, and items appended.

    value: an array that was read for it, where a file keeps arrays beside the opcodes.
    """

    of: Any
    args: tuple[Any, ...] = ()
    state: Any = None
    items: list[Any] = field(default_factory=list)
    value: Any = None

    @property
    def name(self) -> str:
        """The full name of what would have been called."""
        return str(self.of) if isinstance(self.of, Name) else ""


@dataclass
class Machine:
    """The stack and memory of a pickle that is being read.

    built: called after an object got its state, with the object and the stream, for formats that keep arrays inline.
    """

    stream: IO[bytes]
    built: Callable[[Made, IO[bytes]], None] | None = None
    stack: list[Any] = field(default_factory=list)
    memo: dict[int, Any] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)

    def run(self) -> Any:
        """The value that the pickle describes."""
        try:
            for count, (code, argument, _) in enumerate(pickletools.genops(self.stream)):
                if count > MOST:
                    raise JaliError(f"The pickle has more than {MOST:,} instructions.")
                if code.name == "STOP":
                    break
                self._step(code.name, argument)
            return self.stack.pop()
        except (ValueError, IndexError, KeyError, TypeError, AttributeError, OverflowError, MemoryError) as error:
            raise JaliError(f"It is not a whole pickle ({type(error).__name__}).") from None

    def _step(self, name: str, argument: Any) -> None:
        """Carry out one opcode."""
        if name in SILENT:
            return
        if name in EMPTY:
            self.stack.append(EMPTY[name]())
        elif name in FIXED:
            self.stack.append(FIXED[name])
        elif name in STEPS:
            STEPS[name](self, argument)
        elif name in NESTED:
            items = self._marked()
            self.stack.append(tuple(items) if name == "TUPLE" else items)
        elif name.startswith(("PUT", "BINPUT", "LONG_BINPUT")):
            self.memo[int(argument)] = self.stack[-1]
        elif name.startswith(("GET", "BINGET", "LONG_BINGET")):
            self.stack.append(self.memo[int(argument)])
        elif name.startswith("EXT") or name in ("PERSID", "BINPERSID"):
            if name == "BINPERSID":
                self.stack.pop()
            self.stack.append(Made(self._named("persistent", name)))
        else:  # what is left pushes its argument: numbers, texts and bytes
            self.stack.append(argument)

    def _marked(self) -> list[Any]:
        """Everything above the last mark, which is removed."""
        at = len(self.stack) - 1
        while self.stack[at] is not MARK:
            at -= 1
            if at < 0:
                raise ValueError("no mark")
        items = self.stack[at + 1 :]
        del self.stack[at:]
        return items

    def _named(self, module: Any, name: Any) -> Name:
        found = Name(str(module)[:200], str(name)[:200])
        self.names.add(str(found))
        return found

    def _global(self, argument: Any) -> None:
        self.stack.append(self._named(*str(argument).split(" ", 1)))

    def _stack_global(self, _: Any) -> None:
        name = self.stack.pop()
        self.stack.append(self._named(self.stack.pop(), name))

    def _reduce(self, _: Any) -> None:
        given = self.stack.pop()
        args = given if isinstance(given, tuple) else (given,)
        of = self.stack.pop()
        if str(of) in PLAIN_OBJECTS and args:  # old pickles make plain objects by a call
            of, args = args[0], args[1:]
        self.stack.append(Made(of, args))

    def _new_ex(self, _: Any) -> None:
        options = self.stack.pop()
        args = self.stack.pop()
        self.stack.append(Made(self.stack.pop(), (*args, options)))

    def _inst(self, argument: Any) -> None:
        items = self._marked()
        self.stack.append(Made(self._named(*str(argument).split(" ", 1)), tuple(items)))

    def _obj(self, _: Any) -> None:
        first, *args = self._marked()
        self.stack.append(Made(first, tuple(args)))

    def _build(self, _: Any) -> None:
        state = self.stack.pop()
        thing = self.stack[-1]
        if isinstance(thing, Made):
            thing.state = state
            if self.built is not None:
                self.built(thing, self.stream)

    def _append(self, _: Any) -> None:
        self._extend([self.stack.pop()])

    def _appends(self, _: Any) -> None:
        self._extend(self._marked())

    def _extend(self, items: list[Any]) -> None:
        thing = self.stack[-1]
        if isinstance(thing, list):
            thing.extend(items)
        elif isinstance(thing, Made):
            thing.items.extend(items)

    def _set_items(self, items: list[Any]) -> None:
        thing = self.stack[-1]
        pairs = list(zip(items[::2], items[1::2], strict=True))
        if isinstance(thing, dict):
            thing.update((_key(key), value) for key, value in pairs)
        elif isinstance(thing, Made):
            thing.items.extend(pairs)

    def _set_item(self, _: Any) -> None:
        value = self.stack.pop()
        key = self.stack.pop()
        self._set_items([key, value])

    def _tuple(self, size: int) -> None:
        if size > len(self.stack):
            raise ValueError("too few")
        items = tuple(self.stack[-size:])
        del self.stack[-size:]
        self.stack.append(items)

    def _dict(self, _: Any) -> None:
        items = self._marked()
        self.stack.append({})
        self._set_items(items)

    def _memoize(self, _: Any) -> None:
        self.memo[len(self.memo)] = self.stack[-1]


def _key(key: Any) -> Any:
    """A key of a dictionary: single values as they are, anything else by its identity."""
    return key if key is None or isinstance(key, str | int | float | bytes | bool) else f"key {id(key)}"


STEPS: dict[str, Callable[[Machine, Any], Any]] = {
    "MARK": lambda m, _: m.stack.append(MARK),
    "POP": lambda m, _: m.stack.pop(),
    "POP_MARK": lambda m, _: m._marked(),
    "DUP": lambda m, _: m.stack.append(m.stack[-1]),
    "GLOBAL": Machine._global,
    "STACK_GLOBAL": Machine._stack_global,
    "REDUCE": Machine._reduce,
    "NEWOBJ": Machine._reduce,
    "NEWOBJ_EX": Machine._new_ex,
    "INST": Machine._inst,
    "OBJ": Machine._obj,
    "BUILD": Machine._build,
    "APPEND": Machine._append,
    "APPENDS": Machine._appends,
    "ADDITEMS": Machine._appends,
    "SETITEM": Machine._set_item,
    "SETITEMS": lambda m, _: m._set_items(m._marked()),
    "DICT": Machine._dict,
    "TUPLE1": lambda m, _: m._tuple(1),
    "TUPLE2": lambda m, _: m._tuple(2),
    "TUPLE3": lambda m, _: m._tuple(3),
    "MEMOIZE": Machine._memoize,
}
