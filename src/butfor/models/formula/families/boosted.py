"""Networks of boosted trees: log-odds of two classes, or one score for each of many."""

from butfor.models.formula.activations import Identity, Logistic
from butfor.models.formula.network import Network
from butfor.models.formula.trees.tree_map import TreeMap

KIND = "tree ensemble"


def boosted_network(tree_map: TreeMap, method: str, *, scaled: bool = False) -> Network:
    """Return the network of sums of trees; probabilities are their logistic function, or their softmax."""
    is_probability, many = method == "predict_proba", len(tree_map.bias) > 1
    link = Logistic() if is_probability and not many else Identity()
    return Network(KIND, (tree_map,), link=link, softmax=is_probability and many, scaled=scaled)
