// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

struct LogLine {
    let time: Int64
    let level: Logger.Level
    let event: LogEvent
    /// The number of similar lines that were omitted since the last one.
    let omitted: Int
    let fields: Logger.Fields

    /// Returns the line in a format, without its line break.
    func text(as format: Logger.Format) -> String {
        let text =
            switch format {
            case .json: String(decoding: JSONValue.object(members).encoded(), as: UTF8.self)
            case .logfmt: LogLine.pairs(members)
            case .plain: plain
            }
        return text.escapingControls
    }

    private var members: [JSONValue.Member] {
        [
            .init("ts", .string(Timestamp.text(time))), .init("level", .string(level.rawValue)),
            .init("msg", .string(event.rawValue)), .init("logger", "martlet.relay"),
        ] + details
    }

    private var details: [JSONValue.Member] {
        let details = fields.compactMap { name, value in value.map { JSONValue.Member(name, $0) } }
        return omitted > 0 ? details + [JSONValue.Member("not-logged", .whole(omitted))] : details
    }

    private var plain: String {
        let clock = Timestamp.text(time).dropFirst(11).prefix(8)
        let mark = level >= .warning ? "\(level.rawValue): " : ""
        let details = details
        return "\(clock) \(mark)\(event.rawValue)" + (details.isEmpty ? "" : "  " + LogLine.pairs(details))
    }

    private static func pairs(_ members: [JSONValue.Member]) -> String {
        members.map { "\($0.name)=\(quoted($0.value))" }.joined(separator: " ")
    }

    /// Returns a value without spaces, in quotes if it contains spaces or quotes.
    private static func quoted(_ value: JSONValue) -> String {
        let encoded = String(decoding: value.encoded(), as: UTF8.self)
        guard let text = value.stringValue else { return encoded }
        let isPlain = text.unicodeScalars.allSatisfy { $0 > " " && $0 != "\"" && $0 != "=" && !$0.isControl }
        return isPlain && !text.isEmpty ? text : encoded
    }
}

extension String {
    /// The beginning of a text from outside, at most 64 characters, for the log.
    var bounded: String {
        let start = unicodeScalars.prefix(64)
        return start.endIndex == unicodeScalars.endIndex ? self : String(start) + "…"
    }
}

extension JSONValue {
    static func whole(_ number: some BinaryInteger) -> JSONValue { .number(JSONNumber(number)) }

    static func whole(_ number: (some BinaryInteger)?) -> JSONValue? { number.map { .number(JSONNumber($0)) } }
}
