import os

import pytest

from butfor import InputError
from butfor._files.inputs import open_input
from butfor._files.inputs.locations import DataChangedError


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mails" / "old").mkdir(parents=True)
    for name, content in {
        "b.txt": b"two",
        "a.TXT": b"one\r\nline",
        "old/c.txt": b"caf\xe9",
        "_d.txt": b"x",
    }.items():
        (tmp_path / "mails" / name).write_bytes(content)
    return tmp_path / "mails"


def test_a_folder_of_texts(folder):
    data = open_input([str(folder)], takes_texts=True)
    assert (data.kind, data.holds_texts, data.id_type) == ("text files", True, "string")
    (chunk,) = data.chunks(5)
    rows = data.read(chunk)
    assert [os.path.relpath(id, folder) for id in rows.ids] == ["a.TXT", "b.txt", "old/c.txt"]
    assert rows.content == ["one\nline", "two", ""]
    assert list(rows.errors) == [2]
    assert "c.txt, which holds the byte 0xe9" in rows.errors[2]


def test_a_text_is_called_as_the_user_calls_it(folder, monkeypatch):
    monkeypatch.chdir(folder)
    data = open_input(["b.txt", "old/c.txt"], takes_texts=True)
    first, second = (data.read(chunk) for chunk in data.chunks(1))
    assert (first.ids, second.ids) == (["b.txt"], ["old/c.txt"])
    before = data.fingerprint()
    assert open_input(["b.txt", "old/c.txt"], takes_texts=True).fingerprint() == before
    assert open_input([str(folder / "b.txt"), "old/c.txt"], takes_texts=True).fingerprint() != before
    (folder / "b.txt").write_text("two!")
    with pytest.raises(DataChangedError):
        data.read(next(data.chunks(1)))


def test_notes_beside_tables_are_no_rows(folder):
    (folder / "x.csv").write_text("text\none\n")
    assert open_input([str(folder)], takes_texts=True).kind == "texts"


def test_texts_are_not_for_models_of_numbers(folder):
    with pytest.raises(InputError, match=r"MODEL must read texts .* and the text .*b\.txt: save it"):
        open_input([str(folder / "b.txt")], takes_texts=False)
