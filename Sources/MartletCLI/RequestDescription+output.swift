// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCommands
import MartletCore

extension RequestDescription {
    /// The request as text, with a shortened device token.
    var text: String {
        var table = Table(["part of the payload", Table.Column("bytes", isNumeric: true)])
        for part in parts { table.add([Table.Cell(part.pointer), Table.Cell("\(part.byteCount)")]) }
        table.add([Table.Cell("total"), Table.Cell("\(body.count)")])
        let left = bytesLeft.map { "\($0.magnitude.counted("byte")) \($0 < 0 ? "too many" : "left")\n" } ?? ""
        let findings = findings.map { "\($0)\n" }
        let fields = fields.map { field in
            let last = field.name == ":path" ? field.value.split(separator: "/").last : nil
            let token = last.flatMap { try? DeviceToken(hex: $0) }
            return "\(field.name): \(token.map { "/3/device/\($0)" } ?? field.value)\n"
        }
        return fields.joined() + "\n" + String(decoding: body, as: UTF8.self) + "\n\n"
            + table.text(for: .output) + left + findings.joined()
    }

    /// Prints the findings about a request that is sent; the others about its payload are for `--describe`.
    func printNotes() {
        for finding in findings where finding.isNote { Terminal.errors.write("\(finding)\n") }
    }

    /// The request as JSON, with the whole device token.
    var json: JSONValue {
        let body = (try? JSONReader.read(body)) ?? .string(String(decoding: body, as: UTF8.self))
        var members: [JSONValue.Member] = [
            .init("fields", .object(fields.map { .init($0.name, .string($0.value)) })), .init("payload", body),
            .init("bytes", .integer(self.body.count)),
        ]
        if let bytesLeft { members.append(.init("bytes-left", .integer(bytesLeft))) }
        let parts = parts.map { part -> JSONValue in
            ["pointer": .string(part.pointer), "bytes": .integer(part.byteCount)]
        }
        let findings = findings.map { finding -> JSONValue in
            [
                "severity": .string(finding.severity.rawValue), "rule": .string(finding.rule),
                "place": .string("\(finding.place)"), "message": .string(finding.message),
            ]
        }
        return .object(members + [.init("parts", .array(parts)), .init("findings", .array(findings))])
    }
}
