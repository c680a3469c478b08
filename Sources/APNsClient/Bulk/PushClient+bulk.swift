public import APNs

extension PushClient {
    /// Sends a notification to many devices.
    ///
    /// The devices may be millions: of those that were read and whose outcomes were not, there are never more than
    /// `inFlight`. Whoever reads the outcomes slowly slows down the sending, and a wire that is slow the reading of
    /// devices.
    ///
    /// ```swift
    /// for await outcome in client.send(notification, to: tokens, topic: "com.example.app") {
    ///     if outcome.error?.status == 410 { forget(outcome.token) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - notification: What to send.
    ///   - tokens: The devices, which need not be `Sendable`. They are read on the client's own thread while pushes are
    ///     sent, so reading them must not block.
    ///   - topic: The app's bundle identifier.
    ///   - inFlight: How many devices may be on their way; nil, the default, for enough to fill
    ///     ``Configuration/connectionLimit`` connections, at most 8 000.
    ///   - options: What is to be different from the configuration.
    /// - Returns: The outcomes, one for each device.
    public func send<Tokens: Sequence<DeviceToken> & SendableMetatype>(
        _ notification: PushNotification,
        to tokens: sending Tokens,
        topic: Topic,
        inFlight: Int? = nil,
        options: SendOptions = SendOptions()
    ) -> BulkSend<Never> {
        let source = SingleUse(tokens)
        return send(notification, topic, inFlight, options, on: executor) { await $0.read(source) { Recipient($0) } }
    }

    /// Sends to many devices, of which some get something else than the others.
    ///
    /// - Parameters:
    ///   - notification: What to send to those that do not say.
    ///   - recipients: The devices, which need not be `Sendable`. They are read on the client's own thread while pushes
    ///     are sent, so reading them must not block.
    ///   - topic: The app's bundle identifier.
    ///   - inFlight: How many devices may be on their way; nil, the default, for enough to fill
    ///     ``Configuration/connectionLimit`` connections, at most 8 000.
    ///   - options: What is to be different from the configuration.
    /// - Returns: The outcomes, one for each device.
    public func send<Recipients: Sequence<Recipient> & SendableMetatype>(
        _ notification: PushNotification,
        to recipients: sending Recipients,
        topic: Topic,
        inFlight: Int? = nil,
        options: SendOptions = SendOptions()
    ) -> BulkSend<Never> {
        let source = SingleUse(recipients)
        return send(notification, topic, inFlight, options, on: executor) { await $0.read(source) { $0 } }
    }

    /// Sends a notification to many devices that come in over time, as from a database.
    ///
    /// - Parameters:
    ///   - notification: What to send.
    ///   - tokens: The devices. When they throw, the outcomes end with that error, after those of all that were read.
    ///   - topic: The app's bundle identifier.
    ///   - inFlight: How many devices may be on their way; nil, the default, for enough to fill
    ///     ``Configuration/connectionLimit`` connections, at most 8 000.
    ///   - options: What is to be different from the configuration.
    /// - Returns: The outcomes, one for each device.
    public func send<Tokens: AsyncSequence & Sendable>(
        _ notification: PushNotification,
        to tokens: Tokens,
        topic: Topic,
        inFlight: Int? = nil,
        options: SendOptions = SendOptions()
    ) -> BulkSend<Tokens.Failure> where Tokens.Element == DeviceToken {
        send(notification, topic, inFlight, options) { await $0.read(tokens.map { Recipient($0) }) }
    }

    /// Sends to many devices that come in over time, of which some get something else than the others.
    ///
    /// - Parameters:
    ///   - notification: What to send to those that do not say.
    ///   - recipients: The devices. When they throw, the outcomes end with that error, after those of all that were
    ///     read.
    ///   - topic: The app's bundle identifier.
    ///   - inFlight: How many devices may be on their way; nil, the default, for enough to fill
    ///     ``Configuration/connectionLimit`` connections, at most 8 000.
    ///   - options: What is to be different from the configuration.
    /// - Returns: The outcomes, one for each device.
    public func send<Recipients: AsyncSequence & Sendable>(
        _ notification: PushNotification,
        to recipients: Recipients,
        topic: Topic,
        inFlight: Int? = nil,
        options: SendOptions = SendOptions()
    ) -> BulkSend<Recipients.Failure> where Recipients.Element == Recipient {
        send(notification, topic, inFlight, options) { await $0.read(recipients) }
    }

    private func send<Failure: Error>(
        _ notification: PushNotification,
        _ topic: Topic,
        _ inFlight: Int?,
        _ options: SendOptions,
        on executor: (any TaskExecutor)? = nil,
        readSource: @escaping @Sendable (BulkTransfer) async -> Void
    ) -> BulkSend<Failure> {
        let writer = BulkWriter(notification, topic: topic, options: options, client: self)
        let machine = BulkMachine(
            window: min(inFlight ?? usualWindow, configuration.waitingLimit),
            lanes: pools.count
        )
        let transfer = BulkTransfer(
            machine,
            lanes: pools.enumerated().map { BulkLane($0, of: $1, batch: machine.batch, writer: writer) },
            executor: executor,
            readSource: readSource
        )
        return BulkSend(transfer: transfer)
    }

    /// Enough for each connection to have the thousand streams that APNs allows, and some more to be made ready.
    ///
    /// More would wait, and be cold in the processor's caches when their turn came; and with a bound for any number of
    /// connections memory stays the same.
    private var usualWindow: Int { min(250 + 1_000 * min(max(1, configuration.connectionLimit), 8), 8_000) }
}
