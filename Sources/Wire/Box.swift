/// A reference to one noncopyable value, for places that only hold references, such as an array or a closure.
final class Box<Value: ~Copyable> {
    let value: Value

    init(_ value: consuming Value) {
        self.value = value
    }
}
