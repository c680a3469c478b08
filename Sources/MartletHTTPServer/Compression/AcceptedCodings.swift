// SPDX-License-Identifier: Apache-2.0

internal import MartletTransport

/// The content codings that a client accepts, from the fields `accept-encoding` of its request (RFC 9110 §12.5.3).
///
/// A member of the list that is not valid is ignored.
struct AcceptedCodings {
    /// The weight of a coding in thousandths, from 0 for one that is not acceptable to 1000.
    private typealias Weight = Int

    private static let maximumWeight = 1_000

    private var gzip: Weight?
    private var identity: Weight?
    /// The weight of codings that the list does not name.
    private var others: Weight?

    init(_ fields: HTTPFields) {
        for (name, value) in fields where name == "accept-encoding" {
            for member in value.utf8.split(separator: UInt8(ascii: ",")) { add(member) }
        }
    }

    /// Whether a response should be compressed with gzip rather than sent unchanged.
    ///
    /// Without the field, a client accepts any coding, but many such clients cannot decode one.
    var prefersGzip: Bool {
        let gzip = gzip ?? others ?? 0
        // Without a weight of its own, an unchanged response is acceptable, but worth less than a listed coding.
        return gzip > 0 && gzip >= identity ?? 0
    }

    private mutating func add(_ member: Substring.UTF8View) {
        let parts = member.split(separator: UInt8(ascii: ";"), maxSplits: 1, omittingEmptySubsequences: false)
        guard let weight = parts.count > 1 ? AcceptedCodings.weight(parts[1]) : AcceptedCodings.maximumWeight else {
            return
        }
        // A client that repeats a coding gets the last weight.
        switch parts[0].trimmed.lowercased() {
        case "gzip", "x-gzip": gzip = weight
        case "identity": identity = weight
        case "*": others = weight
        default: break
        }
    }

    /// Returns the weight in a parameter `q`, which has at most three decimals (RFC 9110 §12.4.2); nil when it is not
    /// valid.
    private static func weight(_ parameter: Substring.UTF8View) -> Weight? {
        let parts = parameter.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].trimmed.lowercased() == "q" else { return nil }
        let number = parts[1].trimmed.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let decimals = number.count > 1 ? number[1].utf8 : "".utf8[...]
        guard number[0] == "0" || number[0] == "1", decimals.count <= 3,
            decimals.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        var weight = number[0] == "1" ? maximumWeight : 0
        var unit = maximumWeight
        for digit in decimals {
            unit /= 10
            weight += Int(digit - UInt8(ascii: "0")) * unit
        }
        return weight <= maximumWeight ? weight : nil
    }
}

extension Substring.UTF8View {
    /// The text without spaces and tabs at both ends.
    fileprivate var trimmed: Substring {
        func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        var text = drop(while: isSpace)
        while let last = text.last, isSpace(last) { text.removeLast() }
        return Substring(text)
    }
}
