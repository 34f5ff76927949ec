"""Record: the base class of the model's types.

Why not a library: the command an agent waits on may cost four bare interpreter starts, and importing msgspec
(2.1 starts) or dataclasses (1.7) would spend most of that before the first hook is looked up. This is the part of
either that the model needs: slots, a generated `__init__`, `==`, `repr`. Type checkers see a frozen dataclass.
"""

from __future__ import annotations

from _operator import attrgetter  # `operator` would be another file to load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar, Self, dataclass_transform

    from anyhook.model.json_types import Json
else:

    def dataclass_transform(**_):
        return lambda cls: cls


class _Slots(type):
    """Turns annotated class attributes into slots, and their values into defaults of `__init__`."""

    def __new__(mcs: type[_Slots], name: str, bases: tuple[type, ...], space: dict[str, Any]) -> _Slots:
        own = [field for field in space.get("__annotations__", {}) if not field.startswith("_")]
        defaults = {field: space.pop(field) for field in own if field in space}
        if own:
            space.setdefault("__init__", _init(own, defaults))
        space["__slots__"] = tuple(own)
        space["fields"] = tuple(own)
        if len(own) > 1:  # for one field, its own value would come back
            space["_values"] = attrgetter(*own)
        return super().__new__(mcs, name, bases, space)


class Compiled:
    """When a class gets its own `__init__`."""

    after = 50
    """After this many records of it, compiling one pays off."""


def _init(own: list[str], defaults: dict[str, Any]) -> Callable[..., None]:
    """An `__init__` that builds the first records by hand, and then replaces itself with a compiled one."""
    made = 0

    def by_hand(self: Record, *values: object, **named: object) -> None:
        nonlocal made
        made += 1
        if made > Compiled.after:
            _compile(own, defaults, type(self), by_hand)(self, *values, **named)
            return
        for field, value in zip(own, values, strict=False):
            setattr(self, field, value)
        for field in own[len(values) :]:
            if field in named:
                setattr(self, field, named.pop(field))
            elif field in defaults:
                setattr(self, field, defaults[field])
            else:
                raise TypeError(f"{type(self).__name__}() misses {field!r}")
        if named:
            raise TypeError(f"{type(self).__name__}() has no field {next(iter(named))!r}, or it is given twice")
        if len(values) > len(own):
            raise TypeError(f"{type(self).__name__}() has {len(own)} fields, and {len(values)} values are given")

    return by_hand


def _compile(own: list[str], defaults: dict[str, Any], cls: type, old: Callable[..., None]) -> Callable[..., None]:
    params = [f"{field}=_d[{field!r}]" if field in defaults else field for field in own]
    body = "".join(f"\n self.{field}={field}" for field in own)
    made: dict[str, Callable[..., None]] = {}
    exec(f"def __init__(self,{','.join(params)}):{body}", {"_d": defaults}, made)  # noqa: S102
    for owner in cls.__mro__:
        if owner.__dict__.get("__init__") is old:  # unless another thread was faster
            owner.__init__ = made["__init__"]  # type: ignore[misc]
    return made["__init__"]


@dataclass_transform(frozen_default=True)
class Record(metaclass=_Slots):
    """A frozen value with named fields. (The type checker enforces that it is frozen; a check at run time would cost
    time.)"""

    if TYPE_CHECKING:
        fields: ClassVar[tuple[str, ...]]

    @staticmethod
    def _values(record: Record) -> tuple[object, ...]:
        """The values of all fields."""
        return tuple(getattr(record, field) for field in record.fields)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and all(getattr(self, f) == getattr(other, f) for f in self.fields)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{f}={getattr(self, f)!r}' for f in self.fields)})"

    def as_dict(self) -> dict[str, Json]:
        """All fields as JSON."""
        return {field: plain(getattr(self, field)) for field in self.fields}

    def replace(self, **changes: object) -> Self:
        """A copy with some fields changed."""
        values = [*self._values(self)]
        for field, value in changes.items():
            if field not in self.fields:
                raise TypeError(f"{type(self).__name__}() has no field {field!r}")
            values[self.fields.index(field)] = value
        return type(self)(*values)


def plain(value: Any) -> Json:
    """A field's value as JSON."""
    if isinstance(value, Record):
        return value.as_dict()
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    made: Json = value
    return made
