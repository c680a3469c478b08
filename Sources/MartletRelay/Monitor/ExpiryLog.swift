// SPDX-License-Identifier: Apache-2.0

/// Decides which expiry warnings are logged.
///
/// All warnings are logged once a day, and a key or certificate when it has just expired.
struct ExpiryLog {
    /// The interval between repetitions of the warnings, in seconds.
    private static let interval: Int64 = 86_400

    /// The time of the last call, in seconds since 1970; nil before the first one.
    private var lastTime: Int64?
    /// The time of the last call that returned all warnings.
    private var lastList: Int64?

    /// Returns the warnings to log now, in seconds since 1970.
    mutating func take(from configuration: RelayConfiguration, at now: Int64) -> [ExpiryWarning] {
        // Each is read once, because the optimizer of Swift 6.3.1 may fail on two reads of an optional property.
        let (last, list) = (lastTime, lastList)
        // A clock that was set back repeats no warning.
        guard last.map({ now > $0 }) ?? true else {
            lastTime = now
            lastList = list.map { min($0, now) }
            return []
        }
        lastTime = now
        let warnings = configuration.expiryWarnings(at: now)
        guard let last, let list, now - list < ExpiryLog.interval else {
            lastList = now
            return warnings
        }
        return warnings.filter { $0.isExpired && $0.expiry > last }
    }
}
