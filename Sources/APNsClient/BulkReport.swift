public import APNs

/// What came of sending to many devices.
public struct BulkReport: Sendable {
    /// A push that was not accepted.
    public struct Failure: Sendable, Hashable {
        /// The device it was for.
        public let token: DeviceToken
        /// Why.
        public let error: APNsError
    }

    /// A token that APNs says is no longer valid.
    public struct DeadToken: Sendable, Hashable {
        /// The token.
        public let token: DeviceToken
        /// When APNs last confirmed that it is not, in milliseconds since 1970; nil when it did not say.
        public let timestamp: Int64?

        /// Whether to forget the token: not when the app has registered it again since APNs last looked.
        ///
        /// Source: "Handling notification responses from APNs".
        ///
        /// - Parameter registeredAt: When the app last handed the token in, in milliseconds since 1970.
        /// - Returns: Whether the token is dead for sure.
        public func isStillDead(registeredAt: Int64) -> Bool {
            timestamp.map { registeredAt <= $0 } ?? true
        }
    }

    /// How many pushes were accepted.
    public internal(set) var acceptedCount = 0
    /// The pushes that were not, in the order of their answers.
    public internal(set) var failures: [Failure] = []

    /// How many pushes there were.
    public var count: Int { acceptedCount + failures.count }

    /// Tokens to drop, each with the time that decides whether to.
    ///
    /// Those that APNs answered with status 410; a `BadDeviceToken` may only mean the wrong environment.
    public var deadTokens: [DeadToken] {
        failures.filter { $0.error.status == 410 }.map { DeadToken(token: $0.token, timestamp: $0.error.timestamp) }
    }

    /// Devices that may have been reached although nobody answered.
    public var unknown: [DeviceToken] {
        failures.filter { $0.error.outcome == .unknown }.map(\.token)
    }

    /// Throws when not one push was accepted, and there was one.
    ///
    /// - Throws: The first ``APNsError``.
    public func throwIfAllFailed() throws(APNsError) {
        if acceptedCount == 0, let first = failures.first { throw first.error }
    }
}

extension PushClient {
    /// Sends to many devices, and waits for the answers to all of them; one that fails keeps none from being tried.
    ///
    /// The devices may be millions: no more pushes are made than are in flight. Those of a task that is cancelled fail
    /// with the code `cancelled`.
    ///
    /// - Parameters:
    ///   - tokens: The devices.
    ///   - topic: The app's bundle identifier.
    ///   - inFlight: How many pushes may wait or be on the wire at once.
    ///   - options: What is to be different from the configuration.
    ///   - notification: What to send to a device: the same to all, or with a badge, a text or a payload of its own.
    /// - Returns: What came of it.
    public func send(
        to tokens: some Sequence<DeviceToken>,
        topic: Topic,
        inFlight: Int = 1_000,
        options: SendOptions = SendOptions(),
        _ notification: @escaping @Sendable (DeviceToken) -> PushNotification
    ) async -> BulkReport {
        await withTaskGroup(of: BulkReport.Failure?.self) { group in
            var report = BulkReport()
            var rest = tokens.makeIterator()
            var open = 0
            while true {
                while open < max(1, inFlight), let token = rest.next() {
                    open += 1
                    // On the client's own thread, where a send costs least.
                    group.addTask(executorPreference: executor) {
                        do throws(APNsError) {
                            try await self.send(notification(token), to: token, topic: topic, options: options)
                            return nil
                        } catch {
                            return BulkReport.Failure(token: token, error: error)
                        }
                    }
                }
                guard let outcome = await group.next() else { return report }
                open -= 1
                if let failure = outcome { report.failures.append(failure) } else { report.acceptedCount += 1 }
            }
        }
    }
}
