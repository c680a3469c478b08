// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The trace that a push belongs to, as in the W3C header `traceparent` (https://www.w3.org/TR/trace-context).
struct TraceContext: Hashable {
    /// 32 hexadecimal digits.
    let traceID: String
    /// 16 hexadecimal digits.
    let spanID: String
    /// The sampled flag: whether the caller may have recorded the trace.
    let isSampled: Bool

    /// The value of `traceparent`.
    var text: String { "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")" }
}

extension TraceContext {
    /// Reads the value of `traceparent`; nil for an invalid one.
    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        guard parts.count >= 4, parts[0].count == 2, parts[1].count == 32, parts[2].count == 16, parts[3].count == 2,
            parts[0...3].joined().utf8.allSatisfy(\.isHexadecimalDigit), parts[0] != "ff",
            parts[0] != "00" || parts.count == 4,
            parts[1].contains(where: { $0 != "0" }), parts[2].contains(where: { $0 != "0" })
        else { return nil }
        traceID = parts[1].lowercased()
        spanID = parts[2].lowercased()
        isSampled = UInt8(parts[3], radix: 16).map { $0 & 1 == 1 } ?? false
    }
}
