"""The manifests of Kubernetes: against Kubernetes' own schemas, and against what butfor reads."""

import pytest
from deployed import DEPLOY, documents, instructions, read_by_butfor, variables_of_the_image

from butfor._web.health import PATHS
from butfor._web.proxies import require_proxy
from butfor._web.serving import require_token
from butfor.errors import InputError

FILES = ("serve", "batch")
TOKEN = "a-token-of-some-length"


@pytest.fixture
def kinds():
    """The manifests of all files: kind to manifests."""
    found = {}
    for name in FILES:
        for each in documents(f"kubernetes/{name}.yaml"):
            found.setdefault(each["kind"], []).append(each)
    return found


@pytest.fixture
def pods(kinds):
    """The pods of the Deployment and of the Job."""
    return [kinds[kind][0]["spec"]["template"]["spec"] for kind in ("Deployment", "Job")]


def test_there_is_what_a_service_and_a_job_need(kinds):
    assert {path.stem for path in (DEPLOY / "kubernetes").iterdir()} == set(FILES)
    assert {"Deployment", "Job", "Service", "Secret", "NetworkPolicy", "Ingress"} <= set(kinds)


def test_butfor_reads_both_commands(pods, monkeypatch):
    for pod in pods:
        (container,) = pod["containers"]
        variables = {each["name"]: each.get("value", TOKEN) for each in container["env"]}
        read = read_by_butfor(monkeypatch, container["args"], variables)
        assert str(read["jobs"]) == container["resources"]["limits"]["cpu"]
        for address in read.get("trust_proxy") or ():
            require_proxy(address)
        places = [mount["mountPath"] for mount in container["volumeMounts"]]
        files = [str(each) for each in (read["model"], *read["data"], read.get("out")) if each is not None]
        assert all(any(file.startswith(f"{place}/") for place in places) for file in files)


def test_pods_are_as_the_restricted_profile_wants_them(pods):
    (user,) = [rest for name, rest in instructions() if name == "USER"]
    for pod in pods:
        assert not pod["enableServiceLinks"]  # a Service named butfor would set BUTFOR_PORT
        assert not pod["automountServiceAccountToken"]
        security = pod["securityContext"]
        assert security["runAsNonRoot"]
        assert f"{security['runAsUser']}:{security['runAsGroup']}" == user
        assert security["seccompProfile"] == {"type": "RuntimeDefault"}
        (container,) = pod["containers"]
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert {"cpu", "memory"} <= set(container["resources"]["requests"]) & set(
            container["resources"]["limits"]
        )
        writable = {mount["mountPath"] for mount in container["volumeMounts"] if not mount.get("readOnly")}
        assert writable in ({"/tmp"}, {"/tmp", "/results"})
        assert {mount["name"] for mount in container["volumeMounts"]} == {
            each["name"] for each in pod["volumes"]
        }


def test_probes_ask_for_what_is_open_to_them(pods):
    (container,) = pods[0]["containers"]
    port = container["ports"][0]
    assert str(port["containerPort"]) == variables_of_the_image()["BUTFOR_PORT"]
    live, ready = PATHS
    asked = {kind: container[f"{kind}Probe"]["httpGet"] for kind in ("startup", "readiness", "liveness")}
    assert {kind: get["path"] for kind, get in asked.items()} == {
        "startup": ready,
        "readiness": ready,
        "liveness": live,
    }
    assert {get["port"] for get in asked.values()} == {port["name"]}


def test_requests_may_end_before_the_pod_does(pods):
    (container,) = pods[0]["containers"]
    (drain,) = [each["value"] for each in container["env"] if each["name"] == "BUTFOR_DRAIN_SECONDS"]
    _, seconds = container["lifecycle"]["preStop"]["exec"]["command"]
    assert int(drain) + int(seconds) < pods[0]["terminationGracePeriodSeconds"]


def test_names_refer_to_what_is_there(kinds, pods):
    (service,), (deployment,), (ingress,) = kinds["Service"], kinds["Deployment"], kinds["Ingress"]
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["selector"] == deployment["spec"]["selector"]["matchLabels"] == labels
    (port,), (container_port, metrics) = service["spec"]["ports"], pods[0]["containers"][0]["ports"]
    assert port["targetPort"] == container_port["name"]  # metrics are not part of the Service
    allowed = [rule["ports"][0]["port"] for rule in kinds["NetworkPolicy"][0]["spec"]["ingress"]]
    assert allowed == [container_port["name"], metrics["name"]]
    (rule,) = ingress["spec"]["rules"]
    backend = rule["http"]["paths"][0]["backend"]["service"]
    assert (backend["name"], backend["port"]["name"]) == (service["metadata"]["name"], port["name"])
    variables = {each["name"]: each.get("value") for each in pods[0]["containers"][0]["env"]}
    assert variables["BUTFOR_METRICS_PORT"] == str(metrics["containerPort"])
    assert [rule["host"]] == ingress["spec"]["tls"][0]["hosts"] == [variables["BUTFOR_ALLOW_HOST"]]
    claims = {each["metadata"]["name"] for each in kinds["PersistentVolumeClaim"]}
    volumes = [volume for pod in pods for volume in pod["volumes"] if "persistentVolumeClaim" in volume]
    assert {volume["persistentVolumeClaim"]["claimName"] for volume in volumes} == claims
    policies = [policy["spec"]["podSelector"]["matchLabels"] for policy in kinds["NetworkPolicy"]]
    assert policies == [labels, kinds["Job"][0]["spec"]["template"]["metadata"]["labels"]]


def test_nobody_runs_with_the_token_of_the_example(kinds, pods):
    (secret,) = kinds["Secret"]
    (reference,) = [
        each["valueFrom"]["secretKeyRef"] for each in pods[0]["containers"][0]["env"] if "valueFrom" in each
    ]
    assert reference["name"] == secret["metadata"]["name"]
    with pytest.raises(InputError, match="--token must have at least 16"):
        require_token("0.0.0.0", secret["stringData"][reference["key"]])


def test_the_job_goes_on_unless_its_input_is_bad(kinds):
    from butfor._cli.failing import BAD_INPUT

    (job,) = kinds["Job"]
    assert job["spec"]["template"]["spec"]["restartPolicy"] == "Never"
    rules = {rule["action"]: rule for rule in job["spec"]["podFailurePolicy"]["rules"]}
    assert rules["FailJob"]["onExitCodes"]["values"] == [BAD_INPUT]


@pytest.mark.parametrize("name", FILES)
def test_the_schemas_of_kubernetes(name):
    kubernetes_validate = pytest.importorskip(
        "kubernetes_validate", reason="needs the schemas of Kubernetes: make manifests"
    )
    for each in documents(f"kubernetes/{name}.yaml"):
        kubernetes_validate.validate(each, "1.30", strict=True)
        kubernetes_validate.validate(each, kubernetes_validate.latest_version(), strict=True)
