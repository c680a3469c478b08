/// What is to be different from a client's configuration for one push.
public struct SendOptions: Sendable, Hashable {
    /// When the push is sent again; nil, the default, for what the client's configuration says.
    public var retry: RetryPolicy?
    /// Bound on everything together, from the call to the answer; nil, the default, for the configuration's.
    public var timeout: Duration?

    /// Nothing different, save what is given.
    public init(retry: RetryPolicy? = nil, timeout: Duration? = nil) {
        self.retry = retry
        self.timeout = timeout
    }
}
