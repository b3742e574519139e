"""The compose file: what it starts is what butfor and nginx read."""

import re
from ipaddress import ip_address, ip_network

import pytest
from deployed import DEPLOY, documents, read_by_butfor, variables_of_the_image

from butfor._web.proxies import require_proxy
from butfor._web.serving import require_name

TOKEN = "a-token-of-some-length"


@pytest.fixture
def compose():
    (document,) = documents("compose.yaml")
    return document


def test_butfor_reads_both_commands(compose, monkeypatch):
    serve, batch = (compose["services"][name] for name in ("butfor", "batch"))
    assert serve["environment"]["BUTFOR_TOKEN"].startswith("${BUTFOR_TOKEN:?")  # none: compose says so
    variables = serve["environment"] | {"BUTFOR_TOKEN": TOKEN}
    read = read_by_butfor(monkeypatch, serve["command"], variables)
    assert (read["host"], read["open_health"]) == ("0.0.0.0", True)
    assert str(read["jobs"]) == serve["deploy"]["resources"]["limits"]["cpus"]
    assert read["drain_seconds"] < int(serve["stop_grace_period"].removesuffix("s"))
    for name in read["allow_host"]:
        require_name(name)
    for address in read["trust_proxy"]:
        require_proxy(address)
    read = read_by_butfor(monkeypatch, batch["command"], batch["environment"])
    assert str(read["jobs"]) == batch["deploy"]["resources"]["limits"]["cpus"]
    assert read["out"].startswith("/results/")


def test_files_that_are_read_are_mounted(compose):
    for name in ("butfor", "batch"):
        service = compose["services"][name]
        places = [volume.split(":")[1] for volume in service["volumes"]]
        written = [value for key, value in service["environment"].items() if key == "BUTFOR_OUT"]
        files = [word for word in [*service["command"], *written] if word.startswith("/")]
        assert len(files) == 2 + len(written)
        assert all(any(file.startswith(f"{place}/") for place in places) for file in files)


def test_nothing_can_be_written_but_what_must(compose):
    for service in compose["services"].values():
        assert service["read_only"]
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert set(service["deploy"]["resources"]["limits"]) == {"cpus", "memory", "pids"}
        mounted = [each.partition(":")[0] for each in service["tmpfs"]]
        assert mounted in (["/tmp"], ["/run", "/var/cache/nginx"])
        volumes = [volume for volume in service["volumes"] if not volume.endswith(":ro")]
        assert volumes in ([], ["results:/results"])


def test_butfor_trusts_nginx_alone(compose):
    services, networks = compose["services"], compose["networks"]
    address = services["nginx"]["networks"]["inside"]["ipv4_address"]
    assert services["butfor"]["environment"]["BUTFOR_TRUST_PROXY"] == address
    (subnet,) = networks["inside"]["ipam"]["config"]
    assert ip_address(address) in ip_network(subnet["subnet"])
    assert networks["inside"]["internal"]
    assert services["butfor"]["networks"] == ["inside"]
    assert "ports" not in services["butfor"]


def test_ports_and_names_are_those_of_nginx(compose):
    conf = (DEPLOY / "nginx.conf").read_text("utf-8")
    listens = re.findall(r"listen (\d+)", conf)
    nginx = compose["services"]["nginx"]
    assert [each.split(":")[1] for each in nginx["ports"]] == listens
    assert f"server butfor:{variables_of_the_image()['BUTFOR_PORT']};" in conf
    names = set(re.findall(r"server_name (\S+);", conf))
    assert {compose["services"]["butfor"]["environment"]["BUTFOR_ALLOW_HOST"]} == names
    places = [volume.split(":")[1] for volume in nginx["volumes"]]
    certificate = re.search(r"ssl_certificate (\S+)/tls.crt;", conf)
    assert places == ["/etc/nginx/conf.d/default.conf", certificate[1]]
