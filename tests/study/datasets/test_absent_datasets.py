import gzip

import pytest

from butfor.errors import InputError
from butfor.study.datasets import DATASETS
from butfor.study.paper import paper_datasets

PUBLIC = ("flickr", "yahoomovies", "tafeng", "kdd2015", "libimseti")
PRIVATE = ("fraud", "facebook")


def put(folder, path, text, encoding="utf-8"):
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    opened = gzip.open if path.endswith(".gz") else open
    with opened(target, "wb") as file:
        file.write(text.encode(encoding))


def cells(data):
    """The active features of every row, by name."""
    return [{data.feature_names[column] for column in row.indices} for row in data.X]


def test_flickr(tmp_path):
    put(
        tmp_path,
        "flickr/flickr-all-photos.txt.gz",
        "11\t5\t900\t40\t2\t2\n12\t6\t900\t7\t0\t1\n13\t7\t901\t\\N\t\\N\t1\n14\t8\t901\t1\t3\t0\n",
    )
    put(
        tmp_path,
        "flickr/flickr-all-photo-favorite-markings.txt.gz",
        "71\t11\t1\n72\t11\t2\n72\t12\t3\n72\t13\t4\n73\t99\t5\n",
    )
    data = DATASETS["flickr"].load(tmp_path)

    assert cells(data) == [{"user 71", "user 72"}, {"user 72"}]  # pictures 11 and 12
    assert data.y.tolist() == [1, 0]


def test_flickr_takes_a_sample(tmp_path, monkeypatch):
    monkeypatch.setattr("butfor.study.datasets.flickr._SAMPLE", 30)
    put(
        tmp_path, "flickr/flickr-all-photos.txt.gz", "".join(f"{i}\t0\t1\t9\t{i % 2}\t1\n" for i in range(80))
    )
    put(
        tmp_path,
        "flickr/flickr-all-photo-favorite-markings.txt.gz",
        "".join(f"{1000 + i}\t{i}\t0\n" for i in range(80)),
    )
    data = DATASETS["flickr"].load(tmp_path)
    pictures = [int(name.removeprefix("user ")) - 1000 for names in cells(data) for name in names]

    assert data.X.shape == (30, 30)
    assert data.y.tolist() == [picture % 2 for picture in pictures]
    assert max(pictures) >= 30


def test_yahoomovies(tmp_path):
    put(
        tmp_path,
        "yahoomovies/ydata-ymovies-user-movie-ratings-train-v1_0.txt",
        "1\t1800\t13\t5\n1\t1801\t4\t2\n2\t1801\t9\t4\n3\t1802\t9\t4\n",
    )
    put(
        tmp_path,
        "yahoomovies/ydata-ymovies-user-demographics-v1_0.txt",
        "1\t1970\tf\n2\t1980\tm\n3\t1990\t\n",
    )
    data = DATASETS["yahoomovies"].load(tmp_path)

    assert cells(data) == [{"film 1800", "film 1801"}, {"film 1801"}]
    assert data.y.tolist() == [1, 0]


def test_tafeng(tmp_path):
    header = "日期;會員卡號;年齡;區域;商品分類;商品編碼;數量;成本;銷售\n"
    lines = {
        "D11": "2000-11-01 00:00:00;00046855  ;D ;E ;110411;4710085120468;3;51;57\n",
        "D12": "2000-12-01 00:00:00;00046855  ;D ;E ;110411;4710085120468;1;17;19\n",
        "D01": "2001-01-01 00:00:00;00141833  ;F ;F ;130207;4710105011011;2;44;52\n",
        "D02": "2001-02-01 00:00:00;00000007  ;K ;H ;130207;4710000000000;2;44;52\n",
    }
    for name, line in lines.items():
        put(tmp_path, f"tafeng/{name}", header + line, "big5")
    data = DATASETS["tafeng"].load(tmp_path)

    assert cells(data) == [{"product 4710085120468"}, {"product 4710105011011"}]
    assert data.y.tolist() == [0, 1]


def test_tafeng_refuses_unknown_age_groups(tmp_path):
    for name in ("D11", "D12", "D01", "D02"):
        put(tmp_path, f"tafeng/{name}", "header\n2000-11-01;1;35-39;E;1;2;3;4;5\n")

    with pytest.raises(InputError, match=r"A to K, got.*35-39"):
        DATASETS["tafeng"].load(tmp_path)


def test_kdd2015(tmp_path):
    put(
        tmp_path,
        "kdd2015/log_train.csv",
        "enrollment_id,time,source,event,object\n"
        "10,2014-06-14T09:38:29,server,navigate,Oj6e\n"
        "10,2014-06-14T09:38:39,server,access,3T6X\n"
        "10,2014-06-14T09:38:49,browser,access,3T6X\n"
        "9,2014-06-14T09:38:39,server,access,3T6X\n",
    )
    put(tmp_path, "kdd2015/truth_train.csv", "9,1\n10,0\n")
    data = DATASETS["kdd2015"].load(tmp_path)

    assert cells(data) == [{"object 3T6X"}, {"object 3T6X", "object Oj6e"}]  # 9 comes before 10
    assert data.y.tolist() == [0, 1]


def test_libimseti(tmp_path):
    put(tmp_path, "libimseti/ratings.dat", "1,133,8\n1,720,6\n3,133,9\n4,555,1\n")
    put(tmp_path, "libimseti/gender.dat", "1,F\n2,F\n3,M\n4,U\n")
    data = DATASETS["libimseti"].load(tmp_path)

    assert cells(data) == [{"profile 133", "profile 720"}, {"profile 133"}, set()]
    assert data.y.tolist() == [1, 0, 1]


def test_another_layout_is_named(tmp_path):
    put(tmp_path, "libimseti/ratings.dat", "1::133::8\n")
    put(tmp_path, "libimseti/gender.dat", "1,F\n")

    with pytest.raises(InputError, match=r"ratings\.dat must have the columns user,profile,rating"):
        DATASETS["libimseti"].load(tmp_path)


@pytest.mark.parametrize("name", PUBLIC)
def test_absent_files_are_named_with_a_way_to_get_them(name, tmp_path):
    with pytest.raises(InputError) as caught:
        DATASETS[name].load(tmp_path)

    for file in DATASETS[name].files:
        assert file.path in str(caught.value)
    assert DATASETS[name].steps in str(caught.value) or "study download" in str(caught.value)
    assert f"{name}:generated" in str(caught.value)


@pytest.mark.parametrize("name", PRIVATE)
def test_private_data_say_so(name, tmp_path):
    with pytest.raises(InputError, match="private"):
        DATASETS[name].load(tmp_path)


@pytest.mark.parametrize("name", [*PUBLIC, *PRIVATE])
def test_every_one_says_what_it_is(name):
    dataset = DATASETS[name]

    assert dataset.share == paper_datasets()[name].predicted_positive_percent / 100
    assert dataset.kind == paper_datasets()[name].kind
    assert dataset.citation.endswith(".")
    assert dataset.homepage.startswith("http")
    assert dataset.generate is not None
