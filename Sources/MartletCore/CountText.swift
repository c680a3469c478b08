// SPDX-License-Identifier: Apache-2.0

extension BinaryInteger {
    /// The number with its digits in groups of three, such as `8,788`.
    package var grouped: String {
        let digits = Array(String(magnitude))
        var text = self < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return text
    }

    /// Returns a number of things, such as `1 push` or `8,788 pushes`.
    ///
    /// - Parameters:
    ///   - singular: The thing, with or without a verb.
    ///   - plural: The things; by default the singular with `s`, or with `es` after `sh`.
    /// - Returns: The number with the thing or the things.
    package func counted(_ singular: String, _ plural: String? = nil) -> String {
        guard self != 1 else { return "1 \(singular)" }
        return "\(grouped) \(plural ?? singular + (singular.hasSuffix("sh") ? "es" : "s"))"
    }
}
