"""Python and the page write names and numbers by the same rules.

`words.json` holds cases that both must pass: they are run in Python here, and in JavaScript by words.test.js.
Where node is there, both are also held against each other on thousands of random names and numbers.
"""

import json
import re
import shutil
import subprocess
from pathlib import Path
from random import Random
from typing import Any

import pytest

from butfor._render.evidence import pieces
from butfor._render.words import amount, class_named, counted, decimals, printable, shortened

HERE = Path(__file__).parent
CASES: dict[str, Any] = json.loads((HERE / "words.json").read_text(encoding="utf-8"))
NODE = shutil.which("node")
LONGEST = 7
ALPHABET = "ab e\u0301😀\u200d\u202e\x00\n\u2028\ue000\xa0\u3000\U000e0041"


@pytest.mark.parametrize("case", CASES["decimals"], ids=lambda case: str(case["numbers"]))
def test_decimals(case):
    assert decimals(*case["numbers"]) == case["written"]


def test_amounts_and_counts():
    for case in CASES["amount"]:
        assert amount(case["value"]) == case["written"]
    for case in CASES["counted"]:
        assert counted(case["n"], tuple(case["noun"])) == case["written"]


def test_long_texts_are_cut():
    for case in CASES["shortened"]:
        assert shortened(case["text"], case["longest"]) == case["written"]


def test_unsafe_characters_are_shown():
    for case in CASES["printable"]:
        shown = [part if isinstance(part, str) else _escape(part) for part in case["shown"]]
        assert printable(case["text"]) == "".join(shown)


def _escape(code: int) -> str:
    return chr(code).encode("unicode_escape").decode()


def test_classes_that_are_numbers():
    for case in CASES["classes"]:
        assert class_named(case["name"], quote=shortened) == case["written"]


def test_texts_are_cut_at_their_units():
    for case in CASES["pieces"]:
        spans = tuple(tuple(map(tuple, unit)) for unit in case["spans"])
        expected = [(text, place is not None) for text, place in case["pieces"]]
        assert list(pieces(case["text"], spans)) == expected


@pytest.mark.skipif(NODE is None, reason="there is no node on the path")
def test_random_names_and_numbers():
    """The page has a typographic minus and JavaScript's notation of a code point; nothing else differs."""
    random = Random(18)
    numbers = [_group(random) for _ in range(4000)]
    texts = ["".join(random.choices(ALPHABET, k=random.randrange(12))) for _ in range(2000)]
    written = _page_writes({"numbers": numbers, "texts": texts, "longest": LONGEST})
    for group, of_page in zip(numbers, written["decimals"], strict=True):
        assert [text.replace("−", "-") for text in of_page] == decimals(*group), group
    assert written["amounts"] == [amount(group[0]) for group in numbers]
    assert written["shortened"] == [shortened(text, LONGEST) for text in texts]
    assert [_as_python(text) for text in written["printable"]] == [printable(text) for text in texts]


def _group(random: Random) -> list[float]:
    """Draw one to three numbers: of any size, very close to each other, or halfway between two."""
    draw = random.choice((_any_size, _probability, _halfway))
    first = draw(random)
    others = [draw(random) if random.random() < 0.7 else first + random.gauss(0, 1e-6) for _ in range(2)]
    return [first, *others[: random.randrange(3)]]


def _any_size(random: Random) -> float:
    return random.choice((-1, 1)) * random.random() * 10.0 ** random.randrange(-12, 18)


def _probability(random: Random) -> float:
    return random.random()


def _halfway(random: Random) -> float:
    return random.randrange(-2000, 2000) / 2 ** random.randrange(1, 8) * 10 ** random.randrange(5)


def _page_writes(cases: dict[str, Any]) -> dict[str, list[Any]]:
    assert NODE is not None
    done = subprocess.run(
        [NODE, HERE / "write.js"],
        input=json.dumps(cases).encode(),
        capture_output=True,
        check=True,
        timeout=60,
    )
    return json.loads(done.stdout)


def _as_python(text: str) -> str:
    return re.sub(r"\\u\{([0-9a-f]+)\}", lambda found: _escape(int(found[1], 16)), text)
