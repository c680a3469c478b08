// SPDX-License-Identifier: Apache-2.0

public import MartletCore

extension PushClient {
    /// Sends a notification to many devices.
    ///
    /// The number of devices can be in the millions: at any time, at most `inFlight` devices were read and have an
    /// outcome that was not read. A slow reader of outcomes slows down the sending, and a slow network the reading of
    /// devices.
    ///
    /// ```swift
    /// for await outcome in client.send(notification, to: tokens, topic: "com.example.app") {
    ///     if outcome.error?.advice == .forgetToken { forget(outcome.token) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - tokens: The devices, which need not be `Sendable`. They are read on the client's own thread while pushes are
    ///     sent, so reading them must not block.
    ///   - topic: The app's bundle identifier.
    ///   - inFlight: The maximum number of devices in flight; nil, the default, for as many as fill
    ///     ``Configuration/connectionLimit`` connections, at most 8,000.
    ///   - options: The differences from the configuration.
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

    /// Sends to many devices, some of which get their own notifications.
    ///
    /// - Parameters:
    ///   - notification: The notification for devices without their own.
    ///   - recipients: The devices, which need not be `Sendable`. They are read on the client's own thread while pushes
    ///     are sent, so reading them must not block.
    ///   - topic: The app's bundle identifier.
    ///   - inFlight: The maximum number of devices in flight; nil, the default, for as many as fill
    ///     ``Configuration/connectionLimit`` connections, at most 8,000.
    ///   - options: The differences from the configuration.
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

    /// Sends a notification to many devices from an asynchronous source, such as a database.
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - tokens: The devices. When the sequence throws, the outcomes end with its error, after those of all devices
    ///     that were read.
    ///   - topic: The app's bundle identifier.
    ///   - inFlight: The maximum number of devices in flight; nil, the default, for as many as fill
    ///     ``Configuration/connectionLimit`` connections, at most 8,000.
    ///   - options: The differences from the configuration.
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

    /// Sends to many devices from an asynchronous source, some of which get their own notifications.
    ///
    /// - Parameters:
    ///   - notification: The notification for devices without their own.
    ///   - recipients: The devices. When the sequence throws, the outcomes end with its error, after those of all
    ///     devices that were read.
    ///   - topic: The app's bundle identifier.
    ///   - inFlight: The maximum number of devices in flight; nil, the default, for as many as fill
    ///     ``Configuration/connectionLimit`` connections, at most 8,000.
    ///   - options: The differences from the configuration.
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
        let machine = BulkMachine(window: min(inFlight ?? usualWindow, configuration.waitingLimit), lanes: pools.count)
        let transfer = BulkTransfer(
            machine,
            lanes: pools.enumerated().map { BulkLane($0, of: $1, batch: machine.batch, writer: writer) },
            executor: executor,
            readSource: readSource
        )
        return BulkSend(transfer: transfer)
    }

    /// The default window: the thousand streams that APNs allows on each connection, plus some pushes in preparation.
    ///
    /// More pushes would only wait, and no longer be in the processor's caches when they are sent. The limit for any
    /// number of connections also limits memory.
    private var usualWindow: Int { min(250 + 1_000 * min(max(1, configuration.connectionLimit), 8), 8_000) }
}
