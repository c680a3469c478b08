// SPDX-License-Identifier: Apache-2.0

extension CommandTable {
    /// Commands of a relay's operator that need no running relay.
    static let relay = CommandTable(
        name: "relay",
        needsRelay: true,
        invocations: [
            Invocation(
                "relay check --configuration $configuration",
                output: ["Sends pushes for production to localhost:", "com.example.app"],
                printsNotes: true
            ),
            Invocation(
                "relay check --configuration $configuration --json",
                output: [#""valid":true"#, #""scopes":["manage","read","send"]"#],
                json: ["apps"],
                printsNotes: true
            ),
            Invocation(
                "relay check --configuration missing.json",
                status: 2,
                errors: ["missing.json", "No such file"]
            ),
            Invocation(
                "relay check --configuration broken.json",
                status: 2,
                errors: ["--configuration broken.json is not valid JSON"]
            ),
            Invocation("relay --configuration broken.json", status: 2, errors: ["broken.json is not valid JSON"]),
            Invocation("relay migrate --configuration broken.json", status: 2, errors: ["is not valid JSON"]),
            Invocation("relay check --configuration payload.json", status: 1, errors: ["payload.json"]),
            Invocation("relay check --configuration broken.json --json", status: 2, json: ["error", "message"]),
            Invocation("relay check --configuration payload.json --json", status: 1, json: ["error", "message"]),
            Invocation("relay --http localhost", status: 2, errors: ["--http", "IP address", "localhost"]),
            Invocation(
                "relay --listen-production 127.0.0.1",
                status: 2,
                errors: ["--listen-production", "with a port"]
            ),
            Invocation("relay check", status: 2, errors: ["relay.json"]),
            Invocation("relay --configuration missing.json", status: 2, errors: ["missing.json"]),
            Invocation("relay --log-level loud", status: 2, errors: ["--log-level", "loud"]),
            Invocation(
                "relay --configuration $configuration --data $directory/other.sqlite",
                status: 1,
                errors: ["listen.production: cannot listen on 127.0.0.1:", "in use"],
                printsNotes: true
            ),
            Invocation("relay --configuration $configuration", status: 1, errors: ["in use"], printsNotes: true),
            Invocation(
                "relay keys make --name backend --apps app",
                output: ["mrt_", #""name":"backend","key-sha256":""#, #""scopes":["send","read"]"#],
                printsNotes: true
            ),
            Invocation(
                "relay keys make --name backend --apps app --json",
                output: [#""key":"mrt_"#, #""scopes":["send","read"]"#],
                json: ["key"],
                printsNotes: true
            ),
            Invocation("relay keys make --apps app", status: 2, errors: ["--name"]),
            Invocation("relay keys make --name '' --apps app", status: 2, errors: ["--name"]),
            Invocation("relay keys make --name backend --apps ''", status: 2, errors: ["--apps"]),
            Invocation("relay keys make --name backend --apps app --scopes ''", status: 2, errors: ["--scopes"]),
            Invocation(
                "relay keys make --name backend --apps app --scopes fly",
                status: 2,
                errors: ["--scopes", "fly"]
            ),
            Invocation("relay migrate --configuration $configuration", status: 2, errors: ["postgresql://"]),
            Invocation(
                "relay migrate --data postgresql://127.0.0.1:1/none --from missing.sqlite",
                status: 2,
                errors: ["--from missing.sqlite", "No such file"]
            ),
            Invocation(
                "relay migrate --data postgresql://127.0.0.1:1/none --from tokens.txt",
                status: 2,
                errors: ["--from tokens.txt is not the database of a relay"]
            ),
            Invocation(
                "relay check --configuration $configuration --data 'postgresql://a:secret@h/d?bogus=%zz'",
                status: 1,
                errors: ["data must have the form postgresql://"]
            ),
            Invocation(
                "relay check --configuration $configuration --data $directory/none/relay.sqlite",
                output: ["app"],
                errors: ["warning: the directory of data", "/none, does not exist"]
            ),
            Invocation(
                "relay migrate --data 'postgresql://127.0.0.1:1/none' --configuration $configuration",
                status: 3,
                errors: ["127.0.0.1"]
            ),
        ]
    )

    /// Commands that query a running relay.
    static let relayQueries = CommandTable(
        name: "relay queries",
        needsRelay: true,
        invocations: [
            Invocation(
                "relay status $relay --key-file operator.key",
                output: ["app is ready. No push waits.", "app  production"]
            ),
            Invocation(
                "relay status --url 127.0.0.1:$relayport --key-file operator.key",
                output: ["app is ready. No push waits.", "app  production"]
            ),
            Invocation(
                "relay status --url localhost:$relayport --key-file operator.key",
                output: ["app is ready. No push waits.", "app  production"]
            ),
            Invocation(
                "relay status $relay --key-file operator.key --json",
                output: [#""state":"ok""#, #""app":"app","environment":"production""#],
                json: ["lanes"]
            ),
            Invocation(
                "relay status $relay --key-file operator.key",
                on: .terminal(columns: 80),
                output: ["app is ready. No push waits."]
            ),
            Invocation(
                "relay apps $relay --key-file operator.key",
                output: ["app  com.example.app     production    DEF123GHIJ  ABC123DEFG"]
            ),
            Invocation(
                "relay apps $relay --key-file operator.key --json",
                output: [#""bundle-ids":["com.example.app"],"environments":["production"]"#],
                json: ["apps"]
            ),
            Invocation(
                "relay pause $relay --app app --environment production --key-file operator.key",
                output: ["app production: paused manually since 20", " by test."]
            ),
            Invocation("relay status --key-file operator.key $relay", output: ["paused manually since 20"]),
            Invocation(
                "relay pause $relay --app app --environment production --key-file operator.key --json",
                output: [#""caller":"test""#],
                json: ["since", "caller"]
            ),
            Invocation("send $relayhost $relaykey $device --title Hi", output: ["accepted"]),
            Invocation(
                "relay search $relay --token $devicetoken --key-file operator.key",
                output: ["app  production   accepted"]
            ),
            Invocation(
                "relay purge $relay --app app --environment production --key-file operator.key",
                output: ["app production: 1 push cancelled."]
            ),
            Invocation(
                "relay purge $relay --app app --environment production --key-file operator.key --json",
                output: [#""purged":0"#],
                json: ["purged"]
            ),
            Invocation(
                "relay resume $relay --app app --environment production --key-file operator.key",
                output: ["app production: resumed."]
            ),
            Invocation(
                "relay resume $relay --environment production --app app --key-file operator.key",
                output: ["app production: was not paused."]
            ),
            Invocation(
                "send $relayhost $device --title Hi $relaykey",
                output: ["accepted"],
                sent: [["device: \(World.device)", "apns-topic: com.example.app", "apns-priority: 10", hi]]
            ),
            Invocation(
                "relay resume $relay --app app --environment development --key-file operator.key",
                status: 1,
                errors: ["404", "app has no lane development"]
            ),
            Invocation(
                "relay pause $relay --app app --key-file operator.key",
                output: ["app production: paused manually since 20"]
            ),
            Invocation("relay resume $relay --app app --key-file operator.key", output: ["app production: resumed."]),
            Invocation(
                "relay pause $relay --app other --key-file operator.key",
                status: 1,
                errors: ["this key can use no app other"]
            ),
            Invocation(
                "relay purge $relay --app 'a/b' --environment production --key-file operator.key",
                status: 2,
                errors: ["--app", "letters"]
            ),
            Invocation(
                "relay pause --url 127.0.0.1:1 --app app --environment production --key-file operator.key",
                status: 3,
                errors: ["--url"]
            ),
            Invocation("relay search $relay --token 5d3a6a1c --key-file operator.key", output: ["push", "state"]),
            Invocation(
                "relay search $relay --app app --token 5d3a6a1c --key-file operator.key --json",
                json: ["pushes", "cursor"]
            ),
            Invocation(
                "relay search $relay --id 123e4567-e89b-42d3-a456-426655440000 --key-file operator.key",
                output: ["push  app  environment  state  Apple's last answer\n"]
            ),
            Invocation(
                "relay search $relay --id 123E4567-E89B-42D3-A456-426655440000 --key-file operator.key",
                output: ["push  app  environment  state  Apple's last answer\n"]
            ),
            Invocation("relay search $relay --key-file operator.key", status: 2, errors: ["--token", "--id"]),
            Invocation("relay search $relay --token xyz --key-file operator.key", status: 2, errors: ["--token"]),
            Invocation("relay search $relay --id xyz --key-file operator.key", status: 2, errors: ["--id", "UUID"]),
            Invocation(
                "relay search $relay --token 5d3a6a1c --after -1 --key-file operator.key",
                status: 2,
                errors: ["--after"]
            ),
            Invocation(
                "relay search $relay --app other --token 5d3a6a1c --key-file operator.key",
                status: 1,
                errors: ["403"]
            ),
            Invocation(
                "relay dead-letters show $relay --app app --key-file operator.key",
                status: 2,
                errors: ["show requires one --id"]
            ),
            Invocation(
                "relay dead-letters show $relay --app app --id 123e4567-e89b-42d3-a456-426655440000 "
                    + "--key-file operator.key",
                status: 1,
                errors: ["404", "not among the dead letters of app"]
            ),
            Invocation(
                "relay dead-letters show $relay --app app --id 'a/../b?c' --key-file operator.key",
                status: 2,
                errors: ["--id"]
            ),
            Invocation(
                "relay dead-letters $relay --app app --key-file operator.key",
                output: ["push  environment  attempts  Apple's last answer\n"]
            ),
            Invocation(
                "relay dead-letters $relay --app app --key-file operator.key --json",
                output: [#""dead-letters":[]"#],
                json: ["dead-letters"]
            ),
            Invocation(
                "relay dead-letters $relay --app app --id 123e4567-e89b-42d3-a456-426655440000 "
                    + "--key-file operator.key",
                status: 2,
                errors: ["--id requires show, requeue or discard"]
            ),
            Invocation(
                "relay dead-letters discard $relay --app app --key-file operator.key",
                status: 2,
                errors: ["discard requires --id"]
            ),
            Invocation(
                "relay dead-letters discard $relay --app app --id 123e4567-e89b-42d3-a456-426655440000 "
                    + "--key-file operator.key",
                status: 1,
                output: ["0 discarded"],
                errors: ["not among the dead letters of app"]
            ),
            Invocation("relay dead-letters $relay --app other --key-file operator.key", status: 1),
            Invocation("relay dead-letters requeue $relay --app app --key-file operator.key", output: ["0 requeued"]),
            Invocation(
                "relay dead-letters requeue $relay --app app --id 123e4567-e89b-42d3-a456-426655440000 "
                    + "--key-file operator.key",
                status: 1,
                output: ["0 requeued"],
                errors: ["not among the dead letters of app"]
            ),
            Invocation("relay status $relay --key-file empty.key", status: 2, errors: ["empty.key", "API key"]),
            Invocation("relay dead-letters $relay --key-file operator.key", status: 2, errors: ["--app"]),
            Invocation(
                "relay dead-letters dance $relay --app app --key-file operator.key",
                status: 2,
                errors: ["dance"]
            ),
            Invocation(
                "relay import phones.csv $relay --app app --key-file operator.key",
                status: 1,
                errors: ["403", "scope installations"]
            ),
            Invocation(
                "relay import tokens.txt $relay --app app --key-file operator.key",
                status: 2,
                errors: ["tokens.txt, line 1:", "user and token"]
            ),
            Invocation(
                "relay import missing.csv $relay --app app --key-file operator.key",
                status: 2,
                errors: ["missing.csv"]
            ),
            Invocation("relay import $relay --app app --key-file operator.key", status: 2, errors: ["file"]),
            Invocation("relay import phones.csv $relay --key-file operator.key", status: 2, errors: ["--app"]),
            Invocation(
                "relay export $relay --app app --key-file operator.key",
                status: 1,
                errors: ["403", "scope installations"]
            ),
            Invocation(
                "relay export $relay --app app --key-file operator.key --csv --json",
                status: 2,
                output: ["--csv"],
                json: ["error", "message"]
            ),
            Invocation("relay status $relay --key-file missing.key", status: 2, errors: ["missing.key"]),
            Invocation("relay status $relay", status: 2, errors: ["--key-file"]),
            Invocation("relay status $relay --key-file wrong.key", status: 1, errors: ["401"]),
            Invocation("relay status $relay --key-file wrong.key --json", status: 1, json: ["error", "message"]),
            Invocation(
                "relay status --url 127.0.0.1:1 --key-file operator.key",
                status: 3,
                errors: ["cannot connect to 127.0.0.1:1: connection refused; start the relay"]
            ),
            Invocation("relay drain --url 127.0.0.1:1 --key-file operator.key", status: 3, errors: ["--url"]),
            Invocation("relay status --url 'not a url' --key-file operator.key", status: 2, errors: ["--url"]),
            Invocation("healthcheck --url 127.0.0.1:$relayport", output: ["ready"]),
            Invocation("healthcheck --url http://127.0.0.1:$relayport/readyz", output: ["ready"]),
            Invocation("relay backup backup.sqlite $relay --key-file operator.key", output: ["backup.sqlite"]),
            Invocation("relay data check --data backup.sqlite", output: ["backup.sqlite is sound."]),
            Invocation("relay data check --data backup.sqlite --json", output: ["\"is-sound\":true"]),
            Invocation(
                "relay data check --data nofile.sqlite",
                status: 2,
                errors: ["nofile.sqlite cannot be read: no such file"]
            ),
            Invocation("relay backup $relay --key-file operator.key backup.sqlite", status: 2, errors: ["exists"]),
            Invocation(
                "relay backup $relay --key-file operator.key missing/backup.sqlite",
                status: 2,
                errors: ["missing does not exist"]
            ),
            Invocation("relay drain $relay --key-file operator.key", output: ["shutting down"]),
        ]
    )
}
