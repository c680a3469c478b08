internal import APNs

/// A JSON number with all its digits: it compares without the rounding of binary fractions.
struct ExactDecimal: Sendable, Hashable {
    /// Powers of ten beyond these are taken for these: nobody can tell such numbers apart anyway.
    private static let exponents = -1_000_000_000...1_000_000_000

    private let isNegative: Bool
    /// Without zeros at either end; empty for zero.
    private let digits: [UInt8]
    /// The power of ten that the last digit counts.
    private let exponent: Int

    init(_ number: JSONNumber) {
        var text = number.text.utf8[...]
        let hasSign = text.first == UInt8(ascii: "-")
        if hasSign { text = text.dropFirst() }
        var digits: [UInt8] = []
        var exponent = 0
        var isFraction = false
        scan: while let byte = text.popFirst() {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                if isFraction { exponent -= 1 }
                if byte != UInt8(ascii: "0") || !digits.isEmpty { digits.append(byte - UInt8(ascii: "0")) }
            case UInt8(ascii: "."):
                isFraction = true
            default:
                exponent += ExactDecimal.power(text)
                break scan
            }
        }
        while digits.last == 0 {
            digits.removeLast()
            exponent += 1
        }
        self.digits = digits
        self.exponent = digits.isEmpty ? 0 : exponent
        isNegative = hasSign && !digits.isEmpty
    }

    /// What stands behind the `e`.
    private static func power(_ text: Substring.UTF8View) -> Int {
        let bounds = text.first == UInt8(ascii: "-") ? exponents.lowerBound : exponents.upperBound
        return min(max(Int(String(Substring(text))) ?? bounds, exponents.lowerBound), exponents.upperBound)
    }

    /// Whether it has no fraction, however it is written.
    var isWhole: Bool { exponent >= 0 }

    /// Digits that a step may have for ``isMultiple(of:)``.
    static let stepDigits = 18

    /// Whether it is positive, and short enough for ``isMultiple(of:)``.
    var isStep: Bool { !isNegative && !digits.isEmpty && digits.count <= ExactDecimal.stepDigits }

    /// Whether it is a whole number of steps.
    func isMultiple(of step: ExactDecimal) -> Bool {
        guard !digits.isEmpty else { return true }
        // The last digit is no zero: without more powers of ten there is none to share.
        guard exponent >= step.exponent else { return false }
        let divisor = step.digits.reduce(UInt64(0)) { $0 * 10 + UInt64($1) }
        // Powers of ten beyond the 64th bring no factor that a divisor of 18 digits could still lack.
        let zeros = repeatElement(UInt8(0), count: min(exponent - step.exponent, 64))
        func remainder(_ start: UInt64, _ digits: some Sequence<UInt8>) -> UInt64 {
            digits.reduce(start) { rest, digit in
                let (high, low) = rest.multipliedFullWidth(by: 10)
                let (sum, carry) = low.addingReportingOverflow(UInt64(digit))
                return divisor.dividingFullWidth((high + (carry ? 1 : 0), sum)).remainder
            }
        }
        return remainder(remainder(0, digits), zeros) == 0
    }
}

extension ExactDecimal: Comparable {
    static func < (left: ExactDecimal, right: ExactDecimal) -> Bool {
        if left.isNegative != right.isNegative { return left.isNegative }
        return left.isNegative
            ? right.isNearerToZero(than: left) : left.isNearerToZero(than: right)
    }

    private func isNearerToZero(than other: ExactDecimal) -> Bool {
        guard !digits.isEmpty, !other.digits.isEmpty else { return digits.isEmpty && !other.digits.isEmpty }
        let power = exponent + digits.count
        let otherPower = other.exponent + other.digits.count
        return power == otherPower ? digits.lexicographicallyPrecedes(other.digits) : power < otherPower
    }
}
