import pytest

from butfor import InputError
from butfor._files import as_features, load_costs, load_groups, load_names


def test_names(tmp_path):
    (tmp_path / "names.txt").write_text("Die Hard\nTaxi Driver\n", encoding="utf-8")
    (tmp_path / "names.json").write_text('["Die Hard", "Taxi Driver"]', encoding="utf-8")
    for file in ("names.txt", "names.json"):
        assert load_names(tmp_path / file) == ["Die Hard", "Taxi Driver"]
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9\n")
    (tmp_path / "object.json").write_text('{"a": 1}')
    for file in ("latin.txt", "object.json", "nowhere"):
        with pytest.raises(InputError, match="--names must"):
            load_names(tmp_path / file)


def test_groups(tmp_path):
    path = tmp_path / "groups.csv"
    path.write_text('feature,group\n"a, b",horror\n7,horror\n7,drama\n\n', encoding="utf-8-sig")
    assert load_groups(path) == {"a, b": ["horror"], "7": ["horror", "drama"]}
    assert as_features(load_groups(path), ()) == {"a, b": ["horror"], 7: ["horror", "drama"]}
    (tmp_path / "groups.json").write_text('["horror", null]')
    assert as_features(load_groups(tmp_path / "groups.json"), ()) == ["horror", None]


def test_costs(tmp_path):
    (tmp_path / "costs.csv").write_text("feature,cost\na,2\nb,0.5\n")
    (tmp_path / "costs.json").write_text('{"a": 2, "b": 0.5}')
    for name in ("costs.csv", "costs.json"):
        assert load_costs(tmp_path / name) == {"a": 2, "b": 0.5}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "a,2\n", "--costs must start with feature,cost, got 'a,2'"),
        ("a.csv", "", "--costs must start with feature,cost, got ''"),
        ("a.csv", "feature,cost\na,b,2\n", "two cells a line, got 3 in line 2: quote a cell"),
        ("a.csv", "feature,cost\na,dear\n", "a number for each feature, got 'dear' in line 2"),
        ("a.csv", "feature,cost\na,1\na,2\n", "name a feature once, got 'a' again in line 3"),
        ("a.csv", 'feature,cost\n"a,1\n', "--costs must be CSV"),
        ("a.json", "{", "--costs must be JSON"),
        ("a.json", "[" * 100_000, "--costs must be JSON"),
        ("a.json", "3", "--costs must hold a JSON object"),
    ],
)
def test_bad_costs(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=message):
        load_costs(tmp_path / name)
