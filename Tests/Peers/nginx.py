# SPDX-License-Identifier: Apache-2.0

"""nginx as people put it before a page, with one server block."""

import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

from browser import PATIENCE
from ports import unused_port

PROGRAM = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/bin:/opt/homebrew/bin")


class Nginx:
    """A running nginx; `url` is its address, and `stop` ends it.

    `block` is the content of the server block. With `is_encrypted`, nginx has a certificate for 127.0.0.1.
    """

    def __init__(self, block, is_encrypted=False):
        self.directory = tempfile.TemporaryDirectory()
        path = pathlib.Path(self.directory.name)
        port = unused_port()
        tls = ""
        if is_encrypted:
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                 "-subj", "/CN=127.0.0.1", "-keyout", f"{path}/key.pem", "-out", f"{path}/certificate.pem"],
                check=True, capture_output=True)
            tls = f"ssl_certificate {path}/certificate.pem; ssl_certificate_key {path}/key.pem;"
        temporary = " ".join(f"{kind}_temp_path {path}/{kind};" for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
        configuration = path / "nginx.conf"
        configuration.write_text(
            f"daemon off; worker_processes 1; pid {path}/pid; error_log {path}/error.log; user root; events {{}}\n"
            f"http {{ access_log off; {temporary}\n"
            f"server {{ listen 127.0.0.1:{port}{' ssl' if is_encrypted else ''}; {tls}\n{block}\n}} }}\n")
        self.process = subprocess.Popen(
            [PROGRAM, "-e", f"{path}/error.log", "-p", str(path), "-c", str(configuration)], stderr=subprocess.DEVNULL)
        self.url = f"{'https' if is_encrypted else 'http'}://127.0.0.1:{port}"
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=PATIENCE).close()
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError((path / "error.log").read_text()) from None
                time.sleep(0.02)

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.directory.cleanup()
