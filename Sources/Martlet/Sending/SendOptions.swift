// SPDX-License-Identifier: Apache-2.0

/// The differences from a client's configuration for one push.
public struct SendOptions: Sendable, Hashable {
    /// The retry policy; nil for that of the client's configuration.
    ///
    /// It cannot be set to nil by accident: `SendOptions(retry: .none)` means ``RetryPolicy/none``, no retries.
    public private(set) var retry: RetryPolicy?
    /// The timeout from the call to the response; nil, the default, for the configuration's.
    public var timeout: Duration?

    /// Creates options with the configuration's retry policy.
    ///
    /// - Parameter timeout: The timeout from the call to the response; nil for the configuration's.
    public init(timeout: Duration? = nil) {
        self.timeout = timeout
    }

    /// Creates options with a retry policy.
    ///
    /// - Parameters:
    ///   - retry: The policy; ``RetryPolicy/none`` for no retries.
    ///   - timeout: The timeout from the call to the response; nil for the configuration's.
    public init(retry: RetryPolicy, timeout: Duration? = nil) {
        self.retry = retry
        self.timeout = timeout
    }
}
