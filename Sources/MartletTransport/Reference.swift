/// A reference to one noncopyable value, for places that only hold references, such as an array or a closure.
package final class Reference<Value: ~Copyable> {
    /// The value.
    package let value: Value

    /// Creates a reference that owns the value.
    package init(_ value: consuming Value) {
        self.value = value
    }
}

extension Reference: Sendable where Value: Sendable & ~Copyable {}
