internal import APNs

/// A line of a log.
struct LogLine {
    let time: Int64
    let level: Logger.Level
    let message: String
    let fields: Logger.Fields

    /// Returns the line in a format, without its line break.
    func text(as format: Logger.Format) -> String {
        switch format {
        case .json: String(decoding: JSONValue.object(members).encoded(), as: UTF8.self)
        case .logfmt: LogLine.pairs(members)
        case .plain: plain
        }
    }

    private var members: [JSONValue.Member] {
        [
            .init("ts", .string(Timestamp.text(time))), .init("level", .string(level.rawValue)),
            .init("msg", .string(message)), .init("logger", "martlet.relay"),
        ] + details
    }

    private var details: [JSONValue.Member] {
        fields.compactMap { name, value in value.map { JSONValue.Member(name, $0) } }
    }

    private var plain: String {
        let clock = Timestamp.text(time).dropFirst(11).prefix(8)
        let mark = level >= .warning ? "\(level.rawValue): " : ""
        let message = String(message.map { $0.isNewline ? " " : $0 })
        let details = details
        return "\(clock) \(mark)\(message)" + (details.isEmpty ? "" : "  " + LogLine.pairs(details))
    }

    private static func pairs(_ members: [JSONValue.Member]) -> String {
        members.map { "\($0.name)=\(word($0.value))" }.joined(separator: " ")
    }

    /// Returns a value as one word, in quotes if it contains spaces or quotes.
    private static func word(_ value: JSONValue) -> String {
        let encoded = String(decoding: value.encoded(), as: UTF8.self)
        guard let text = value.stringValue else { return encoded }
        let isPlain = text.utf8.allSatisfy {
            $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "=")
        }
        return isPlain && !text.isEmpty ? text : encoded
    }
}

extension JSONValue {
    /// Returns an integer.
    static func whole(_ number: some BinaryInteger) -> JSONValue { .number(JSONNumber(number)) }

    /// Returns an integer; nil for nil.
    static func whole(_ number: (some BinaryInteger)?) -> JSONValue? { number.map { .number(JSONNumber($0)) } }
}
