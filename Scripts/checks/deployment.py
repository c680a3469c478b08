# SPDX-License-Identifier: Apache-2.0

"""Checks the files with which others deploy Martlet."""

import pathlib
import re
import shutil
import subprocess
import tempfile

from checks import common

TOOLS = common.ROOT / ".build/python-deployment/bin"
CHART = "Packaging/helm/martlet"
MANIFESTS = "Packaging/kubernetes/relay.yaml"
HEADING = """# SPDX-License-Identifier: Apache-2.0
# The relay with PostgreSQL, made from the Helm chart by Scripts/check deployment --update.
"""
# Settings with which the chart makes everything that it can make.
EVERYTHING = ["--set", "serviceMonitor.enabled=true", "--set-json", 'networkPolicy.clients=[{"podSelector":{}}]',
              "--set-json", 'networkPolicy.egress=[{"ports":[{"port":4318}]}]',
              "--set", "environments={production,development}"]


def render(*options):
    return common.run(TOOLS / "helm", "template", "martlet", CHART, *options)


def check(program):
    """The Helm chart with its manifests and settings, Compose files, GitHub action, Prometheus."""
    if not (TOOLS / "helm").exists():
        common.skip("deployment", "Scripts/prerequisites test has not installed Helm")
        return
    manifests = HEADING + re.sub(r"(?m)^ *app.kubernetes.io/managed-by: Helm\n", "", render())
    if program == "--update":
        pathlib.Path(MANIFESTS).write_text(manifests)
        return
    if manifests != common.read(MANIFESTS):
        yield f"{MANIFESTS} differs from the chart: run Scripts/check deployment --update"
    common.run(TOOLS / "helm", "lint", "--strict", "--quiet", CHART)
    refused = subprocess.run([TOOLS / "helm", "template", "martlet", CHART, "--set", "settings.data=relay.sqlite"],
                             capture_output=True, text=True, check=False)
    if refused.returncode == 0 or "PostgreSQL" not in refused.stderr:
        yield f"{CHART} accepts a file for several relays, or does not name PostgreSQL:\n{refused.stderr}"
    if "runAsUser" in render("--set", "user=null"):
        yield f"{CHART} sets the user of the pods although the value user is null"
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        everything = render(*EVERYTHING)
        (scratch / "default.yaml").write_text(render())
        (scratch / "all.yaml").write_text(everything)
        common.run(TOOLS / "kubernetes-validate", "--strict", "--quiet", "--no-warn", *sorted(scratch.iterdir()))
        common.run("openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256",
                   "-out", scratch / "AuthKey.p8")
        settings = re.search(r"^  relay.json: \|\n((?:    .*\n)+)", everything, re.M)[1]
        (scratch / "relay.json").write_text(settings)
        common.run(program, "relay", "check", "--configuration", scratch / "relay.json")
    schema = [TOOLS / "check-jsonschema", "--builtin-schema"]
    common.run(*schema, "vendor.compose-spec", "Packaging/compose/simulator.yml", "Packaging/compose/relay.yml")
    common.run(*schema, "vendor.github-actions", "Packaging/action/action.yml")
    for file in re.findall(r"\.\./\.\./[A-Za-z/.]+|\./[a-z-]+\.yml", common.read("Packaging/compose/relay.yml")):
        if not pathlib.Path("Packaging/compose", file).is_file():
            yield f"Packaging/compose/relay.yml: {file} does not exist"
    if shutil.which("promtool"):
        common.run("promtool", "check", "config", "--syntax-only", "Packaging/compose/prometheus.yml")
    else:
        common.skip("Packaging/compose/prometheus.yml", "promtool is not installed")
    common.run("sh", "-n", "Packaging/install.sh")
