"""Parameters, fields and results called by every word that Python, C++ and calls keep for themselves."""

import inspect
import keyword
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from loader import Loader

ROOT = Path(__file__).resolve().parents[2]
SPEC = ROOT / "tests" / "python" / "specs" / "every_word.slang"
#: What calls take beside their parameters, and methods as their first one.
OF_CALLS = ["self", "out", "shape", "stream", "reads", "writes", "tangents"]
#: What Slang itself doesn't take as a name of everything.
REFUSED = {
    *("break", "case", "class", "continue", "default", "do", "enum", "float", "for", "if", "new", "operator"),
    *("private", "public", "return", "struct", "switch", "this", "throw", "typedef", "while"),
}
GROUPS = ["python_words", "cpp_words_1", "cpp_words_2", "cpp_words_3"]


def words_of(group: str) -> list[str]:
    """The parameters in the order of the source."""
    declared = re.search(rf"^float {group}\((.*?)\)", SPEC.read_text(), re.DOTALL | re.MULTILINE)
    assert declared is not None
    return re.findall(r"float (\w+)", declared.group(1))


def cpp_keywords() -> list[str]:
    source = (ROOT / "tool" / "spec" / "names.cpp").read_text()
    listed = re.search(r"cpp_keywords\{(.*?)\};", source, re.DOTALL)
    assert listed is not None
    return re.findall(r'"(\w+)"', listed.group(1))


def own(word: str) -> str:
    """What Python calls a parameter."""
    return f"{word}_" if keyword.iskeyword(word) or word in OF_CALLS else word


def weighed(count: int, values: Any) -> Any:
    return sum((i + 1) * values[i] for i in range(count))


@pytest.fixture(scope="module")
def every_word(generated: Loader) -> ModuleType:
    return generated("every_word")


def test_no_word_is_left_out() -> None:
    tried = {word for group in GROUPS for word in words_of(group)}
    assert tried == {*keyword.kwlist, *cpp_keywords(), *OF_CALLS} - REFUSED


@pytest.mark.parametrize("group", GROUPS)
def test_parameters(every_word: ModuleType, group: str) -> None:
    words = words_of(group)
    values = np.arange(1, len(words) + 1, dtype=np.float32)
    of_tensors = group == "python_words"
    given = [values[i : i + 1] if of_tensors else float(values[i]) for i in range(len(words))]
    named = {own(word): value for word, value in zip(words, given, strict=True)}
    function = getattr(every_word, group)
    expected = weighed(len(words), values)
    result = function(**named)
    assert (result.to_numpy().item() if of_tensors else result) == expected
    assert list(inspect.signature(function).parameters)[: len(words)] == list(named)
    for word in words:
        if own(word) == word:
            continue
        with pytest.raises((kf.ArgumentError, TypeError)):
            function(**{**named, own(word): None})


def test_stubs_agree(every_word: ModuleType) -> None:
    stub = Path(str(every_word.__file__)).with_suffix(".pyi").read_text()
    for group in GROUPS:
        for word in words_of(group):
            assert re.search(rf"^        {own(word)}: ", stub, re.MULTILINE), word
    compile(stub, "every_word.pyi", "exec")


def test_gradients_and_tangents(every_word: ModuleType) -> None:
    words = words_of("python_words")
    tensors = {own(word): kf.Tensor.from_numpy(np.full(3, 2, np.float32)).with_grads() for word in words}
    every_word.python_words.backward(**tensors)
    for i, tensor in enumerate(tensors.values()):
        assert tensor.grad is not None
        np.testing.assert_array_equal(tensor.grad.to_numpy(), np.full(3, i + 1))
    ones = np.ones(3, np.float32)
    expected = np.full(3, weighed(len(words), [1] * len(words)))
    for names in (words, [own(word) for word in words]):
        _, tangent = every_word.python_words.jvp(
            **tensors, tangents=dict.fromkeys(names, ones), out=np.ndarray
        )
        np.testing.assert_array_equal(tangent, expected)


def test_prepared_calls(every_word: ModuleType) -> None:
    words = words_of("python_words")
    x = kf.Tensor.from_numpy(np.ones(3, np.float32))
    attributes = every_word.PythonWords._fields
    held = {attribute: x if i == 0 else 1.0 for i, attribute in enumerate(attributes)}
    prepared = every_word.held_python_words.prepare(held)
    expected = weighed(len(words), [1] * len(words))
    for i, word in enumerate(words[1:], start=2):
        for name in (word, attributes[i - 1]):
            prepared.set({f"held.{name}": 2.0})
            np.testing.assert_array_equal(prepared().to_numpy(), np.full(3, expected + i))
            prepared.set({f"held.{name}": 1.0})


@pytest.mark.parametrize("group", GROUPS)
def test_fields(every_word: ModuleType, group: str) -> None:
    words = words_of(group)
    name = "".join(part.capitalize() for part in group.split("_"))
    struct = getattr(every_word, name)
    values = [float(i + 1) for i in range(len(words))]
    made = struct(*values)
    expected = weighed(len(words), values)
    held = getattr(every_word, f"held_{group}")
    assert held(made) == expected
    assert held(dict(zip(words, values, strict=True))) == expected
    for attribute, word in zip(struct._fields, words, strict=True):
        assert attribute.rstrip("_") == word
        assert not keyword.iskeyword(attribute)
    assert held(struct(**dict(zip(struct._fields, values, strict=True)))) == expected


@pytest.mark.parametrize("group", GROUPS)
def test_results(every_word: ModuleType, group: str) -> None:
    words = words_of(group)
    told = getattr(every_word, f"told_{group}")(2.0)
    assert list(told) == [2.0 * (i + 1) for i in range(len(words))]
    for field, word in zip(told._fields, words, strict=True):
        assert field.rstrip("_") == word
        assert not keyword.iskeyword(field)


def test_globals(every_word: ModuleType) -> None:
    x = np.ones(3, np.float32)
    for named in (every_word.set(lambda_=2, self_=3), every_word.set({"lambda": 2, "self": 3})):
        np.testing.assert_array_equal(named.offset(x).to_numpy(), [5, 5, 5])
    every_word.offset.set(lambda_=2, self_=3)(x)
