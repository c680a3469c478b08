// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import Testing

@testable import Martlet
@testable import MartletTransport

/// A machine with a clock, whose pushes have names.
struct PoolStory {
    var machine: PoolMachine
    var now = MonotonicTime.zero
    private var keys: [String: PushKey] = [:]
    private var names: [PushKey: String] = [:]
    /// The results of the pushes that ended.
    private(set) var results: [String: PushResult] = [:]

    init(usesProviderTokens: Bool = false, hasToken: Bool = true, waitingLimit: Int = 100, connectionLimit: Int = 4) {
        let settings = PoolMachine.Settings(
            usesProviderTokens: usesProviderTokens,
            waitingLimit: waitingLimit,
            connectionLimit: connectionLimit
        )
        machine = PoolMachine(settings, seed: 1)
        if usesProviderTokens, hasToken { receiveToken() }
    }

    /// The push of this name, which was submitted.
    func key(_ name: String) throws -> PushKey {
        try #require(keys[name], "\(name) was not submitted")
    }

    mutating func submit(
        _ names: String...,
        retry: RetryPolicy = .none,
        timeout: Duration = .seconds(60),
        delay: Duration = .zero,
        isCancelled: Bool = false
    ) {
        for name in names {
            let id = APNsID(randomBits: (0, UInt64(keys.count)))
            let limits = SendLimits(retry: retry, isUrgent: false, timeout: timeout, delay: delay)
            let key = machine.submitted(id, limits, isCancelled: isCancelled, at: now)
            keys[name] = key
            self.names[key] = name
        }
    }

    mutating func cancel(_ name: String) throws {
        machine.cancelled(try key(name), at: now)
    }

    /// Provides a token that is valid for an hour.
    mutating func receiveToken(_ issuedAt: Int64 = 1_000) {
        _ = machine.tokenReceived(issuedAt: Date(secondsSince1970: issuedAt), validity: .seconds(3_600), at: now)
    }

    /// Opens a connection that has received the server's limit.
    mutating func open(_ id: Int = 1, streams: Int = 100) {
        machine.connected(id, at: now)
        machine.streamLimitReceived(streams, on: id, at: now)
    }

    mutating func accept(_ name: String, on id: Int = 1) throws {
        machine.answered(try key(name), on: id, refusal: nil, at: now)
    }

    mutating func refuse(_ name: String, _ reason: APNsReason, on id: Int = 1, retryAfter: Duration? = nil) throws {
        var error = APNsError(.refused, description: "refused", outcome: .answered)
        error.properties.reason = reason
        error.properties.status = reason.status
        error.properties.retryAfter = retryAfter
        machine.answered(try key(name), on: id, refusal: error, at: now)
    }

    mutating func breakOff(_ name: String, isUnprocessed: Bool = false, on id: Int = 1) throws {
        let failure = StreamFailure(isUnprocessed: isUnprocessed, cause: TransportError(.closedByPeer, "broken"))
        machine.broken(try key(name), on: id, failure, at: now)
    }

    mutating func goAway(_ debugData: String = "", on id: Int = 1) {
        let goAway = HTTP2GoAway(lastStreamID: 0, errorCode: .noError, debugData: Array(debugData.utf8))
        machine.goAwayReceived(goAway, on: id, at: now)
    }

    mutating func disconnect(_ kind: TransportError.Kind = .closedByPeer, on id: Int = 1) {
        machine.disconnected(id, TransportError(kind, "\(kind)"), at: now)
    }

    /// Lets time pass, and calls the machine whenever its timer fires.
    mutating func wait(_ duration: Duration) {
        let end = now.advanced(by: duration)
        while machine.nextWake <= end {
            now = max(now, machine.nextWake)
            machine.timerFired(at: now)
        }
        now = end
    }

    /// Returns the actions since the last call.
    mutating func actions() -> [String] {
        var actions: [PoolMachine.Action] = []
        _ = machine.takeActions(&actions)
        return actions.compactMap { action in
            switch action {
            case .connect(let id): "connect \(id)"
            case .open(let push, let id): "open \(names[push] ?? "?") on \(id)"
            case .reset(let push, let id): "reset \(names[push] ?? "?") on \(id)"
            case .ping(let id): "ping \(id)"
            case .close(let id, _): "close \(id)"
            case .requestToken(let request):
                "request token" + (request.rejectedIssuedAt == nil ? "" : " after rejection")
            case .settle(let push): settle(push)
            case .report: nil
            }
        }
    }

    private mutating func settle(_ push: PushKey) -> String {
        let name = names[push] ?? "?"
        let result = machine.pushes.takeResult(of: push)
        results[name] = result
        return result.failure.map { "fail \(name): \($0.code), \($0.outcome)" } ?? "accept \(name)"
    }
}
