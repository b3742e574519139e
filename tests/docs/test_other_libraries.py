"""The page on other libraries: each section runs where its libraries are installed."""

import doctest
import json
import math
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from small_models import SPAM, TEXTS, tokenizer, transformer

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "other-libraries.md").read_text(encoding="utf-8")
ROW = np.ones(6)
pytestmark = [pytest.mark.xdist_group("objects"), pytest.mark.filterwarnings("ignore")]


def hugging_face():
    transformers = pytest.importorskip("transformers")
    model = transformer()
    pipe = transformers.pipeline("text-classification", model=model, tokenizer=tokenizer(64))
    return {"pipe": pipe, "model": model, "tokenizer": tokenizer(64), "short_tokenizer": tokenizer(8)}


def pytorch():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    nn = torch.nn
    module = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 2)).eval()
    with torch.no_grad():  # it decides by its first feature
        module[0].weight[0, 0], module[2].weight[1, 0], module[2].bias[0] = 3.0, 3.0, 4.0
    bags = nn.Sequential(nn.EmbeddingBag(30, 4, mode="mean"), nn.Linear(4, 3)).eval()
    ids = torch.tensor([3, 9, 9, 17, 21])
    return {"module": module, "row": torch.ones(6), "bags": bags, "ids": ids}


def keras_model():
    pytest.importorskip("torch")
    import os

    os.environ.setdefault("KERAS_BACKEND", "torch")
    keras = pytest.importorskip("keras")
    layers = [keras.layers.Input((6,)), keras.layers.Dense(4, "relu"), keras.layers.Dense(1, "sigmoid")]
    return {"keras_model": keras.Sequential(layers), "row": ROW}


def logistic_regression():
    X = (np.random.default_rng(0).random((60, 6)) < 0.5).astype(float)
    return LogisticRegression().fit(X, (X[:, 0] + X[:, 1] > 1).astype(int))


def onnx():
    convert = pytest.importorskip("skl2onnx")
    ort = pytest.importorskip("onnxruntime")
    kind = convert.common.data_types.FloatTensorType([None, 6])
    made = convert.to_onnx(logistic_regression(), initial_types=[("X", kind)])
    session = ort.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    return {"session": session, "row": ROW}


def spacy_pipeline():
    spacy = pytest.importorskip("spacy")
    from spacy.training import Example

    nlp = spacy.blank("en")
    nlp.add_pipe("textcat")
    cats = [{"cats": {"ham": float(not spam), "spam": float(spam)}} for spam in SPAM]
    examples = [Example.from_dict(nlp.make_doc(text), each) for text, each in zip(TEXTS, cats, strict=True)]
    nlp.initialize(lambda: examples)
    return {"nlp": nlp}


def fast_text(folder):
    fasttext = pytest.importorskip("fasttext")
    lines = [f"__label__{'spam' if spam else 'ham'} {text}" for text, spam in zip(TEXTS, SPAM, strict=True)]
    path = folder / "train.txt"
    path.write_text("\n".join(lines) + "\n")
    return {"fasttext_model": fasttext.train_supervised(str(path), wordNgrams=2, dim=8, thread=1, verbose=0)}


def embeddings(folder):
    pytest.importorskip("torch")
    sentence_transformers = pytest.importorskip("sentence_transformers")
    setfit = pytest.importorskip("setfit")
    from transformers import BertConfig, BertModel

    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    BertModel(BertConfig(vocab_size=200, initializer_range=0.4, **sizes)).save_pretrained(str(folder))
    tokenizer().save_pretrained(str(folder))
    from sentence_transformers import models

    parts = [models.Transformer(str(folder), max_seq_length=32), models.Pooling(16)]
    encoder = sentence_transformers.SentenceTransformer(modules=parts, device="cpu")
    classifier = LogisticRegression().fit(encoder.encode(TEXTS), np.array(["ham", "spam"])[SPAM])
    model = setfit.SetFitModel(model_body=encoder, model_head=classifier, labels=["ham", "spam"])
    return {"encoder": encoder, "classifier": classifier, "set_fit": model}


def mlflow_model(folder):
    mlflow = pytest.importorskip("mlflow")
    model = logistic_regression()
    mlflow.sklearn.save_model(model, str(folder / "model"), serialization_format="cloudpickle")
    return {"loaded": mlflow.pyfunc.load_model(str(folder / "model")), "row": ROW}


MAKERS = {
    "Hugging Face": hugging_face,
    "PyTorch": pytorch,
    "Keras": keras_model,
    "ONNX Runtime": onnx,
    "spaCy": spacy_pipeline,
    "fastText": fast_text,
    "Sentence embeddings and a classifier": embeddings,
    "MLflow": mlflow_model,
}


def sections():
    beginning, *others = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    return beginning, {each.partition("\n")[0]: each.partition("\n")[2] for each in others}


def test_every_section_is_run_here():
    _, known = sections()
    assert {name for name, body in known.items() if ">>> " in body} == set(MAKERS)


@pytest.mark.parametrize("name", MAKERS)
def test_examples_run(name, tmp_path):
    beginning, known = sections()
    make = MAKERS[name]
    names = make(tmp_path) if make.__code__.co_argcount else make()
    parsed = doctest.DocTestParser().get_doctest(
        beginning + known[name], names, name, "other-libraries.md", 0
    )
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    runner = doctest.DocTestRunner(optionflags=flags)
    report = []
    result = runner.run(parsed, out=report.append)
    assert result.failed == 0, "".join(report)
    assert result.attempted > 2


class Chat(BaseHTTPRequestHandler):
    """A server that speaks as much of the protocol as is needed, and fails now and then."""

    asked: ClassVar[list[str]] = []
    failures = 0

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = body["messages"][0]["content"]
        assert self.headers["Authorization"] == "Bearer secret"
        if self.path != "/v1/chat/completions" or (len(Chat.asked) % 7 == 3 and Chat.failures < 3):
            Chat.failures += 1
            self.send_response(429)
            self.send_header("Retry-After", "0")
            self.end_headers()
            return
        Chat.asked.append(prompt)
        angry = sum(word in prompt.partition("\n\n")[2] for word in ("rude", "late", "dreadful"))
        yes = 1 / (1 + math.exp(2.5 - 1.5 * angry))
        words = [("Yes", yes * 0.9), (" no", (1 - yes) * 0.9), ("Maybe", 0.1)]
        top = [{"token": token, "logprob": math.log(share)} for token, share in words]
        answer = {"choices": [{"logprobs": {"content": [{"top_logprobs": top}]}}]}
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, *_):
        pass


@pytest.fixture
def chat(monkeypatch, tmp_path):
    Chat.asked, Chat.failures = [], 0
    server = ThreadingHTTPServer(("127.0.0.1", 0), Chat)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("CHAT_URL", f"http://127.0.0.1:{server.server_port}/v1")
    monkeypatch.setenv("CHAT_KEY", "secret")
    monkeypatch.setenv("CHAT_MODEL", "small")
    monkeypatch.chdir(tmp_path)
    yield Chat
    server.shutdown()
    server.server_close()
    thread.join()


def test_the_recipe_for_a_chat_model(chat):
    _, known = sections()
    (code,) = re.findall(r"^```python\n(import .*?)^```", known["A chat model behind an API"], re.S | re.M)
    names = {}
    exec(compile(code, "other-libraries.md", "exec"), names)
    text = "The driver was rude, the parcel came late and its state was dreadful"
    why = names["explainer"].explain(text)
    assert (why.size, why.status) == (2, "found")
    assert set(why.features) <= {"rude", "late", "dreadful"}
    assert why.spent == pytest.approx(why.n_asked * 0.0002)
    assert chat.failures == 3
    assert len(chat.asked) <= why.n_asked <= 200
    n_asked = len(chat.asked)
    again = {}
    exec(compile(code, "other-libraries.md", "exec"), again)
    assert again["explainer"].explain(text).features == why.features
    assert len(chat.asked) <= n_asked + 1  # all but the comparison comes from the cache
