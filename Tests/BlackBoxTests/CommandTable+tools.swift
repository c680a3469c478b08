// SPDX-License-Identifier: Apache-2.0

extension CommandTable {
    /// The request of `doctor`.
    private static let silent = [
        "device: 000000", "apns-push-type: background", "apns-priority: 5", "apns-topic: com.example.app",
        #"{"aps":{"content-available":1}}"#,
    ]

    /// Commands that check the setup.
    static let checks = CommandTable(
        name: "doctor, healthcheck, token",
        invocations: [
            Invocation(
                "doctor $server --topic com.example.app",
                output: ["ok    network and TLS: connected", "a silent push was accepted"],
                sent: [silent]
            ),
            Invocation(
                "doctor $server --topic com.example.app",
                on: .terminal(columns: 80),
                output: ["a silent push was accepted"],
                sent: [silent]
            ),
            Invocation(
                "doctor $server --topic com.example.app --json",
                output: [#""ok":true,"steps":[{"step":"key""#],
                json: [],
                sent: [silent]
            ),
            Invocation(
                "doctor $server --topic com.example.app --key - --key-id ABC123DEFG --team-id DEF123GHIJ "
                    + "< AuthKey_ABC123DEFG.p8",
                output: ["ok    key: valid", "a silent push was accepted"],
                sent: [silent]
            ),
            Invocation(
                "doctor --host localhost:$port --topic com.example.app --key - --ca - < AuthKey_ABC123DEFG.p8",
                status: 2,
                errors: ["--ca - excludes --key -"]
            ),
            Invocation("doctor $server", status: 2, errors: ["--topic"]),
            Invocation("doctor --host localhost:1 --topic com.example.app", status: 3, output: ["localhost:1"]),
            Invocation(
                "doctor --host localhost:1 --topic com.example.app --json",
                status: 3,
                output: [#""ok":false"#, #""error":"connectionFailed""#],
                json: []
            ),
            Invocation("doctor --host localhost:$port --topic com.example.app", status: 3, output: ["martlet ca path"]),
            Invocation(
                "doctor --host localhost:1 --topic 'no topic'",
                status: 2,
                errors: ["--topic must be a bundle identifier: parts of letters", #"(found "no topic")"#]
            ),
            Invocation("doctor --topic com.example.app", status: 2, output: ["--key"]),
            Invocation(
                "doctor $server --topic com.example.app ",
                output: ["generated", "clock: within an hour"],
                sent: [silent]
            ),
            Invocation(
                "doctor --host localhost:$port --ca broken.json --topic com.example.app",
                status: 2,
                output: ["bad   CA certificates: --ca broken.json", "Give --ca"]
            ),
            Invocation(
                "doctor $server --topic com.example.app --certificate broken.json",
                status: 2,
                output: ["bad   certificate: --certificate broken.json", "Give --certificate"]
            ),
            Invocation(
                "doctor $server --topic com.example.app --key AuthKey_ABC123DEFG.p8",
                status: 2,
                output: ["bad   key: --team-id is missing", "Add this option"]
            ),
            Invocation(
                "doctor --host http://localhost:$port --topic com.example.app",
                status: 3,
                output: ["bad   network: ", "If the server uses TLS, give --host localhost:"]
            ),
            Invocation(
                "doctor --host localhost:$inboxport --topic com.example.app",
                status: 3,
                output: ["If the server does not use TLS"]
            ),
            Invocation("healthcheck --url $inbox", output: ["ready"]),
            Invocation("healthcheck --url $inbox/readyz", output: ["ready"]),
            Invocation("healthcheck --url ${inbox#http://}", output: ["ready"]),
            Invocation("healthcheck --url $inbox --json", output: [#""ready":true"#], json: []),
            Invocation("healthcheck --url $inbox --wait 5", output: ["ready"]),
            Invocation("healthcheck --url $inbox/nowhere", status: 1, errors: ["404"]),
            Invocation("healthcheck --url localhost:$port", status: 3, errors: ["https://"]),
            Invocation(
                "healthcheck --url https://${inbox#http://}",
                status: 3,
                errors: ["if the server does not use TLS"]
            ),
            Invocation("healthcheck --url 127.0.0.1:1 --wait 1", status: 3, errors: ["wait longer than --wait 1"]),
            Invocation(
                "healthcheck --url https://localhost:1 --ca broken.json",
                status: 2,
                errors: ["--ca broken.json", "PEM"]
            ),
            Invocation("healthcheck --url 127.0.0.1:1", status: 3, errors: ["127.0.0.1:1"]),
            Invocation("healthcheck --url 127.0.0.1:1 --json", status: 3, json: ["error", "message"]),
            Invocation(
                "healthcheck --url http://localhost:8197:33",
                status: 2,
                errors: ["--url", "IPv6 address in brackets"]
            ),
            Invocation("healthcheck --url ''", status: 2, errors: ["--url", "the host is missing"]),
            Invocation("healthcheck --url http://", status: 2, errors: ["--url", "the host is missing"]),
            Invocation("healthcheck --url $inbox --wait -1", status: 2, errors: ["--wait"]),
            Invocation(
                "healthcheck --host localhost:2197",
                status: 2,
                errors: ["unknown option --host; this command has --url <url>: HTTP interface"]
            ),
            Invocation("healthcheck --url $inbox --wait long", status: 2, errors: ["--wait", "long"]),
            Invocation("healthcheck --url 'http://a b'", status: 2, errors: ["--url"]),
            Invocation("token", output: ["eyJhbGciOiJFUzI1NiIsImtpZCI6IkVQSEVNRVJBTDAifQ."]),
            Invocation("token --json", output: [#""token":"eyJhbGciOiJFUzI1NiIs"#], json: ["token"]),
            Invocation(
                "token --key AuthKey_ABC123DEFG.p8 --team-id DEF123GHIJ",
                output: ["eyJhbGciOiJFUzI1NiIsImtpZCI6IkFCQzEyM0RFRkcifQ."]
            ),
            Invocation(
                "token $(\"$martlet\" token)",
                output: ["key id     EPHEMERAL0", "team id    LOCALTEAM0", "valid for another"]
            ),
            Invocation(
                "token $(\"$martlet\" token) --json",
                output: [#""key-id":"EPHEMERAL0","team-id":"LOCALTEAM0""#, #""usable":true"#],
                json: []
            ),
            Invocation("token $(\"$martlet\" token)", on: .terminal(columns: 80), output: ["team id    LOCALTEAM0"]),
            Invocation("token nonsense", status: 2, errors: ["token"]),
            Invocation("token --key AuthKey_ABC123DEFG.p8 --team-id DEF123GHIJ > token.txt"),
            Invocation(
                "token $(cat token.txt) --key AuthKey_ABC123DEFG.p8",
                output: ["verified with the key", "valid for another"]
            ),
            Invocation(
                "token $(cat token.txt) --key AuthKey_ABC123DEFG.p8 --json",
                output: ["\"verified\":true"],
                json: []
            ),
            Invocation(
                "token $(cat token.txt) --key AuthKey_ABC123DEFG.p8 --team-id ZZZ123GHIJ",
                status: 1,
                output: ["team id is not ZZZ123GHIJ", "InvalidProviderToken"]
            ),
            Invocation(
                "token $(cat token.txt) --key other.p8",
                status: 1,
                output: ["was not made with this key"]
            ),
            Invocation("token $(cat token.txt) --team-id DEF123GHIJ", status: 2, errors: ["--key is missing"]),
            Invocation("token --key missing.p8", status: 2, errors: ["missing.p8", "No such file"]),
            Invocation("token --key AuthKey_ABC123DEFG.p8", status: 2, errors: ["--team-id"]),
            Invocation(
                "token --key AuthKey_ABC123DEFG.p8 --team-id short",
                status: 2,
                errors: ["--team-id <id>", "ten characters", "short"]
            ),
            Invocation("token --key-id abc123defg", status: 2, errors: ["--key-id <id>", "abc123defg"]),
            Invocation(
                "token --key binary.p8 --team-id DEF123GHIJ --key-id ABC123DEFG",
                status: 2,
                errors: ["--key binary.p8", "not valid UTF-8"]
            ),
            Invocation(
                "token --key missing.p8 --team-id DEF123GHIJ --key-id ABC123DEFG",
                status: 2,
                errors: ["missing.p8"]
            ),
        ]
    )

    /// Commands that print data for other programs.
    static let files = CommandTable(
        name: "ca, completion, manual, simulate, demo",
        invocations: [
            Invocation("ca path", output: ["/.local/share/martlet/ca.pem"]),
            Invocation("ca path --json", output: ["/.local/share/martlet/ca.pem"], json: ["path"]),
            Invocation("ca path --ca-directory ''", status: 2, errors: ["must not be empty"]),
            Invocation("ca print", output: ["BEGIN CERTIFICATE"]),
            Invocation("ca print --json", output: ["/.local/share/martlet/ca.pem", "BEGIN CERTIFICATE"], json: []),
            Invocation("ca path --ca-directory $directory/own", output: ["/own/ca.pem"]),
            Invocation(
                "ca path --ca-directory $directory/own --name other",
                status: 2,
                errors: ["was created without other"]
            ),
            Invocation("ca path --ca-directory $directory/named --name other", output: ["/named/"]),
            Invocation(
                "ca path --ca-directory $directory/named --name other --json",
                output: ["/named/ca.pem"],
                json: ["path"]
            ),
            Invocation(
                "ca path --ca-directory /proc/none",
                status: 2,
                errors: ["/proc/none cannot be created", "No such file"]
            ),
            Invocation(
                "ca path --ca-directory tokens.txt",
                status: 2,
                errors: ["tokens.txt cannot be created", "exists (in /"]
            ),
            Invocation("ca print > /dev/full", status: 1, errors: ["standard output", "No space left"]),
            Invocation("token > /dev/full", status: 1, errors: ["standard output", "No space left"]),
            Invocation("manual | head -n 1", output: [".TH"]),
            Invocation("ca path surplus", status: 2, errors: ["surplus"]),
            Invocation("completion bash", output: ["# bash completion for martlet", "compgen"]),
            Invocation("completion zsh", output: ["#compdef martlet"]),
            Invocation("completion fish", output: ["# fish completion for martlet", "complete -c martlet"]),
            Invocation("completion powershell", status: 2, errors: ["powershell"]),
            Invocation("completion", status: 2, errors: ["<shell> is missing: Shell (one of bash, zsh, fish)"]),
            Invocation("manual", output: [".TH MARTLET 1", ".SS martlet demo"]),
            Invocation("simulate --port $port --inbox-port 0", status: 1, errors: ["--port"]),
            Invocation("simulate --port many", status: 2, errors: ["--port", "many"]),
            Invocation("simulate --listen nowhere", status: 2, errors: ["--listen", "IP address", "nowhere"]),
            Invocation("simulate --listen 127.0.0.1:2197", status: 2, errors: ["--listen", "127.0.0.1:2197"]),
            Invocation(
                "simulate --listen 192.0.2.1 --port 0 --inbox-port 0",
                status: 1,
                errors: ["192.0.2.1", "(--listen)"]
            ),
            Invocation(
                "simulate --port 0 --inbox-port $inboxport",
                status: 1,
                errors: ["in use", "(--inbox-port)"]
            ),
            Invocation("simulate --port 70000", status: 2, errors: ["--port", "70000"]),
            Invocation("simulate --streams-before-token 0", status: 2, errors: ["--streams-before-token"]),
            Invocation("simulate --fault gremlins", status: 2, errors: ["gremlins"]),
            Invocation("simulate --lenient everything", status: 2, errors: ["everything"]),
            Invocation("simulate --keep-days -1", status: 2, errors: ["--keep-days"]),
            Invocation("simulate --data $directory --port 0 --inbox-port 0", status: 2, errors: ["directory"]),
            Invocation("simulate --release-to 5d3a --port 0", status: 2, errors: ["--allow-release"]),
            Invocation("simulate --phones 0", status: 2, errors: ["--phones", "from 1 to 10000"]),
            Invocation("simulate --phone-app a.b", status: 2, errors: ["need --phones"]),
            Invocation("simulate --phone-control pause", status: 2, errors: ["need --phones"]),
            Invocation("simulate --phones 1 --phone-attributes Order", status: 2, errors: ["OrderAttributes.orderId"]),
            Invocation(
                "simulate --phones 1 --phone-relay localhost:1",
                status: 2,
                errors: ["needs --phone-relay-app"]
            ),
            Invocation("demo", output: ["BadDeviceToken", "Unregistered"]),
            Invocation(
                "demo --json",
                output: [#""push":"a Live Activity begins""#, #""expected":true"#],
                json: ["number", "push"]
            ),
            Invocation("demo surplus", status: 2, errors: ["surplus"]),
        ]
    )
}
