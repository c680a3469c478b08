/// What is to be different from a client's configuration for one push.
public struct SendOptions: Sendable, Hashable {
    /// The policy of retries; nil for that of the client's configuration.
    ///
    /// It cannot be set to nil by accident: `SendOptions(retry: .none)` means ``RetryPolicy/none``, no retries.
    public private(set) var retry: RetryPolicy?
    /// Bound on everything together, from the call to the answer; nil, the default, for the configuration's.
    public var timeout: Duration?

    /// The configuration's policy of retries.
    ///
    /// - Parameter timeout: Bound on everything together; nil for the configuration's.
    public init(timeout: Duration? = nil) {
        self.timeout = timeout
    }

    /// A policy of retries for this push.
    ///
    /// - Parameters:
    ///   - retry: The policy; ``RetryPolicy/none`` for no retries.
    ///   - timeout: Bound on everything together; nil for the configuration's.
    public init(retry: RetryPolicy, timeout: Duration? = nil) {
        self.retry = retry
        self.timeout = timeout
    }
}
