"""`butfor serve` behind a real nginx with deploy/nginx.conf; only addresses and folders are changed."""

import os
import shutil
import socket
import ssl
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from deployed import DEPLOY

SECONDS = 60
NGINX = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
OPENSSL = shutil.which("openssl")
NAME, PREFIX = "why.example.org", "/spam"
TOKEN = "a-token-of-some-length"
MAIN = """
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/start.log notice;
events {{}}
http {{
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/butfor.conf;
}}
"""
"""What the system's own nginx.conf would hold."""


@dataclass(frozen=True)
class Site:
    """Where nginx and butfor listen, and where nginx writes its logs."""

    folder: Path
    http: str
    https: str
    butfor: str
    client: httpx.Client

    def ask(self, method, path, *, host=NAME, headers=None, **options):
        """Ask nginx with TLS, as a browser does that has found its address under a name."""
        self.client.cookies.clear()
        headers = {"Host": host, **(headers or {})}
        named = {"sni_hostname": NAME}
        return self.client.request(method, self.https + path, headers=headers, extensions=named, **options)

    def get(self, path, **options):
        return self.ask("GET", path, **options)


def why_not():
    """Return what is missing on this machine, or None."""
    missing = [name for name, found in (("nginx", NGINX), ("openssl", OPENSSL)) if found is None]
    return f"needs {' and '.join(missing)}" if missing else None


@contextmanager
def site(folder, *arguments):
    """Start butfor with these arguments, and nginx before it."""
    make_certificate(folder)
    with served(folder, *arguments) as address:
        ports = free_ports(2)
        (folder / "butfor.conf").write_text(configuration(folder, ports, httpx.URL(address).port), "utf-8")
        (folder / "main.conf").write_text(MAIN.format(folder=folder), "utf-8")
        http, https = (
            f"{scheme}://127.0.0.1:{port}" for scheme, port in zip(("http", "https"), ports, strict=True)
        )
        context = ssl.create_default_context(cafile=folder / "tls.crt")
        with nginx(folder, ports), httpx.Client(verify=context, trust_env=False, timeout=SECONDS) as client:
            yield Site(folder, http, https, address, client)


def configuration(folder, ports, butfor):
    """Return deploy/nginx.conf with addresses and folders of this test."""
    found = (DEPLOY / "nginx.conf").read_text("utf-8")
    changes = {
        "listen 80;": f"listen 127.0.0.1:{ports[0]};",
        "listen 443 ssl;": f"listen 127.0.0.1:{ports[1]} ssl;",
        "server butfor:8000;": f"server 127.0.0.1:{butfor};",
        "/etc/nginx/tls/": f"{folder}/",
        "/var/log/nginx/": f"{folder}/",
    }
    for old, new in changes.items():
        assert old in found, old
        found = found.replace(old, new)
    return found


def make_certificate(folder):
    """Make a certificate that signs itself."""
    command = [OPENSSL, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    command += ["-days", "2", "-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}"]
    command += ["-keyout", folder / "tls.key", "-out", folder / "tls.crt"]
    subprocess.run(command, check=True, capture_output=True)


@contextmanager
def served(folder, *arguments):
    """Start `butfor serve`, as the docs say for a proxy; yield its address."""
    command = [
        sys.executable,
        "-m",
        "butfor",
        "serve",
        *arguments,
        "--port",
        "0",
        "--jobs",
        "1",
        "--open-health",
    ]
    command += ["--allow-host", NAME, "--trust-proxy", "127.0.0.1"]
    environment = {**os.environ, "BUTFOR_TOKEN": TOKEN}
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            address = process.stdout.readline().split(" ")[0]
            assert address.startswith("http://127.0.0.1:"), process.communicate()
            yield address
        finally:
            process.terminate()
            process.communicate(timeout=SECONDS)


@contextmanager
def nginx(folder, ports):
    """Start nginx, once it has found nothing wrong with its configuration, and wait until it listens."""
    command = [NGINX, "-p", folder, "-e", folder / "start.log", "-c", folder / "main.conf"]
    tried = subprocess.run([*command, "-t"], capture_output=True, text=True)
    said = tried.stdout + tried.stderr + (folder / "start.log").read_text()
    assert tried.returncode == 0, said
    assert "[warn]" not in said, said
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            until = time.monotonic() + SECONDS
            while not all(map(listens, ports)):
                assert process.poll() is None, (folder / "start.log").read_text()
                assert time.monotonic() < until, "it took too long"
                time.sleep(0.05)
            yield
        finally:
            process.terminate()


def listens(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def free_ports(number):
    """Return ports that nobody listens on now."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports
