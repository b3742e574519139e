import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from butfor.models.text.atoms import Atoms, Touches, atoms_of, covered, touches_of
from butfor.models.text.readings import TextReading

RANGES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)).map(sorted), max_size=8)


def reading(*tokens, grams=None):
    """Read tokens, given with their places, as grams of one token each."""
    names, places = [name for name, _ in tokens], np.array([place for _, place in tokens]).reshape(-1, 2)
    positions = np.arange(len(tokens) + 1)
    return TextReading(names, positions[:-1], positions[1:], names, places)


def by_characters(*places):
    first, stop = np.array(places).T
    return TextReading(["?"] * len(places), first, stop, by_characters=True)


@given(st.lists(st.lists(st.integers(0, 8), min_size=1, max_size=3), max_size=8))
def test_atoms_have_one_number_if_names_link_them(names):
    called = np.array([(atom, name) for atom, own in enumerate(names) for name in own], dtype=np.intp)
    atoms = Atoms(np.zeros((0, 2)), len(names), list("abcdefghi"), called.reshape(-1, 2), [])
    numbers = atoms.by_name().tolist()
    groups = [set(own) for own in names]
    for _ in names:  # brute force: take over what others know until nothing changes
        groups = [set().union(*(other for other in groups if other & own)) for own in groups]
    assert numbers == [list(dict.fromkeys(map(frozenset, groups))).index(own) for own in groups]


@given(RANGES)
def test_covered_is_what_lies_in_a_range(ranges):
    first, stop = np.array(ranges, dtype=np.intp).reshape(-1, 2).T
    inside = {at for low, high in ranges for at in range(low, high)}
    assert np.flatnonzero(covered(first, stop, 9)).tolist() == sorted(inside)


def test_tokens_that_overlap_are_one_atom():
    atoms = atoms_of(
        "well-known word", [reading(("well", (0, 4)), ("known", (5, 10))), reading(("well-known", (0, 10)))]
    )
    assert atoms.spans.tolist() == [[0, 10]]
    assert [own.tolist() for own in atoms.of_tokens] == [[0, 0], [0]]
    assert [(atom, atoms.names[name]) for atom, name in atoms.called] == [
        (0, "well"),
        (0, "known"),
        (0, "well-known"),
    ]


def test_tokens_without_a_place_come_last_each_on_its_own():
    atoms = atoms_of("word", [reading(("a", (0, 0)), ("word", (0, 4)), ("a", (0, 0)))])
    assert (atoms.n, atoms.of_tokens[0].tolist()) == (3, [1, 0, 2])
    assert atoms.by_name().tolist() == [0, 1, 1]


def test_words_fill_in_where_characters_are_read():
    text = "don't see"
    readings = [reading(("don't", (0, 5))), by_characters((4, 7), (5, 6))]
    atoms = atoms_of(text, readings)
    assert atoms.spans.tolist() == [[0, 5], [6, 9]]
    assert atoms.names == ["see", "don't"]
    _, touches = touches_of(atoms, readings, [np.array([3]), np.array([7, 8])])
    assert touches.grams([(0,), (1,)]) == [(7, (0, 1))]


def test_only_grams_with_a_column_touch():
    touches = Touches(np.array([5]), np.array([1]), np.array([3]), np.array([4, 2, 0, 1]))
    assert touches.touched().tolist() == [2, 0]
    assert touches.grams([(1,), (), (1,), (), (3,)]) == [(5, (1,))]
