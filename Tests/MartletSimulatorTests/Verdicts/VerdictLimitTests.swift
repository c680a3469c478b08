// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletHTTPServer
import Testing

@testable import MartletSimulator

/// Verdicts on pushes with extreme times and with many devices.
@Suite struct VerdictLimitTests {
    private static let last: Int64 = 253_402_300_799

    private func record(_ change: (inout [JSONValue.Member]) -> Void = { _ in }) -> JSONValue {
        let headers: JSONValue = ["apns-push-type": "liveactivity", "apns-topic": "app.push-type.liveactivity"]
        var members: [JSONValue.Member] = [
            .init("number", 1), .init("time", .integer(Self.last)), .init("connection", 0),
            .init("device-token", "ab"), .init("headers", headers), .init("status", 200), .init("apns-id", "i"),
            .init("payload", ["aps": ["event": "end", "dismissal-date": .integer(Int64.max)]]),
            .init("deliveries", [["time": .integer(Self.last), "kind": "delivered"]]),
        ]
        change(&members)
        return .object(members)
    }

    @Test func `the last accepted time has a verdict`() throws {
        let push = try ReceivedPush(record: record())
        #expect(push.verdict.text.hasPrefix("Delivered · Live Activity ends · stays until 23:59 UTC"))
        #expect(push.log(ofDevice: "ab").first?.time == Self.last * 1_000)
        #expect(push.summary["verdict"]?["kind"] == "shown")
    }

    @Test(arguments: [Self.last + 1, Int64.max, -1])
    func `a time that calculations cannot use is rejected`(time: Int64) throws {
        let value = JSONValue.integer(time)
        let changes: [(inout [JSONValue.Member]) -> Void] = [
            { $0[1] = .init("time", value) }, { $0.append(.init("arrival", value)) },
            { $0[8] = .init("deliveries", [["time": value, "kind": "stored-device-offline"]]) },
        ]
        for change in changes {
            #expect(throws: APIProblem.self) { try ReceivedPush(record: record(change)) }
        }
    }

    @Test func `a broadcast is replaced on the devices only of which it has events`() throws {
        var log = PushLog(limit: 2, longestAge: .seconds(60))
        let payload = #"{"aps":{"event":"update"}}"#
        let headers = PushHeaders(pushType: "liveactivity")
        var push = ReceivedPush.sample(app: "app", channel: "c", headers: headers, payload)
        for number in 0..<100 { push.record(DeliveryEvent(.delivered, at: 0).at(device: "\(number)")) }
        #expect(push.verdict.text.hasPrefix("Shown on 100 of the first 100 activities"))
        _ = log.append(push)
        for number in 0..<150 {
            log.record(DeliveryEvent(.replacedOnDevice, by: 9, at: 1).at(device: "\(number)"), on: push.number)
        }
        let text = log[push.number]?.verdict.text ?? ""
        #expect(text.hasPrefix("Replaced on 100 of the first 100 activities by push 9"))
    }

    @Test func `a passive alert is not critical`() {
        let payload = #"{"aps":{"alert":"A","interruption-level":"passive","sound":{"critical":1,"name":"a.caf"}}}"#
        let text = ReceivedPush.sample(headers: PushHeaders(pushType: "alert", topic: "app"), payload).verdict.text
        #expect(
            text == "Delivered · in the list only (aps.interruption-level is passive)"
                + " · no sound (aps.interruption-level is passive)"
        )
    }

    @Test func `an excerpt contains a text with an unpaired surrogate`() {
        let payload = #"{"aps":{"alert":"Order \ud83d"}}"#
        let push = ReceivedPush.sample(headers: PushHeaders(pushType: "alert", topic: "app"), payload)
        #expect(push.summary["payload"]?["aps"]?["alert"]?.stringValue?.hasPrefix("Order") == true)
    }
}
