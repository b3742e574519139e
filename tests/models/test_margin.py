import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from butfor.models.margin import Margin

outputs = st.lists(st.sampled_from([0.0, 0.5, 1.0, -1.0, 2.0]), min_size=3, max_size=5)


@given(values=outputs, data=st.data())
def test_the_lead_is_lost_exactly_where_another_class_is_decided_for(values, data):
    own = data.draw(st.integers(0, len(values) - 1))
    outputs = np.array([values])
    margin = Margin(own).turned(outputs, outputs.argmax(axis=1))
    assert (margin[0] < 0) == (np.argmax(values) != own)


@given(values=outputs, data=st.data())
def test_a_target_is_reached_exactly_where_it_is_decided_for(values, data):
    target = data.draw(st.integers(0, len(values) - 1))
    own = data.draw(st.sampled_from([i for i in range(len(values)) if i != target]))
    outputs = np.array([values])
    margin = Margin(own, target).turned(outputs, outputs.argmax(axis=1))
    assert (margin[0] < 0) == (np.argmax(values) == target)


@given(values=outputs, data=st.data())
def test_the_model_has_the_last_word_on_who_is_ahead(values, data):
    """The class that `predict` gives counts, even where rounded scores say otherwise."""
    own, decided = (data.draw(st.integers(0, len(values) - 1)) for _ in range(2))
    margin = Margin(own).turned(np.array([values]), np.array([decided]))
    assert (margin[0] < 0) == (decided != own)


@given(values=outputs, data=st.data())
def test_differences_tell_the_same(values, data):
    own = data.draw(st.integers(0, len(values) - 1))
    outputs = np.array(values)
    differences = Margin(own).differences(len(values)) @ outputs
    assert len(differences) == len(values) - 1
    assert differences.min() == pytest.approx(Margin(own).of(outputs[np.newaxis])[0])
    target = (own + 1) % len(values)
    differences = Margin(own, target).differences(len(values)) @ outputs
    assert differences.max() == pytest.approx(Margin(own, target).of(outputs[np.newaxis])[0])
