"""PyTorch: modules on rows, judged by brute force over what the module itself returns."""

import numpy as np
import pytest
from brute_force import minimum
from scipy import sparse

from butfor import Explainer, InputError, ModelError
from butfor.batch.identity import settings_of
from butfor.models.objects import adapted

torch = pytest.importorskip("torch")
nn = torch.nn
pytestmark = pytest.mark.xdist_group("objects")
N = 10


class Branching(nn.Module):
    """What it does depends on the numbers: it cannot be traced."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(N, 2)

    def forward(self, x):
        return torch.stack([self.layer(row) * (2 if row.sum() > 3 else 1) for row in x])


class Written(nn.Module):
    """A module as people write them."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.dropout = nn.Linear(N, 7), nn.Linear(7, 2), nn.Dropout(0.5)

    def forward(self, x):
        return self.second(self.dropout(torch.relu(self.first(x))))


class Residual(nn.Module):
    """A module that is no chain."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(N, N), nn.Linear(N, 2)

    def forward(self, x):
        return self.second(torch.tanh(self.first(x)) + x)


class Bags(nn.Module):
    """The classifier of PyTorch's tutorial on texts."""

    def __init__(self, mode):
        super().__init__()
        self.bag, self.out = nn.EmbeddingBag(N, 5, mode=mode), nn.Linear(5, 3)

    def forward(self, text, offsets):
        return self.out(self.bag(text, offsets))


def sequence(*layers):
    return nn.Sequential(*layers)


MODULES = {
    "a line": (lambda: sequence(nn.Linear(N, 1)), "linear", 0.0),
    "a layer alone": (lambda: nn.Linear(N, 2), "linear", None),
    "three classes": (lambda: sequence(nn.Linear(N, 3)), "linear", None),
    "relu": (lambda: sequence(nn.Linear(N, 7), nn.ReLU(), nn.Linear(7, 2)), "neural network", None),
    "gelu": (
        lambda: sequence(nn.Linear(N, 7), nn.GELU(), nn.Dropout(), nn.Linear(7, 1), nn.Sigmoid()),
        "neural network",
        0.5,
    ),
    "gelu by tanh": (
        lambda: sequence(
            nn.Linear(N, 7), nn.GELU(approximate="tanh"), nn.Linear(7, 5), nn.Tanh(), nn.Linear(5, 2)
        ),
        "neural network",
        None,
    ),
    "probabilities": (
        lambda: sequence(nn.Linear(N, 6), nn.Sigmoid(), nn.Linear(6, 3), nn.Softmax(dim=1)),
        "neural network",
        None,
    ),
    "logarithms": (lambda: sequence(nn.Linear(N, 2), nn.LogSoftmax(dim=-1)), "linear", None),
    "sigmoids of two": (lambda: sequence(nn.Linear(N, 2), nn.Sigmoid()), "neural network", None),
    "batch norm": (
        lambda: sequence(nn.Linear(N, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 2)),
        "neural network",
        None,
    ),
    "nested": (
        lambda: sequence(sequence(nn.Linear(N, 4), nn.ReLU()), sequence(nn.Linear(4, 2))),
        "neural network",
        None,
    ),
    "doubles": (
        lambda: sequence(nn.Linear(N, 7), nn.ReLU(), nn.Linear(7, 2)).double(),
        "neural network",
        None,
    ),
    "written": (Written, "neural network", None),
    "residual": (Residual, "black box", None),
    "branching": (Branching, "black box", None),
    "leaky": (lambda: sequence(nn.Linear(N, 7), nn.LeakyReLU(), nn.Linear(7, 2)), "black box", None),
    "sums of bags": (lambda: Bags("sum"), "linear", None),
    "means of bags": (lambda: Bags("mean"), "linear", None),
    "largest of bags": (lambda: Bags("max"), "black box", None),
    "bags in a sequence": (
        lambda: sequence(nn.EmbeddingBag(N, 5, mode="mean"), nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, 2)),
        "neural network",
        None,
    ),
    "weighted bags": (
        lambda: sequence(nn.EmbeddingBag(N, 5, mode="sum"), nn.ReLU(), nn.Linear(5, 2)),
        "neural network",
        None,
    ),
}


def made(name, seed=0):
    torch.manual_seed(seed)
    module = MODULES[name][0]()
    for numbers in module.parameters():
        numbers.data *= 2
    for each in module.modules():
        if isinstance(each, nn.BatchNorm1d):
            each.running_mean.normal_()
            each.running_var.uniform_(0.5, 2.0)
    return module.eval()


def decided(module, row, threshold):
    """Decide as a user does: one row, as the module takes it, and the highest output or the threshold."""
    with torch.no_grad():
        if any(isinstance(each, nn.EmbeddingBag) for each in module.modules()):
            ids = np.repeat(np.arange(N), row.astype(int))
            out = by_bag(module, torch.as_tensor(ids))
        else:
            out = module(torch.as_tensor(row[np.newaxis], dtype=next(module.parameters()).dtype))
    out = out.numpy()[0]
    return int(out.argmax()) if len(out) > 1 else int(out[0] >= threshold)


def by_bag(module, ids):
    offsets = torch.tensor([0])
    if not isinstance(module, nn.Sequential):
        return module(ids, offsets)
    out = module[0](ids, offsets)
    return module[1:](out)


@pytest.mark.parametrize("name", MODULES)
def test_answers_are_proven_smallest_by_the_modules_own_decisions(name):
    _, kind, threshold = MODULES[name]
    rng = np.random.default_rng(len(name))
    for seed in range(3):
        module = made(name, seed)
        explainer = Explainer(module, threshold=threshold)
        for number in range(3):
            row = (rng.random(N) < 0.7).astype(float)
            if kind != "black box":
                row *= rng.integers(1, 3, N)
            why = explainer.explain(sparse.csr_matrix(row) if number % 2 else row)
            active = np.flatnonzero(row)
            own = decided(module, row, threshold)

            def flips(sets, row=row, active=active, own=own, module=module):
                found = []
                for units in sets:
                    changed = row.copy()
                    changed[active[list(units)]] = 0
                    found.append(decided(module, changed, threshold) != own)
                return found

            least, _ = minimum(flips, len(active))
            assert (why.size or None) == least
            assert why.local_model == kind
            assert why.proven_minimum if why else why.status == "none"


@pytest.mark.parametrize("name", ["relu", "three classes", "means of bags", "gelu", "batch norm"])
def test_rows_of_a_block_are_those_one_by_one(name):
    module, threshold = made(name), MODULES[name][2]
    rows = (np.random.default_rng(0).random((12, N)) < 0.6).astype(float)
    explainer = Explainer(module, threshold=threshold)
    together, alone = list(explainer.explain_many(rows)), [explainer.explain(row) for row in rows]
    assert [why.columns for why in together] == [why.columns for why in alone]


@pytest.mark.parametrize(("favoured", "size"), [(1, 1), (0, 0)])
def test_of_equal_outputs_the_first_decides(favoured, size):
    module = nn.Linear(3, 2).eval()
    with torch.no_grad():
        module.weight.zero_()
        module.bias.zero_()
        module.weight[favoured, 0] = 1.0
    why = Explainer(module).explain([1.0, 1.0, 0.0])
    assert (why.decision, why.size) == (f"class {favoured}", size)
    assert why.status == ("found" if size else "none")


def test_tensors_are_rows_and_ids_are_bags():
    module = made("relu")
    row = torch.ones(N)
    assert (
        Explainer(module).explain(row).to_dict().keys()
        == Explainer(module).explain(row.numpy()).to_dict().keys()
    )
    assert len(list(Explainer(module).explain_many(torch.ones(3, N)))) == 3
    bags = made("bags in a sequence")
    why = Explainer(bags).explain(torch.tensor([1, 4, 4, 7]))
    counts = np.zeros(N)
    counts[[1, 4, 7]] = 1, 2, 1
    assert (why.columns, why.score) == (
        Explainer(bags).explain(counts).columns,
        Explainer(bags).explain(counts).score,
    )
    assert why.n_active == 3


def test_an_empty_row_of_a_bag():
    why = Explainer(made("means of bags")).explain(np.zeros(N))
    assert (why.status, why.n_active) == ("none", 0)


def test_class_names_and_a_target():
    explainer = Explainer(made("three classes"), class_names=["a", "b", "c"], target="c")
    row = np.ones(N)
    why = explainer.explain(row)
    assert why.decision == "abc"[decided(made("three classes"), row, None)]
    if why:
        assert why.decision_without == "c"


def test_refused_modules():
    with pytest.raises(
        InputError, match=r"model must be in evaluation mode, got Sequential in training mode"
    ):
        Explainer(sequence(nn.Linear(2, 2)))
    with pytest.raises(
        InputError, match=r"bags of ids by one EmbeddingBag, got Sequential, whose rows are not"
    ):
        Explainer(sequence(nn.Embedding(3, 2)).eval())
    with pytest.raises(InputError, match=r"threshold must be given, as Sequential returns one score a row"):
        Explainer(made("a line")).explain(np.ones(N))
    with pytest.raises(InputError, match=rf"row must have {N} features"):
        Explainer(made("relu")).explain(np.ones(N + 1))
    for name in ("means of bags", "sums of bags"):
        with pytest.raises(ModelError, match=r"counts in the row expected, as the module takes ids without"):
            Explainer(made(name)).explain(np.full(N, 0.5))


def test_sums_in_a_sequence_take_any_values():
    module, row = made("weighted bags"), np.linspace(-1, 1, N)
    why = Explainer(module).explain(row)
    ids, weights = torch.arange(N), torch.as_tensor(row, dtype=torch.float32)
    with torch.no_grad():
        out = module[1:](module[0](ids, torch.tensor([0]), per_sample_weights=weights))
    assert why.score == pytest.approx(torch.softmax(out, dim=1)[0, 1].item(), abs=1e-6)
    assert why.local_model == "neural network"


def test_what_changes_the_numbers_makes_it_a_black_box():
    module = made("relu")
    hook = module.register_forward_hook(lambda module, given, out: out + 0.1)
    assert adapted(module).chain is None
    hook.remove()
    assert adapted(module).chain is not None
    assert adapted(made("relu").to(torch.float64)).chain is not None
    assert adapted(made("relu").to(torch.bfloat16)).chain is None
    torch.set_float32_matmul_precision("medium")
    try:
        assert adapted(module).chain is None
    finally:
        torch.set_float32_matmul_precision("highest")


def test_many_classes_behind_a_threshold_are_refused():
    with pytest.raises(InputError, match="threshold must not be given for 3 classes"):
        Explainer(made("three classes"), threshold=0.5)


def test_a_batch_knows_the_module_again():
    module = made("relu")
    explainer = Explainer(module)
    first = settings_of(explainer)["model"]
    explainer.explain(np.ones(N))
    assert settings_of(explainer)["model"] == settings_of(Explainer(made("relu")))["model"] == first
    assert settings_of(Explainer(made("relu", seed=1)))["model"] != first
