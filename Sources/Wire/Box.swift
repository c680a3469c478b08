/// Holds one noncopyable value where only a reference can be kept, as in an array or a closure.
final class Box<Value: ~Copyable> {
    let value: Value

    init(_ value: consuming Value) {
        self.value = value
    }
}
