// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletTransport

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The events of provider tokens.
extension PoolMachine {
    /// Handles a token from the source.
    ///
    /// - Returns: Whether pushes are sent with the token from now on; false when its key has been replaced.
    mutating func tokenReceived(issuedAt: Date, validity: Duration, at now: MonotonicTime) -> Bool {
        switch tokens.received(tokenIssuedAt: issuedAt, validity: validity, at: now) {
        case .current(let ready):
            sendWaiting(ready, at: now)
            return true
        case .outdated(let request):
            actions.append(.requestToken(request))
            return false
        }
    }

    /// Sends the pushes that waited for a token, on the connections to which they were assigned.
    ///
    /// Meanwhile, a push may have been settled, and a connection may have received a GOAWAY or a lower limit of
    /// streams: the last pushes on it then wait for a stream again, in their order.
    private mutating func sendWaiting(_ ready: [PoolTokenMachine.Push], at now: MonotonicTime) {
        var sendable: [PoolTokenMachine.Push] = []
        for (push, id) in ready.reversed() {
            if pushes.settleIfLate(push, at: now, &actions) {
                settledBeforeOpening(push, on: id, at: now)
            } else if !connections.isUsable(id) {
                notOpened(push, on: id, at: now)
            } else if connections.exceedsLimit(id) {
                connections.releasePush(on: id, at: now)
                pushes.notOpened(push, at: now)
            } else {
                sendable.append((push, id))
            }
        }
        for (push, id) in sendable.reversed() { open(push, on: id, at: now) }
        serve(at: now)
    }

    /// Handles the source's answer that it has no token: the pushes that wait for it fail, and those that wait for a
    /// stream, because they would only request it again.
    mutating func tokenFailed(_ error: APNsError, at now: MonotonicTime) {
        switch tokens.failed() {
        case .current(let unsendable):
            for (push, id) in unsendable {
                connections.releasePush(on: id, at: now)
                pushes.lacksToken(push, error, at: now, &actions)
                connections.closeIfDrained(id, &actions)
            }
            pushes.settleWaiting(error, at: now, &actions)
            serve(at: now)
        case .outdated(let request):
            actions.append(.requestToken(request))
        }
    }

    /// Discards the token because the key was replaced, and sends again if everything was rejected because of the
    /// former key.
    mutating func keyReplaced(at now: MonotonicTime) {
        pushes.closeCircuit()
        tokenReplaced(at: now)
    }

    /// Discards the token: pushes in flight complete on their connections, and later ones use new connections.
    mutating func tokenReplaced(at now: MonotonicTime) {
        let pushes = tokens.replaced()
        renewConnections(at: now)
        // Their connections are draining, and the new token has to be sent on others.
        for (push, id) in pushes { notOpened(push, on: id, at: now) }
    }
}
