internal import MartletTransport

/// A value that is used only on an event loop, although it passes through code that runs anywhere.
///
/// It is `@unchecked Sendable` because the value is read only on the event loop, which ``value`` checks.
struct LoopBound<Value>: @unchecked Sendable {
    private let bound: Value
    private let loop: EventLoop

    /// Binds a value to the event loop on which it is used.
    init(_ value: Value, to loop: EventLoop) {
        bound = value
        self.loop = loop
    }

    /// The value.
    var value: Value {
        loop.checkIsolated()
        return bound
    }
}
