// SPDX-License-Identifier: Apache-2.0

import MartletCore
import Testing

@testable import MartletSimulator

/// Pushes counted by the values of the fields that narrow a search.
@Suite struct PushFacetsTests {
    private static func push(_ number: Int, to token: String, _ type: String, _ topic: String) -> ReceivedPush {
        let payload = type == "background" ? #"{"aps":{"content-available":1}}"# : #"{"aps":{"alert":"Hi"}}"#
        return .sample(number, to: token, headers: PushHeaders(pushType: type, topic: topic), payload)
    }

    private static var pushes: [ReceivedPush] {
        var refused = push(5, to: "cc", "voip", "com.example.a.voip")
        refused.status = 400
        refused.reason = .badDeviceToken
        let headers = PushHeaders(pushType: "LiveActivity")
        let payload = #"{"aps":{"event":"update"}}"#
        return [
            push(1, to: "aa", "alert", "com.example.a"), push(2, to: "aa", "alert", "com.example.a"),
            push(3, to: "bb", "background", "com.example.b"),
            .sample(4, app: "com.example.a", channel: "c", headers: headers, payload), refused,
        ]
    }

    private func counts(_ query: PushQuery = .everything, of pushes: [ReceivedPush] = Self.pushes) -> JSONValue {
        PushFacets(of: pushes, matching: query).json(deviceNames: ["aa": "Anna"])
    }

    /// Returns the values of a field with their counts, in the order of the answer.
    private func values(_ field: String, in json: JSONValue) -> [String] {
        (json["fields"]?[field]?["values"]?.elements ?? []).map { element in
            let (value, count) = (element["value"]?.stringValue ?? "", element["count"]?.integerValue ?? 0)
            return "\(value) \(count)"
        }
    }

    @Test func `pushes are counted by type, app, verdict and device, the most frequent value first`() {
        let json = counts()
        #expect(json["total"] == 5)
        #expect(json["fields"]?.members?.map(\.name) == ["type", "app", "verdict", "rule", "device"])
        #expect(values("type", in: json) == ["alert 2", "LiveActivity 1", "background 1", "voip 1"])
        #expect(values("app", in: json) == ["com.example.a 4", "com.example.b 1"])
        #expect(values("verdict", in: json) == ["delivered 2", "shown 2", "refused 1"])
        #expect(values("device", in: json) == ["aa 2", "bb 1", "cc 1"])
        #expect(json["fields"]?["device"]?["values"]?.elements?.map { $0["name"] } == ["Anna", nil, nil])
    }

    @Test func `a push that breaks a rule twice is counted once`() {
        var push = Self.push(1, to: "aa", "alert", "com.example.a")
        let finding = PushLint.Finding(.deviceTokenRepeated, .header(":path"), "again")
        push.observations = [finding, finding]
        #expect(values("rule", in: counts(of: [push])).contains("\(finding.rule) 1"))
    }

    @Test(arguments: ["", "type:alert", "is:refused", "app:com.example.a -type:voip"])
    func `each number is that of a search for the value`(text: String) throws {
        let query = try PushQuery(text)
        let matching = Self.pushes.filter(query.matches)
        let json = counts(query)
        #expect(json["total"] == .integer(matching.count))
        for field in try #require(json["fields"]?.members) {
            let elements = try #require(field.value["values"]?.elements)
            #expect(field.value["total"] == .integer(elements.count))
            for element in elements {
                let value = try #require(element["value"]?.stringValue)
                let term = try PushQuery(field.name == "verdict" ? "verdict:\(value)" : "\(field.name):=\(value)")
                #expect(element["count"] == .integer(matching.count(where: term.matches)), "\(term)")
            }
        }
    }

    @Test func `only the most frequent values are listed, and all are counted`() {
        let numbers = (0..<30).flatMap { device in Array(repeating: 10 + device, count: 1 + device % 3) }
        let pushes = numbers.enumerated().map { Self.push($0.offset, to: "\($0.element)", "alert", "app") }
        let expected = (0..<3).reversed().flatMap { rest in
            (0..<30).filter { $0 % 3 == rest }.map { "\(10 + $0) \(1 + rest)" }
        }
        let json = counts(of: pushes.shuffled())
        #expect(json["fields"]?["device"]?["total"] == 30)
        #expect(values("device", in: json) == Array(expected.prefix(PushFacets.valueLimit)))
    }
}
