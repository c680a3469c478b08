# SPDX-License-Identifier: Apache-2.0

openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out AuthKey.p8
(umask 077
martlet relay keys make --name shop --apps shop --scopes send,read,installations >made.txt
sed -n 1p made.txt >back-end.key)
cat >relay.json <<END
{
  "data": "relay.sqlite", "http": "127.0.0.1:8198",
  "apple": {"production": {"host": "127.0.0.1", "port": 2197, "clear": true}},
  "apps": [{"name": "shop", "bundle-ids": ["com.example.app"],
            "team-id": "DEF123GHIJ", "key-id": "ABC123DEFG", "key-file": "AuthKey.p8"}],
  "callers": [$(sed -n 2p made.txt)]
}
END
