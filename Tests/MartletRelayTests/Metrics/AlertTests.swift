import Foundation
import MartletCore
import MartletOutbox
import TestSupport
import Testing

@testable import MartletRelay

/// The files for the person on call: alert rules, dashboard and runbook.
@Suite(.timeLimit(.minutes(1))) struct AlertTests {
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
    private var queries: [String] {
        func texts(_ value: JSONValue) -> [String] {
            let own = value["expr"]?.stringValue.map { [$0] } ?? []
            return own + ((value.elements ?? []) + (value.members ?? []).map(\.value)).flatMap(texts)
        }
        return texts(dashboard)
    }

    /// The metrics that a text names.
    private static func metrics(in text: String) -> Set<String> {
        Set(text.matches(of: /\b(martlet_relay|process|http_server)_[a-z_]+/).map { String($0.0) })
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

    @Test func `each alert has a paragraph in the runbook, and the runbook has no others`() {
        #expect(alertNames.count >= 15 && Set(alertNames).count == alertNames.count)
        var paragraphs: [String: String] = [:]
        for section in runbook.split(separator: "\n### ").dropFirst() {
            let lines = section.split(separator: "\n", maxSplits: 1)
            paragraphs[String(lines[0])] = lines.count == 2 ? String(lines[1]) : ""
        }
        #expect(Set(paragraphs.keys) == Set(alertNames))
        for (name, text) in paragraphs { #expect(text.count > 200, "\(name)") }
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
