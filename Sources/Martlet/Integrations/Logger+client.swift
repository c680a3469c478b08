// SPDX-License-Identifier: Apache-2.0

#if LoggingSupport
    internal import Logging
    internal import MartletCore
    internal import MartletTransport

    extension Logger {
        /// Logs the result of a push: `debug` for a failure, which the caller receives as an error, otherwise `trace`.
        func log(_ push: PendingPush, _ result: Result<PushReceipt, APNsError>) {
            switch result {
            case .success(let receipt):
                trace("push accepted", metadata: metadata(of: push, attempts: receipt.attempts))
            case .failure(let error):
                guard logLevel <= .debug else { return }
                var metadata = metadata(of: push, attempts: error.attempts)
                metadata["error"] = "\(error)"
                metadata["outcome"] = "\(error.outcome.rawValue)"
                metadata["status"] = error.status.map { "\($0)" }
                metadata["reason"] = error.reason.map { "\($0.rawValue)" }
                debug("push not accepted", metadata: metadata)
            }
        }

        private func metadata(of push: PendingPush, attempts: Int) -> Metadata {
            let fields = push.fields
            var metadata: Metadata = ["apns-id": "\(push.id)", "attempts": "\(attempts)"]
            metadata["apns-topic"] = fields["apns-topic"].map { "\(ShownValue($0))" }
            metadata["apns-push-type"] = fields["apns-push-type"].map { "\(ShownValue($0))" }
            metadata["device-token"] = push.token.map { "\($0)" }
            return metadata
        }

        /// Logs an event; a level above `debug` for those that somebody should look at.
        func log(_ event: ClientEvent, host: String) {
            switch event {
            case .connected(let connection):
                debug("connected to APNs", metadata: ["host": "\(host)", "connection": "\(connection)"])
            case .connectionFailed(let error):
                warning("cannot connect to APNs", metadata: ["host": "\(host)", "error": "\(error)"])
            case .goAway(let connection, let reason):
                let level: Level = reason == nil ? .debug : .notice
                var metadata: Metadata = ["host": "\(host)", "connection": "\(connection)"]
                metadata["reason"] = reason.map { "\($0.rawValue)" }
                log(level: level, "APNs closes a connection", metadata: metadata)
            case .disconnected(let connection, let error):
                let metadata: Metadata = ["host": "\(host)", "connection": "\(connection)", "error": "\(error)"]
                debug("disconnected from APNs", metadata: metadata)
            case .retrying(let id, let delay, let error):
                debug(
                    "push will be sent again",
                    metadata: ["apns-id": "\(id)", "after": "\(delay)", "error": "\(error)"]
                )
            case .clockSkew(let skew):
                warning("the clock of this machine differs from that of APNs", metadata: ["ahead-by": "\(skew)"])
            case .circuitOpened(let error):
                self.error("sending is suspended", metadata: ["error": "\(error)"])
            }
        }
    }
#endif
