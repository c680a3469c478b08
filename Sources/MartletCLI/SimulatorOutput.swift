// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletSimulator

extension SimulatedAPNs {
    /// The ports as JSON.
    var addresses: JSONValue {
        var members: [JSONValue.Member] = [
            .init("state", "running"), .init("port", .integer(port)),
        ]
        if let channelPort { members.append(.init("channel-port", .integer(channelPort))) }
        if let inboxPort { members.append(.init("inbox-port", .integer(inboxPort))) }
        return .object(members)
    }
}

extension ReceivedPush {
    /// The push as JSON, without its payload, which the HTTP interface returns.
    var json: JSONValue {
        let texts = [
            ("device-token", channel == nil ? deviceToken : nil), ("channel", channel?.rawValue),
            ("push-type", headers.pushType), ("topic", headers.topic), ("reason", reason?.rawValue),
        ]
        let findings = findings.map { finding -> JSONValue in
            ["rule": .string(finding.rule), "place": .string("\(finding.place)"), "message": .string(finding.message)]
        }
        return .object(
            [.init("status", .integer(status))]
                + texts.compactMap { name, text in text.map { JSONValue.Member(name, .string($0)) } }
                + [.init("bytes", .integer(payload.count)), .init("findings", .array(findings))]
        )
    }
}
