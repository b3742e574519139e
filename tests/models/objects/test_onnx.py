"""ONNX Runtime: sessions on rows and texts, judged by what the session itself returns."""

import pickle

import numpy as np
import pytest
from brute_force import minimum
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from small_models import TEXTS, cut, tokenizer

from butfor import Explainer, InputError

pytestmark = [
    pytest.mark.xdist_group("objects"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
]
ort = pytest.importorskip("onnxruntime")
onnx = pytest.importorskip("onnx")
N = 8
RNG = np.random.default_rng(0)
X = (RNG.random((80, N)) < 0.5).astype(np.float32)
Y = X @ RNG.normal(size=N) > 0


def session_of(graph):
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])


def of_classifier(model, **options):
    convert = pytest.importorskip("skl2onnx")
    kind = convert.common.data_types.FloatTensorType([None, N])
    made = convert.to_onnx(
        model, initial_types=[("X", kind)], options={id(model): options} if options else None
    )
    return ort.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])


def judged(session, row, why):
    """Hold an answer against brute force over the session's own labels."""
    name = session.get_inputs()[0].name
    active = np.flatnonzero(row)

    def label(row):
        return session.run(None, {name: row[np.newaxis].astype(np.float32)})[0][0]

    def flips(sets):
        rows = [np.where(np.isin(np.arange(N), active[list(units)]), 0, row) for units in sets]
        return [label(each) != label(row) for each in rows]

    least, _ = minimum(flips, len(active))
    assert (why.size or None) == least
    assert why.decision == str(label(row))
    assert why.proven_minimum or not why


@pytest.mark.parametrize(
    ("options", "labels"), [({}, (0, 1)), ({}, ("no", "yes")), ({}, (3, 7)), ({"zipmap": False}, (0, 1))]
)
def test_classifiers_are_explained_by_their_own_labels(options, labels):
    model = LogisticRegression().fit(X, np.array(labels)[Y.astype(int)])
    session = of_classifier(model, **options)
    explainer = Explainer(session)
    for row in X[:6]:
        judged(session, row, explainer.explain(row))
        judged(session, row, explainer.explain(sparse.csr_matrix(row)))


def test_logits_of_a_network():
    weights = RNG.normal(size=(N, 3)).astype(np.float32)
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("MatMul", ["x", "w"], ["y"])],
        "logits",
        [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [None, N])],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [None, 3])],
        [onnx.numpy_helper.from_array(weights, "w")],
    )
    explainer = Explainer(session_of(graph), class_names=["a", "b", "c"])
    for row in X[:5]:
        why = explainer.explain(row)
        assert why.decision == "abc"[int((row @ weights).argmax())]
        if why:
            without = row.copy()
            without[list(why.columns)] = 0
            assert why.decision_without == "abc"[int((without @ weights).argmax())] != why.decision


def text_session():
    """Give a session that reads texts: its score is whether the text is one of two."""
    graph = onnx.helper.make_graph(
        [
            onnx.helper.make_node("Equal", ["text", "known"], ["is"]),
            onnx.helper.make_node("Cast", ["is"], ["score"], to=onnx.TensorProto.FLOAT),
        ],
        "texts",
        [onnx.helper.make_tensor_value_info("text", onnx.TensorProto.STRING, [None])],
        [onnx.helper.make_tensor_value_info("score", onnx.TensorProto.FLOAT, [None])],
        [onnx.helper.make_tensor("known", onnx.TensorProto.STRING, [1], [b"free prize now"])],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 19)], ir_version=9)
    return ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])


def test_texts():
    why = Explainer(text_session(), threshold=0.5).explain("free prize now")
    assert (why.size, why.score, why.score_without, why.unit) == (1, 1.0, 0.0, "word")


def test_a_transformer_with_its_tokenizer():
    """A session with input ids and a mask: the sum of the vectors of all tokens."""
    tokens = tokenizer()
    vectors = np.random.default_rng(0).normal(size=(len(tokens), 3)).astype(np.float32)
    node = onnx.helper.make_node
    nodes = [
        node("Gather", ["vectors", "input_ids"], ["read"]),
        node("Cast", ["attention_mask"], ["mask"], to=onnx.TensorProto.FLOAT),
        node("Unsqueeze", ["mask", "last"], ["column"]),
        node("Mul", ["read", "column"], ["kept"]),
        node("ReduceSum", ["kept", "middle"], ["logits"], keepdims=0),
    ]
    inputs = [
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.INT64, ["n", "length"])
        for name in ("input_ids", "attention_mask")
    ]
    out = onnx.helper.make_tensor_value_info("logits", onnx.TensorProto.FLOAT, ["n", 3])
    known = {"vectors": vectors, "last": np.array([2]), "middle": np.array([1])}
    constants = [onnx.numpy_helper.from_array(value, name) for name, value in known.items()]
    session = session_of(onnx.helper.make_graph(nodes, "transformer", inputs, [out], constants))
    with pytest.raises(
        InputError, match=r"got the inputs input_ids \(tensor\(int64\)\), .* tokenizer as encoder"
    ):
        Explainer(session)

    def decide(text):
        return int(vectors[tokens(text)["input_ids"]].sum(axis=0).argmax())

    explainer = Explainer(session, encoder=tokens)
    for text in TEXTS[:4]:
        why = explainer.explain(text)
        assert why.decision == f"class {decide(text)}"
        if why:
            without = cut(text, [place for unit in why.spans for place in unit])
            assert why.decision_without == f"class {decide(without)}"
    alone = [explainer.explain(text).features for text in TEXTS[:3]]
    assert [why.features for why in explainer.explain_many(TEXTS[:3], jobs=2)] == alone


def test_a_session_goes_to_other_processes():
    session = of_classifier(LogisticRegression().fit(X, Y.astype(int)))
    explainer = Explainer(session)
    copied = pickle.loads(pickle.dumps(explainer._engine.model.scorer.model))
    np.testing.assert_array_equal(copied.predict(X), session.run(None, {"X": X})[0])
    alone = [explainer.explain(row).columns for row in X[:4]]
    assert [why.columns for why in explainer.explain_many(X[:4], jobs=2)] == alone


def test_refused_sessions():
    two = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [None, N]) for name in "xz"]
    out = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [None, N])
    graph = onnx.helper.make_graph([onnx.helper.make_node("Add", ["x", "z"], ["y"])], "two", two, [out])
    with pytest.raises(
        InputError, match=r"session with one input, of rows or texts, got the inputs x \(tensor"
    ):
        Explainer(session_of(graph))
    nodes = [onnx.helper.make_node("Relu", ["x"], ["y"]), onnx.helper.make_node("Neg", ["x"], ["v"])]
    outs = [out, onnx.helper.make_tensor_value_info("v", onnx.TensorProto.FLOAT, [None, N])]
    graph = onnx.helper.make_graph(nodes, "outputs", two[:1], outs)
    with pytest.raises(InputError, match=r"one output of scores, got the outputs y \(tensor\(float\)\), v"):
        Explainer(session_of(graph))
