// SPDX-License-Identifier: Apache-2.0

#if MetricsSupport
    internal import Metrics
    internal import Synchronization

    /// The figures of a client in swift-metrics.
    final class ClientMetrics: Sendable {
        private let factory: any MetricsFactory
        private let duration: Timer
        private let retries: Counter
        private let connectionsOpened: Counter
        private let connectionsFailed: Counter
        private let accepted: Counter
        /// The counters of pushes that were not accepted, by outcome and reason; Apple has few reasons.
        private let failed = Mutex<[Failure: Counter]>([:])

        private struct Failure: Hashable {
            let outcome: APNsError.Outcome
            let reason: String
        }

        /// The maximum number of different reasons, against a server that invents them.
        private static let reasonLimit = 200

        init(_ factory: any MetricsFactory) {
            self.factory = factory
            duration = Timer(label: "martlet.client.push.duration", dimensions: [], factory: factory)
            retries = Counter(label: "martlet.client.retries", dimensions: [], factory: factory)
            connectionsOpened = Counter(label: "martlet.client.connections.opened", dimensions: [], factory: factory)
            connectionsFailed = Counter(label: "martlet.client.connections.failed", dimensions: [], factory: factory)
            accepted = ClientMetrics.counter(outcome: "accepted", reason: "", factory)
        }

        func record(_ result: Result<PushReceipt, APNsError>) {
            switch result {
            case .success(let receipt):
                accepted.increment()
                record(receipt.timing)
            case .failure(let error):
                counter(of: error).increment()
                record(error.timing)
            }
        }

        func record(_ event: ClientEvent) {
            switch event {
            case .connected: connectionsOpened.increment()
            case .connectionFailed: connectionsFailed.increment()
            case .retrying: retries.increment()
            case .goAway, .disconnected, .clockSkew, .circuitOpened: break
            }
        }

        private func record(_ timing: SendTiming) {
            duration.record(duration: timing.waiting + timing.onWire + timing.backingOff)
        }

        private func counter(of error: APNsError) -> Counter {
            let reason = error.reason?.rawValue ?? error.code.description
            return failed.withLock { counters in
                var failure = Failure(outcome: error.outcome, reason: reason)
                if let counter = counters[failure] { return counter }
                if counters.count >= ClientMetrics.reasonLimit {
                    failure = Failure(outcome: error.outcome, reason: "other")
                }
                if let counter = counters[failure] { return counter }
                let counter = ClientMetrics.counter(outcome: failure.outcome.rawValue, reason: failure.reason, factory)
                counters[failure] = counter
                return counter
            }
        }

        private static func counter(outcome: String, reason: String, _ factory: any MetricsFactory) -> Counter {
            Counter(
                label: "martlet.client.pushes",
                dimensions: [("outcome", outcome), ("reason", reason)],
                factory: factory
            )
        }
    }
#endif
