// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A value that is moved to another isolation domain once, although its type need not be `Sendable`.
///
/// A `@Sendable` closure cannot capture a `sending` parameter, because the closure may run more than once.
final class SingleUse<Value>: Sendable {
    private let value: Mutex<Value?>

    init(_ value: sending Value) {
        self.value = Mutex(value)
    }

    /// Returns the value at the first call, and nil afterwards.
    func take() -> sending Value? {
        value.withLock { value in
            let taken = value
            value = nil
            return taken
        }
    }
}
