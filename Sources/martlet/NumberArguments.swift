import Commands

/// A number of at least 1.
struct PositiveNumber: ArgumentValue {
    /// The number.
    let value: Int

    /// A number from text.
    init(argument: String) throws(UsageError) {
        guard let value = Int(argument), value > 0 else {
            throw UsageError("must be a positive integer (found \"\(argument)\")")
        }
        self.value = value
    }

    /// Part of `ArgumentValue`.
    static var valueName: String { "number" }
}

/// The number on an app's icon; the phone ignores one below 0.
struct BadgeNumber: ArgumentValue {
    /// The number.
    let value: Int

    /// A number from text.
    init(argument: String) throws(UsageError) {
        guard let value = Int(argument), value >= 0 else {
            throw UsageError("must be an integer of 0 or more (found \"\(argument)\")")
        }
        self.value = value
    }

    /// Part of `ArgumentValue`.
    static var valueName: String { "number" }
}

/// A finite number, whole or not.
struct FiniteNumber: ArgumentValue {
    /// The number.
    let value: Double

    /// A number from text.
    init(argument: String) throws(UsageError) {
        guard let value = Double(argument), value.isFinite else {
            throw UsageError("must be a number (found \"\(argument)\")")
        }
        self.value = value
    }

    /// Part of `ArgumentValue`.
    static var valueName: String { "number" }
}

/// A wait in whole seconds, an hour at most.
struct WaitSeconds: ArgumentValue, CustomStringConvertible {
    /// The number of seconds.
    let count: Int
    var description: String { String(count) }

    init(count: Int) {
        self.count = count
    }

    /// A wait from text.
    init(argument: String) throws(UsageError) {
        guard let count = Int(argument), (0...3_600).contains(count) else {
            throw UsageError("must be an integer from 0 to 3600 (found \"\(argument)\")")
        }
        self.count = count
    }

    /// Part of `ArgumentValue`.
    static var valueName: String { "seconds" }
}
