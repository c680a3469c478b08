// SPDX-License-Identifier: Apache-2.0

/// A reference to one noncopyable value, for places that only hold references, such as an array or a closure.
package final class Reference<Value: ~Copyable> {
    package let value: Value

    package init(_ value: consuming Value) {
        self.value = value
    }
}

extension Reference: Sendable where Value: Sendable & ~Copyable {}
