// SPDX-License-Identifier: Apache-2.0

import Foundation
import LiveSurfaces
import Martlet
import MartletCore
import MartletOutbox
import MartletSimulator
import MartletTransport
import TestSupport
import Testing

@testable import MartletRelay

/// The files for the person on call: alert rules, dashboard and runbook.
@Suite(.timeLimit(.minutes(10))) struct AlertTests {
    private static let promtool = "/usr/bin/promtool"
    private static let hasPromtool = FileManager.default.isExecutableFile(atPath: promtool)

    private let alerts: String
    private let dashboard: JSONValue
    private let runbook: String

    init() throws {
        alerts = try String(contentsOfFile: "Operations/alerts.yml", encoding: .utf8)
        let text = try String(contentsOfFile: "Operations/dashboard.json", encoding: .utf8)
        dashboard = try JSONReader.read(Array(text.utf8))
        runbook = try String(contentsOfFile: "Sources/MartletRelay/Documentation.docc/Runbook.md", encoding: .utf8)
    }

    private var alertNames: [String] { alerts.matches(of: /- alert: (\w+)/).map { String($0.1) } }

    /// The queries of the dashboard.
    private var queries: [String] { panels.map(\.query) }

    /// The queries of the dashboard, each with the labels that its legend shows.
    private var panels: [(query: String, shown: Set<String>)] {
        func panels(_ value: JSONValue) -> [(query: String, shown: Set<String>)] {
            let legend = value["legendFormat"]?.stringValue ?? ""
            let shown = Set(legend.matches(of: /\{\{(\w+)\}\}/).map { String($0.1) })
            let own = value["expr"]?.stringValue.map { [($0, shown)] } ?? []
            return own + ((value.elements ?? []) + (value.members ?? []).map(\.value)).flatMap(panels)
        }
        return panels(dashboard)
    }

    /// The queries of the alerts, each with the labels that its message shows.
    private var rules: [(query: String, shown: Set<String>)] {
        alerts.split(separator: "- alert: ").dropFirst().map { rule in
            let query = rule.firstMatch(of: /expr: ((?s:.*?))\n +(?:for|labels):/).map { String($0.1) } ?? ""
            return (query, Set(rule.matches(of: /\$labels\.(\w+)/).map { String($0.1) }))
        }
    }

    /// The metrics that a text names.
    private static func metrics(in text: String) -> Set<String> {
        Set(text.matches(of: /\b(martlet_relay|process|http_server)_[a-z_]+/).map { String($0.0) })
    }

    /// The labels of the samples of a relay that has delivered pushes, also of a surface, and cannot reach one of
    /// Apple's servers.
    private static func labels() async throws -> [String: Set<String>] {
        let reserved = try SilentServer.unusedPort()
        let issued = try CertificateAuthority().issueServerCertificate(dnsNames: ["localhost"], ipAddresses: [])
        let webhook = try Webhook(
            url: "https://localhost/hook",
            secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        )
        let installer = try RelayConfiguration.Caller(
            key: EnrollmentBench.key,
            apps: ["orders"],
            scopes: [.installations]
        )
        let bench = try await RelayBench {
            $0.callers.append(installer)
            $0.apps[0].environments = [.production, .development]
            $0.apps[0].webhook = webhook
            $0.endpoints[.development] = LaneEndpoint(
                APNsEndpoint(host: "127.0.0.1", port: reserved.port, isEncrypted: false)
            )
            $0.identity = .init(certificateChainPEM: issued.certificatePEM, privateKeyPEM: issued.keyPEM)
            $0.callers[0].expiresAt = .distantFuture
        }
        #expect(await bench.push().json["state"] == "delivered")
        let push = #"{"to":"5d3a6a1c","environment":"development","payload":{"aps":{"alert":"Hi"}}}"#
        #expect(await bench.ask("POST", "/v1/pushes", push).status == 202)
        let lane = Lane(app: "orders", environment: .development)
        try await eventually("the lane has a problem and a failed connection", in: bench.parts.dispatcher) {
            dispatcher in
            dispatcher.snapshot.lanes[lane].map { $0.problem != nil && !$0.connections.errors.isEmpty } ?? false
        }
        try await changeSurface(in: bench)
        let text = await bench.parts.monitor.metrics(of: ["orders"]).exposition
        await bench.stop()
        var labels: [String: Set<String>] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let name = String(line.prefix { $0 != "{" && $0 != " " })
            labels[name, default: []].formUnion(line.matches(of: /(\w+)="/).map { String($0.1) })
        }
        return labels
    }

    /// Changes a surface of a phone, whose first change then has a staleness.
    private static func changeSurface(in bench: RelayBench) async throws {
        _ = try await EnrollmentBench(over: bench).enroll("anna", #","tokens":{"device":"a1"}"#)
        for (index, title) in ["Packed", "On its way"].enumerated() {
            let body: JSONValue = [
                "to": ["user": "anna"], "snapshots": [SurfaceBench.snapshot(of: .widget, title).json],
            ]
            let text = String(decoding: body.encoded(), as: UTF8.self)
            let answer = await bench.ask("PUT", "/v1/apps/orders/surfaces/\(SurfaceBench.surface)", text)
            #expect([200, 201].contains(answer.status), "\(answer.text)")
            try await eventually("the phone gets the change") {
                await bench.apple.pushes.count { $0.deviceToken == "a1" } == index + 1
            }
        }
        try await eventually("the staleness is known") {
            await bench.parts.monitor.metrics(of: ["orders"]).exposition.contains("surface_staleness_seconds_bucket")
        }
    }

    @Test func `each label of the alerts and the dashboard exists`() async throws {
        let labels = try await Self.labels()
        #expect(rules.count == alertNames.count)
        // Prometheus adds these to each sample.
        let added: Set = ["instance", "job"]
        for (query, shown) in rules + panels {
            let metrics = Self.metrics(in: query)
            #expect(metrics.isSubset(of: labels.keys), "\(metrics.subtracting(labels.keys)): \(query)")
            for selector in query.matches(of: /(\w+)\{([^}]*)\}/) {
                guard let known = labels[String(selector.1)] else { continue }
                let selected = Set(selector.2.matches(of: /(\w+) *[=!]/).map { String($0.1) })
                #expect(selected.isSubset(of: known.union(added)), "\(query)")
            }
            let groups = query.matches(of: /\b(?:by|on) \(([^)]*)\)/).flatMap { $0.1.matches(of: /\w+/) }
            let all = metrics.reduce(added) { $0.union(labels[$1] ?? []) }
            #expect(Set(groups.map { String($0.0) }).union(shown).isSubset(of: all), "\(query)")
        }
    }

    /// The names of the samples of a relay.
    private static func samples() async throws -> Set<String> {
        let bench = try await RelayBench()
        let sheet = await bench.parts.monitor.metrics(of: ["orders", "rides"])
        await bench.stop()
        let names = sheet.exposition.matches(of: /# TYPE (\w+) (\w+)/).flatMap { match in
            let name = String(match.1)
            return match.2 == "histogram" ? ["_bucket", "_sum", "_count"].map { name + $0 } : [name]
        }
        return Set(names)
    }

    /// The sections of the runbook by their headings.
    private var sections: [String: String] {
        var sections: [String: String] = [:]
        for section in runbook.split(separator: "\n### ").dropFirst() {
            let lines = section.split(separator: "\n", maxSplits: 1)
            sections[String(lines[0])] = lines.count == 2 ? String(lines[1]) : ""
        }
        return sections
    }

    @Test func `each alert has a paragraph in the runbook, and the runbook has no others`() {
        #expect(alertNames.count >= 15 && Set(alertNames).count == alertNames.count)
        #expect(Set(sections.keys) == Set(alertNames))
        for (name, text) in sections { #expect(text.count > 200, "\(name)") }
    }

    @Test(arguments: Incident.Kind.allCases)
    func `each kind of incident has a section in the runbook`(kind: Incident.Kind) {
        let incident = Incident(kind: kind, severity: .notice, title: "", action: "")
        #expect(sections[incident.runbook] != nil, "\(incident.runbook)")
    }

    @Test func `the runbook has a remedy for connections that are reset`() {
        let incident = Incident(kind: .connectionsReset, severity: .critical, title: "", action: "")
        #expect(sections[incident.runbook]?.contains("`connections-reset`") == true)
        #expect(runbook.contains("| `\(LaneOutage.connectionLost)` |"), "the table of reasons has it")
    }

    @Test func `each metric of the alerts, the dashboard and the articles exists`() async throws {
        let samples = try await Self.samples()
        let inAlerts = Self.metrics(in: alerts)
        #expect(inAlerts.count >= 12 && inAlerts.isSubset(of: samples), "\(inAlerts.subtracting(samples))")
        #expect(queries.count >= 25)
        for query in queries {
            let names = Self.metrics(in: query)
            #expect(!names.isEmpty && names.isSubset(of: samples), "\(query)")
        }
        for article in ["Runbook", "RunTheRelay", "RunSeveralRelays", "SendThroughTheRelay"] {
            let file = "Sources/MartletRelay/Documentation.docc/\(article).md"
            let text = try String(contentsOfFile: file, encoding: .utf8)
            // A name without its prefix is found in no monitoring system.
            let short = text.matches(of: /`([a-z]+_[a-z_]+)`/).map { "martlet_relay_\($0.1)" }.filter(samples.contains)
            #expect(short.isEmpty, "\(article): \(short)")
            // Those about telemetry are there only if it is configured.
            let names = Self.metrics(in: text)
                .filter { !$0.hasPrefix("martlet_relay_telemetry_") }
            #expect(names.isSubset(of: samples), "\(article): \(names.subtracting(samples))")
        }
    }

    @Test(.enabled(if: hasPromtool, "run `make test`, which installs Prometheus"))
    func `Prometheus accepts the alerts and their tests`() async throws {
        let check = try await ProgramRun(Self.promtool, ["check", "rules", "Operations/alerts.yml"])
        #expect(check.status == 0, "\(check.text)\(check.errorOutput)")
        let test = try await ProgramRun(Self.promtool, ["test", "rules", "Operations/alerts.test.yml"])
        #expect(test.status == 0, "\(test.text)\(test.errorOutput)")
    }

    @Test(.enabled(if: hasPromtool, "run `make test`, which installs Prometheus"))
    func `Prometheus accepts the queries of the dashboard`() async throws {
        let rules = queries.enumerated().map { index, query in
            let text = query.replacing("$__rate_interval", with: "5m").replacing("$app", with: ".*")
            return JSONValue.object([
                .init("record", .string("query_\(index)")), .init("expr", .string(text)),
            ])
        }
        // JSON is YAML.
        let file: JSONValue = ["groups": [["name": "dashboard", "rules": .array(rules)]]]
        let scratch = try ScratchDirectory()
        let path = try scratch.write(file.encoded(), to: "rules.yml")
        let check = try await ProgramRun(Self.promtool, ["check", "rules", path])
        #expect(check.status == 0, "\(check.text)\(check.errorOutput)")
    }
}
