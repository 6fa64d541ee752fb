# SPDX-License-Identifier: Apache-2.0
"""What arguments must be: each public function names a kind for each of its parameters.

A kind is a function of the name and the value of an argument. It returns what the function works
with, or raises a TypeError or ValueError that says what is wrong and what would be right.
"""
import functools
import inspect
import operator
import os
import re
from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional, Sequence, TypeVar

from . import _mapsim

Kind = Callable[[str, Any], Any]
Function = TypeVar("Function", bound=Callable[..., Any])
_MOST = 2**53
_MOST_THREADS = 1024  # as the program's


class Option(NamedTuple):
    """A keyword that many functions take alike."""

    default: Any
    annotation: str
    kind: Kind


def told(value: Any) -> str:
    """A value as errors show it: a line that is not too long."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:60]}... ({type(value).__name__})"


def wrong(name: str, expected: str, value: Any) -> TypeError:
    return TypeError(f"{name}: expected {expected}, got {told(value)}")


def whole(low: int, high: int = _MOST) -> Kind:
    def read(name: str, value: Any) -> int:
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise wrong(name, "a whole number", value)
        number = operator.index(value)
        if not low <= number <= high:
            limit = f"too small; at least {low}" if number < low else f"too large; at most {high}"
            raise ValueError(f"{name}: {number} is {limit}")
        return number
    return read


def threads(name: str, value: Any) -> int:
    return whole(0, _MOST_THREADS)(name, value) or min(os.cpu_count() or 1, _MOST_THREADS)


def switch(name: str, value: Any) -> bool:
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):  # of numpy
        return bool(value)
    raise wrong(name, "True or False", value)


def text(example: str, needed: bool = False) -> Kind:
    """Text such as `example`; empty only if it is not needed."""
    def read(name: str, value: Any) -> str:
        if not isinstance(value, str) or (needed and not value):
            raise wrong(name, f"a text such as {example!r}", value)
        return value
    return read


def one_of(*words: str) -> Kind:
    def read(name: str, value: Any) -> str:
        if not isinstance(value, str):
            raise wrong(name, f"one of {', '.join(map(repr, words))}", value)
        if value not in words:
            raise ValueError(f"{name}: {value!r} is unknown{_mapsim.suggestion(value, list(words))}")
        return value
    return read


def words(example: str) -> Kind:
    """Words of a text such as "s8,f16", or of a list."""
    def read(name: str, value: Any) -> Any:
        listed = ([word.strip() for word in value.split(",") if word.strip()]
                  if isinstance(value, str) else value)
        if not isinstance(listed, Sequence) or not all(isinstance(word, str) for word in listed):
            raise wrong(name, f"words such as {example!r}", value)
        return list(listed)
    return read


def mapping(example: str, value_kind: Optional[Kind] = None) -> Kind:
    """A dict with keys that are text; None stands for an empty one."""
    def read(name: str, value: Any) -> Dict[str, Any]:
        if value is None:
            return {}
        if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
            raise wrong(name, f"a dict such as {example}", value)
        return {key: value_kind(f"{name}[{key!r}]", each) if value_kind else each
                for key, each in value.items()}
    return read


def optional(kind: Kind) -> Kind:
    return lambda name, value: None if value is None else kind(name, value)


def fraction(name: str, value: Any) -> float:
    """At least 0, and below 1; or text such as "1 %"."""
    percent = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*%\s*", value) if isinstance(value, str) else None
    if percent:
        value = float(percent.group(1)) / 100
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise wrong(name, "a number such as 0.01, or a text such as '1 %'", value)
    if not 0 <= float(value) < 1:
        raise ValueError(f"{name}: {value} is not at least 0 and below 1")
    return float(value)


def budget(name: str, value: Any) -> str:
    """Seconds, or text such as "2 min", as that text; None is empty."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise wrong(name, "seconds, or a text such as '2 min'", value)
    return f"{float(value)!r} s"


def arguments(options: Mapping[str, Option] = {}, **kinds: Kind) -> Callable[[Function], Function]:
    """Reads the arguments of a function by the kinds of its parameters, before it is called.

    `options` are the keywords that a function takes as `**options`: they stand in the signature, for
    help() and for editors, and the function reads them itself.
    """
    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)
        fixed = [each for each in signature.parameters.values()
                 if each.name not in ("self", "cls") and each.kind is not each.VAR_KEYWORD]
        assert {each.name for each in fixed} == set(kinds), function.__qualname__
        any_keyword = not options and any(each.kind is each.VAR_KEYWORD
                                          for each in signature.parameters.values())
        order = f"{function.__name__}({', '.join(p.name for p in fixed if p.default is p.empty)})"

        @functools.wraps(function)
        def called(*given: Any, **named: Any) -> Any:
            if not any_keyword:
                _refuse_unknown(function.__name__, [*kinds, *options], named)
            try:
                bound = signature.bind(*given, **named)
            except TypeError:
                if options and len(given) > len(fixed):
                    raise TypeError(f"{order} takes its options by name, as in objective='edp'; got "
                                    f"{told(given[-1])}") from None
                return function(*given, **named)  # Python says what is wrong
            bound.apply_defaults()
            for name, kind in kinds.items():
                bound.arguments[name] = _read(kind, name, bound.arguments[name], order)
            return function(*bound.args, **bound.kwargs)

        setattr(called, "__signature__", _with_options(signature, options))
        return called  # type: ignore[return-value]  # takes what `function` takes
    return decorate


def as_read(value: Any) -> Any:
    """An argument, of the type that its kind returned, for type checkers."""
    return value


def _refuse_unknown(function: str, known: Sequence[str], named: Mapping[str, Any]) -> None:
    for name in named:
        if name not in known:
            near = _mapsim.suggestion(name, list(known)) or f"; one of {', '.join(known)}"
            raise TypeError(f"{function}() has no argument {name!r}{near}")


def _read(kind: Kind, name: str, value: Any, order: str) -> Any:
    """The value by its kind. The error for an object of mapsim, which may be in another's place,
    tells the order of the places."""
    try:
        return kind(name, value)
    except TypeError as error:
        if type(value).__module__.startswith("mapsim.") and ", " in order:
            raise TypeError(f"{error}; the order is {order}") from None
        raise


def _with_options(signature: inspect.Signature, options: Mapping[str, Option]) -> inspect.Signature:
    if not options:
        return signature
    named = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=option.default,
                               annotation=option.annotation) for name, option in options.items()]
    return signature.replace(parameters=[*list(signature.parameters.values())[:-1], *named])
