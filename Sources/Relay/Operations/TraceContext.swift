internal import APNs

/// The trace that a push belongs to, as W3C's `traceparent` tells it.
struct TraceContext: Equatable {
    /// 32 hexadecimal digits.
    let traceID: String
    /// 16 hexadecimal digits.
    let spanID: String

    /// The context of a `traceparent`; nil for text that is none.
    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        guard parts.count >= 4, parts[0].count == 2, parts[1].count == 32, parts[2].count == 16,
            parts[0...2].joined().utf8.allSatisfy(\.isHexadecimalDigit), parts[1].contains(where: { $0 != "0" }),
            parts[2].contains(where: { $0 != "0" })
        else { return nil }
        traceID = parts[1].lowercased()
        spanID = parts[2].lowercased()
    }
}
