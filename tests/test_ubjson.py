import json

import numpy as np
import pytest
import xgboost as xgb

from butfor._ubjson import read_ubjson


def plain(value):
    """Return the value with lists in the place of arrays, and numbers in single precision."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list | np.ndarray):
        return [plain(each) for each in value]
    return float(np.float32(value)) if isinstance(value, float | np.floating) else value


def test_both_forms_of_a_model_hold_the_same():
    X = np.random.default_rng(0).normal(size=(50, 3))
    settings = {"objective": "binary:logistic", "nthread": 1}
    booster = xgb.train(settings, xgb.DMatrix(X, X[:, 0] > 0, feature_names=["ä", "b", "c"]), 2)
    assert plain(read_ubjson(bytes(booster.save_raw("ubj")))) == plain(json.loads(booster.save_raw("json")))


def test_all_types():
    assert read_ubjson(b"[ZTFi\xffU\xffI\x01\x00l\x00\x01\x00\x00CxSi\x01y]") == (
        [None, True, False, -1, 255, 256, 65536, "x", "y"]
    )
    assert read_ubjson(b"[#i\x02i\x01{}") == [1, {}]
    assert read_ubjson(b"D\x3f\xe0\x00\x00\x00\x00\x00\x00") == 0.5


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "ends too early"),
        (b"{i\x01a", "ends too early"),
        (b"[$d#L\x7f\xff\xff\xff\xff\xff\xff\xff", "ends too early"),
        (b"Si\xff", "ends too early"),
        (b"[$S#i\x01", "no type of numbers"),
        (b"Sd\x00\x00\x00\x00", "no type of a length"),
        (b"?", "is no type"),
        (b"ZZ", "1 bytes are left over"),
        (b"[" * 1000, "too deep"),
    ],
)
def test_what_is_none(content, said):
    with pytest.raises(ValueError, match=said):
        read_ubjson(content)
