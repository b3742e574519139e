"""Metrics at an address of their own."""

import urllib.request

import pytest

from butfor._web.metrics import Metrics, published
from butfor.errors import InputError


def test_they_are_published_until_the_end():
    metrics = Metrics()
    metrics.watch("searches", queue_length=lambda: 7)
    metrics.searches.labels("found", "proven").inc()
    metrics.note_reload(is_good=False)
    with published(metrics, "127.0.0.1", 0) as port:
        address = f"http://127.0.0.1:{port}/metrics"
        with urllib.request.urlopen(address, timeout=30) as answer:
            text = answer.read().decode()
        with pytest.raises(InputError, match=f"--metrics-port must be one that is free, got {port} on 127"):
            published(metrics, "127.0.0.1", port).__enter__()
    assert 'butfor_queue_length{lane="searches"} 7.0' in text
    assert 'butfor_searches_total{outcome="found",proof="proven"} 1.0' in text
    assert 'butfor_model_reloads_total{result="failed"} 1.0' in text
    assert "butfor_model_reload_failed 1.0" in text
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(address, timeout=30)
    metrics.note_reload(is_good=True)
    assert metrics.registry.get_sample_value("butfor_model_reload_failed") == 0


def test_two_servers_count_apart():
    first, second = Metrics(), Metrics()
    first.refused.labels("queue_full").inc()
    assert second.registry.get_sample_value("butfor_requests_refused_total", {"reason": "queue_full"}) is None
