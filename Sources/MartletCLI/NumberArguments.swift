// SPDX-License-Identifier: Apache-2.0

import MartletCommands
import MartletCore

/// A number of at least 1.
struct PositiveNumber: ArgumentValue {
    /// The number.
    let value: Int

    /// Parses a number.
    init(argument: String) throws(UsageError) {
        guard let value = Int(argument), value > 0 else {
            throw UsageError("must be a positive integer (found \(ShownValue.quoted(argument)))")
        }
        self.value = value
    }

    static var valueName: String { "number" }
}

/// An integer that is not negative.
struct NonnegativeNumber: ArgumentValue {
    /// The number.
    let value: Int

    /// Parses a number.
    init(argument: String) throws(UsageError) {
        guard let value = Int(argument), value >= 0 else {
            throw UsageError("must be an integer of 0 or more (found \(ShownValue.quoted(argument)))")
        }
        self.value = value
    }

    static var valueName: String { "number" }
}

/// A finite number.
struct FiniteNumber: ArgumentValue {
    /// The number.
    let value: Double

    /// Parses a number.
    init(argument: String) throws(UsageError) {
        guard let value = Double(argument), value.isFinite else {
            throw UsageError("must be a number (found \(ShownValue.quoted(argument)))")
        }
        self.value = value
    }

    static var valueName: String { "number" }
}

/// A time to wait in whole seconds, at most an hour.
struct WaitSeconds: ArgumentValue, CustomStringConvertible {
    /// The number of seconds.
    let count: Int
    var description: String { String(count) }

    init(count: Int) {
        self.count = count
    }

    /// Parses a number of seconds.
    init(argument: String) throws(UsageError) {
        guard let count = Int(argument), (0...3_600).contains(count) else {
            throw UsageError("must be an integer from 0 to 3600 (found \(ShownValue.quoted(argument)))")
        }
        self.count = count
    }

    static var valueName: String { "seconds" }
}
