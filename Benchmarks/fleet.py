# SPDX-License-Identifier: Apache-2.0

"""The performance of relays that share a database.

PostgreSQL runs with full durability. Storing pushes is compared with pgbench, which inserts the same rows into the
same tables in batches of the same size. Two relays are compared with one while Apple takes 20 ms for each push and
allows few streams. A claim among five million pushes is compared with one among ten thousand, and a claim while a
long transaction prevents the removal of dead rows with one without.
"""

import functools
import hashlib
import http.client
import json
import os
import subprocess
import time

from measuring import Figure, Sample, of_client
from peers import ROOT
from servers import free_port

FIGURES = [
    Figure("fleet-keep", "pushes per second stored in PostgreSQL", "fleet-keep", "pgbench", "rate", 0.5),
    Figure("fleet-relays", "pushes per second of two relays, 20 ms each", "two-relays", "one-relay", "rate", 1.7),
    Figure("fleet-claim", "a claim among 5 000 000 pushes", "claim-of-many", "claim-of-few", "work_us", 1.25),
    Figure("fleet-horizon", "a claim under a long transaction", "claim-under-horizon", "claim-of-few", "work_us", 1.25),
]
BATCH = 500
PUSHES = 100_000
WAITING = 12_000
KEY = "mrt_0123456789abcdefghijklmnopqrstuv"
INSERT = r"""
\set base random(1, 1000000000000000)
BEGIN;
INSERT INTO martlet.push (number, app, is_production, apns_id, token, push_type, topic, priority, accepted_at, payload)
    SELECT nextval('martlet.push_number'), 1, true, gen_random_uuid(), md5((:base + n)::text) || md5(n::text), 'alert',
        'com.example.app', '10', 1795000000000, decode(repeat('78', 600), 'hex') FROM generate_series(1, {batch}) n;
INSERT INTO martlet.queue (number, app, is_production, urgency, ready_at)
    SELECT nextval('martlet.bench_number'), 1, true, 0, 1795000000000 FROM generate_series(1, {batch});
COMMIT;
"""


class PostgreSQL:
    """A PostgreSQL server with a database for each measurement."""

    def __init__(self, world):
        self.port = free_port()
        directory = world.directory / "postgresql"
        directory.mkdir()
        world.directory.chmod(0o755)
        world.start(self.port, str(ROOT / "Scripts/postgresql"), str(directory), str(self.port), str(os.getpid()),
                    "-c", "shared_buffers=1GB", "-c", "max_wal_size=8GB", cores="0,1")
        while subprocess.run(["psql", "-qc", "SELECT 1", self.address("postgres")], capture_output=True).returncode:
            time.sleep(0.1)

    def address(self, database):
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def ask(self, database, sql):
        return subprocess.run(["psql", "-qAtX", "-v", "ON_ERROR_STOP=1", self.address(database)], input=sql, check=True,
                              capture_output=True, text=True).stdout.strip()

    def fresh(self, name, world):
        """Creates an empty outbox and returns its address."""
        self.ask("postgres", f"DROP DATABASE IF EXISTS {name} WITH (FORCE);")
        self.ask("postgres", f"CREATE DATABASE {name};")
        subprocess.run([world.martlet, "relay", "migrate", "--data", self.address(name)], check=True, capture_output=True)
        return self.address(name)


# One for all measurements.
postgresql = functools.cache(PostgreSQL)


def runs(world):
    def server():
        return postgresql(world)

    return {
        "fleet-keep": lambda: keep(world, server()),
        "pgbench": lambda: pgbench(world, server()),
        "one-relay": lambda: deliver(world, server(), 1),
        "two-relays": lambda: deliver(world, server(), 2),
        "claim-of-few": lambda: claim(world, server(), few(world, server())),
        "claim-of-many": lambda: claim(world, server(), many(world, server())),
        "claim-under-horizon": lambda: claim_under_horizon(world, server()),
    }


def keep(world, server):
    sample = of_client([world.binary, "store", "--database", server.fresh("keep", world), "--pushes", str(PUSHES),
                        "--batch", str(BATCH)], PUSHES)
    sample.rate = float(sample.output)
    return sample


def pgbench(world, server):
    server.fresh("raw", world)
    server.ask("raw", "CREATE SEQUENCE martlet.bench_number;")
    script = world.directory / "insert.sql"
    script.write_text(INSERT.format(batch=BATCH))
    output = subprocess.run(
        ["pgbench", "--no-vacuum", "--client=1", f"--transactions={PUSHES // BATCH}", f"--file={script}",
         server.address("raw")], check=True, capture_output=True, text=True).stdout
    rate = next(float(line.split()[2]) for line in output.splitlines() if line.startswith("tps"))
    return Sample(rate=rate * BATCH)


def deliver(world, server, count):
    """Returns the pushes per second that relays send when only Apple limits the rate."""
    address = server.fresh("fleet", world)
    subprocess.run([world.binary, "store", "--database", address, "--pushes", str(WAITING), "--batch", str(BATCH)],
                   check=True, capture_output=True)
    server.ask("fleet", "UPDATE martlet.app SET name = 'app';")
    apple, inbox, http_ports = free_port(), free_port(), [free_port() for _ in range(count)]
    processes = [world.start(
        apple, world.martlet, "simulate", "--quiet", "--h2c", "--environment", "production", "--port", str(apple),
        "--channel-port", "0", "--inbox-port", str(inbox), "--streams-before-token", "1000", cores="0,1")]
    connection = http.client.HTTPConnection("127.0.0.1", inbox)
    connection.request("PUT", "/api/v1/chaos", json.dumps({
        "rules": [{"do": "limit-streams", "limit": 5}, {"do": "delay", "seconds": 0.02}]}))
    answer = connection.getresponse()
    assert answer.status == 200, answer.read()
    try:
        for number, port in enumerate(http_ports):
            processes.append(start_relay(world, address, apple, number, port))
        return Sample(rate=rate_of(server))
    finally:
        for process in processes:
            process.terminate()
            process.wait()


def start_relay(world, address, apple, number, http_port):
    key = world.directory / "fleet.p8"
    if not key.exists():
        subprocess.run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key],
                       check=True, capture_output=True)
    configuration = world.directory / f"fleet-{number}.json"
    configuration.write_text(json.dumps({
        "data": address, "node": str(number), "http": f"127.0.0.1:{http_port}", "log-level": "error",
        "apps": [{"name": "app", "bundle-ids": ["com.example.app"], "team-id": "DEF123GHIJ", "key-id": "ABC123DEFG",
                  "key-file": "fleet.p8"}],
        "callers": [{"name": "bench", "key-sha256": hashlib.sha256(KEY.encode()).hexdigest(), "apps": ["app"],
                         "scopes": ["send", "read", "manage"]}],
        "apple": {"production": {"host": "127.0.0.1", "port": apple, "clear": True}},
    }))
    return world.start(http_port, world.martlet, "relay", "--configuration", str(configuration), cores="0,1")


def rate_of(server):
    """Returns the pushes per second between a quarter and three quarters of all."""
    times = {}
    while len(times) < 2:
        left = int(server.ask("fleet", "SELECT count(*) FROM martlet.queue"))
        for part in (0.75, 0.25):
            if left <= WAITING * part:
                times.setdefault(part, (time.monotonic(), left))
        time.sleep(0.02)
    (start, before), (end, after) = times[0.75], times[0.25]
    return (before - after) / (end - start)


FILL = """
INSERT INTO martlet.app (name) VALUES ('bench');
INSERT INTO martlet.push (number, app, is_production, apns_id, token, push_type, topic, priority, accepted_at, payload)
    SELECT nextval('martlet.push_number'), 1, true, gen_random_uuid(), md5(n::text), 'alert', 'com.example.app', '10',
        1794990000000 + n / 1000, '{{}}' FROM generate_series(1, {count}) n;
INSERT INTO martlet.queue (number, app, is_production, urgency, ready_at)
    SELECT number, 1, true, 0, accepted_at FROM martlet.push;
VACUUM ANALYZE martlet.push, martlet.queue;
CHECKPOINT;
"""


def filled(world, server, name, count):
    server.fresh(name, world)
    server.ask(name, FILL.format(count=count))
    return server.address(name)


@functools.cache
def few(world, server):
    return filled(world, server, "few", 10_000)


@functools.cache
def many(world, server):
    return filled(world, server, "many", 5_000_000)


def claim(world, server, address, times=200):
    sample = of_client([world.binary, "claim", "--database", address, "--times", str(times), "--limit", "50", "--refill"],
                       times)
    sample.work_us = float(sample.output)
    return sample


def claim_under_horizon(world, server):
    """Measures claims while an older transaction prevents the removal of dead rows."""
    address = filled(world, server, "horizon", 10_000)
    holder = subprocess.Popen(["psql", "-qAtX", address], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    holder.stdin.write("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM martlet.queue;\n")
    holder.stdin.flush()
    holder.stdout.readline()
    try:
        return claim(world, server, address, 2_000)
    finally:
        holder.stdin.close()
        holder.wait()
