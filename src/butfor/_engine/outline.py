"""What an Explainer holds, in a few lines."""

from collections.abc import Sequence

from butfor._engine.engine import Engine
from butfor._engine.model import EngineModel
from butfor._engine.settings import Settings

NAMES_SHOWN = 3
LONGEST_NAME = 40
REMOVED = {"zero": "its columns become zero", "delete": "it is deleted", "mask": "it is masked"}
"""What removing a unit of a text means, by `removal`."""


def outline(engine: Engine) -> str:
    """Return what an engine holds: the model, whether answers can be proven, rows, decision, search, limits.

    The model is recognised for it, which its first row would have done otherwise.
    """
    model, settings = engine.model, engine.settings
    lines = {
        "model": _family(model),
        "rows": _rows(settings),
        "decision": _decision(model),
        "search": settings.search_name,
        "limits": _limits(settings),
        **_options(settings),
    }
    scored_by = (model.record_scorer or model.text_scorer or model.scorer).name
    return "\n".join(
        [f"Explainer of {scored_by}", *(f"  {name + ':':<11}{text}" for name, text in lines.items())]
    )


def _family(model: EngineModel) -> str:
    if model.scorer.varies:
        return "its scores vary, as was said: answers are not proven"
    if model.network is None:
        return "black box, which can only be asked: proofs must score every smaller set"
    return f"{model.network.kind}, evaluated by its formula: answers can be proven"


def _rows(settings: Settings) -> str:
    reader = settings.reader
    if reader.takes_texts:
        removal = REMOVED[reader.as_dict()["removal"]]
        return f"texts; the unit is {_a(reader.unit)}, and to remove it means that {removal}"
    if reader.takes_records:
        columns = [name for name, _ in reader.record_columns or ()]
        return f"records ({reader.record_form})" + (f" of {_several('column', columns)}" if columns else "")
    if reader.feature_names:
        return f"numbers in {_several('column', reader.feature_names)}"
    return "numbers" if reader.n_features is None else f"numbers in {_counted(reader.n_features, 'column')}"


def _decision(model: EngineModel) -> str:
    scorer = model.scorer
    names = [_shown(name) for name in model.class_names]
    if scorer.has_many_classes:
        target = "" if scorer.target is None else f"; must become {names[scorer.target]}"
        return f"one of {len(names):,} classes: {_joined(names)}{target}"
    if scorer.is_open:
        return "known once the model has scored its first row"
    negative, positive = names or ("negative", "positive")
    by_predict = ", as its own predict decides" if scorer.predict is not None else ""
    return f"{positive} from a score of {scorer.threshold:.6g} on, else {negative}{by_predict}"


def _limits(settings: Settings) -> str:
    budget = settings.budget
    scorings = "" if budget.max_scorings is None else f", {_counted(budget.max_scorings, 'scoring')}"
    return f"{_counted(budget.max_size, 'unit')}, {budget.max_seconds:g} seconds{scorings} for each row"


def _options(settings: Settings) -> dict[str, str]:
    """Return what was told besides, where it was."""
    told = settings.as_dict()
    lines = {}
    if told["protected"]:
        names = settings.reader.feature_names or ()
        protected = [names[each] if isinstance(each, int) and names else each for each in told["protected"]]
        lines["protected"] = _joined([_shown(str(name)) for name in protected])
    if told["groups"] is not None:
        lines["groups"] = "given: features of a group go together"
    if told["costs"] is not None:
        lines["costs"] = "given: the cheapest answer is looked for"
    if told["noise"] is not None:
        lines["noise"] = repr(told["noise"])
    return lines


def _several(noun: str, names: Sequence[str]) -> str:
    return f"{_counted(len(names), noun)}: {_joined([_shown(name) for name in names])}"


def _joined(names: Sequence[str]) -> str:
    return ", ".join([*names[:NAMES_SHOWN], *(["…"] if len(names) > NAMES_SHOWN else [])])


def _shown(name: str) -> str:
    """Return a name in quotes, safe to print and not too long."""
    return repr(name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…")


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _a(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"
