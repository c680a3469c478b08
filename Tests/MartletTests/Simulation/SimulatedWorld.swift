// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore

@testable import Martlet
@testable import MartletTransport

/// A world of time, chance and hostile servers around one `PoolMachine`.
///
/// It acts as the driver and the peers, and records the actual events of each push. Everything follows from
/// the seed.
struct SimulatedWorld {
    typealias ConnectionID = PoolMachine.ConnectionID

    /// The events of a push that actually happened.
    private struct PushRecord {
        let id: APNsID
        let limits: SendLimits
        /// The key of the push; nil before its submission.
        var key: PushKey?
        var isCancelled = false
        var deadline = MonotonicTime.never
        /// Times that a server acted on it.
        var processed = 0
        /// Times it went onto a wire.
        var opened = 0
        var failures: [APNsError?] = []
    }

    /// A rule that was broken.
    struct Violation: Error, CustomStringConvertible {
        let description: String
    }

    private static let reasons = APNsReason.all.map(\.self)

    private var random: SplitMix64
    private let rates: FailureRates
    private var machine: PoolMachine
    private let settings: PoolMachine.Settings
    private var now = MonotonicTime.zero
    private var events = TimeHeap<SimulatedEvent>()
    private var nextWakeEvent = MonotonicTime.never
    private var pushes: [PushRecord] = []
    private var indices: [PushKey: Int] = [:]
    private var peers: [ConnectionID: SimulatedPeer] = [:]
    private var lastFailure: MonotonicTime?
    private var jumped = Duration.zero
    private var isClosing = false
    private var isTokenRequested = false
    private var hasToken = false
    private var tokenCount = 0

    /// Receives a description of each event; nil without output.
    private let tell: ((String) -> Void)?

    init(seed: UInt64, tell: ((String) -> Void)? = nil) {
        self.tell = tell
        random = SplitMix64(state: seed)
        rates = FailureRates(using: &random)
        settings = PoolMachine.Settings(
            usesProviderTokens: Bool.random(using: &random),
            waitingLimit: Int.random(in: 1...60, using: &random),
            connectionLimit: Int.random(in: 1...4, using: &random),
            breaksCircuit: Bool.random(using: &random)
        )
        machine = PoolMachine(settings, seed: seed)
        prepare()
    }

    private mutating func prepare() {
        let span = Int.random(in: 1...20_000, using: &random)
        for index in 0..<Int.random(in: 1...60, using: &random) {
            let retry =
                [RetryPolicy.standard, .none, .apple, RetryPolicy(unknownOutcome: .resend)]
                .randomElement(using: &random) ?? .none
            let limits = SendLimits(
                retry: retry,
                isUrgent: Bool.random(using: &random),
                timeout: .milliseconds(Int.random(in: 1...60_000, using: &random)),
                delay: .milliseconds(max(0, Int.random(in: -3_000...1_000, using: &random)))
            )
            let id = APNsID(randomBits: (0, UInt64(index)))
            pushes.append(PushRecord(id: id, limits: limits))
            let time = Duration.milliseconds(Int.random(in: 0...span, using: &random))
            schedule(.submit(index), after: time)
            if happens(rates.cancellation) {
                schedule(.cancel(index), after: time + .milliseconds(Int.random(in: -5...500, using: &random)))
            }
        }
        if happens(rates.keyReplacement * 5) {
            schedule(.replaceKey, after: .milliseconds(Int.random(in: 0...span, using: &random)))
        }
        if rates.jump > .zero { schedule(.jump, after: .milliseconds(Int.random(in: 0...span, using: &random))) }
        if Int.random(in: 0..<8, using: &random) == 0 {
            schedule(.cancelUnsent, after: .milliseconds(Int.random(in: 0...span, using: &random)))
        }
        let end = Duration.milliseconds(Int.random(in: 0...(4 * span), using: &random))
        if Int.random(in: 0..<4, using: &random) == 0 {
            schedule(.close, after: end)
            schedule(.giveUp, after: end + .milliseconds(Int.random(in: 0...5_000, using: &random)))
        }
    }

    // MARK: Running

    /// Runs the world until it has no more events.
    ///
    /// - Throws: ``Violation`` when a rule is broken.
    mutating func run() throws(Violation) {
        var steps = 0
        while let time = events.earliest {
            steps += 1
            guard steps < 200_000 else { throw Violation(description: "the world does not come to rest") }
            now = max(now, time)
            guard let event = events.removeDue(by: now) else { break }
            if case .wake = event, machine.nextWake > now {
                // An alarm that was set before an earlier one took its place.
                nextWakeEvent = .never
                setAlarm(at: machine.nextWake)
                continue
            }
            tell?("\(now.nanoseconds / 1_000) µs: \(event)")
            try happen(event)
            try carryOut()
            if isOver { break }
        }
        try checkEnd()
    }

    private var isOver: Bool {
        pushes.allSatisfy { $0.key != nil && !$0.failures.isEmpty } && peers.allSatisfy { $0.value.streams.isEmpty }
    }

    private mutating func happen(_ event: SimulatedEvent) throws(Violation) {
        switch event {
        case .submit(let index):
            submit(index)
        case .cancel(let index):
            if let key = pushes[index].key { machine.cancelled(key, at: now) } else { pushes[index].isCancelled = true }
        case .wake:
            nextWakeEvent = .never
            machine.timerFired(at: now)
        case .connect(let id):
            connect(id)
        case .limit(let id, let limit):
            guard peers[id]?.isDead == false else { return }
            peers[id]?.toldLimit = limit
            machine.streamLimitReceived(limit, on: id, at: now)
        case .stream(let index, let id, let attempt):
            endStream(index, on: id, attempt: attempt)
        case .taken(let index, let id, let attempt):
            endTaken(index, on: id, attempt: attempt)
        case .pong(let id):
            if peers[id]?.isDead == false { machine.pongReceived(on: id, at: now) }
        case .goAway(let id):
            goAway(id)
        case .cut(let id):
            disconnect(id, TransportError(.closedByPeer, "cut"))
        case .die(let id):
            peers[id]?.isDead = true
        case .jump:
            now = now.advanced(by: rates.jump)
            jumped += rates.jump
        case .cancelUnsent:
            let urgent = Set(pushes.filter(\.limits.isUrgent).compactMap(\.key))
            machine.cancelUnsent(at: now) { urgent.contains($0) }
        case .token:
            receiveToken()
        case .replaceKey:
            hasToken = false
            for used in machine.connections.all where used.hasBeenUsed { peers[used.id]?.isReplaced = true }
            machine.keyReplaced(at: now)
        case .close:
            isClosing = true
            machine.close(at: now)
        case .giveUp:
            machine.giveUp(at: now)
        }
    }

    private mutating func submit(_ index: Int) {
        let record = pushes[index]
        let key = machine.submitted(record.id, record.limits, isCancelled: record.isCancelled, at: now)
        pushes[index].key = key
        pushes[index].deadline = now.advanced(by: record.limits.timeout)
        indices[key] = index
    }

    private mutating func receiveToken() {
        isTokenRequested = false
        guard !happens(rates.tokenFailure) else {
            machine.tokenFailed(APNsError(.badCredentials, description: "no token"), at: now)
            return
        }
        tokenCount += 1
        let issuedAt = Date(timeIntervalSince1970: Double(tokenCount))
        let validity = Duration.milliseconds(Int.random(in: 0...30_000, using: &random))
        if machine.tokenReceived(issuedAt: issuedAt, validity: validity, at: now) { hasToken = true }
    }

    // MARK: The driver's part

    private mutating func carryOut() throws(Violation) {
        var actions: [PoolMachine.Action] = []
        var wake = machine.takeActions(&actions)
        while !actions.isEmpty {
            for action in actions { try carryOut(action) }
            actions = []
            wake = machine.takeActions(&actions)
        }
        setAlarm(at: wake)
    }

    private mutating func setAlarm(at time: MonotonicTime) {
        guard time < nextWakeEvent else { return }
        nextWakeEvent = time
        events.insert(.wake, due: time)
    }

    private mutating func carryOut(_ action: PoolMachine.Action) throws(Violation) {
        tell?("    action: \(action.text { indices[$0].map(String.init) ?? "?" })")
        switch action {
        case .connect(let id): try beginConnecting(id)
        case .open(let push, let id): try open(push, on: id)
        case .reset(let push, let id):
            guard let index = indices[push], peers[id]?.streams.contains(push) == true else { return }
            schedule(.taken(index, id, attempt: pushes[index].opened), after: .zero)
        case .ping(let id): if peers[id]?.isDead == false { schedule(.pong(id), after: delay()) }
        case .close(let id, let reason): disconnect(id, reason)
        case .requestToken:
            guard settings.usesProviderTokens, !isTokenRequested else {
                throw Violation(description: "a token was requested without need")
            }
            isTokenRequested = true
            schedule(.token, after: delay())
        case .report: break
        case .settle(let push): try settle(push)
        }
    }

    private mutating func beginConnecting(_ id: ConnectionID) throws(Violation) {
        if peers.values.contains(where: { !$0.isConnected }) {
            throw Violation(description: "two connections are being opened at once")
        }
        if machine.connections.all.count(where: \.isUsable) >= settings.connectionLimit {
            throw Violation(description: "more connections than allowed")
        }
        if let lastFailure, now.duration(since: lastFailure) < ReconnectBackoff.baseDelay / 2 {
            throw Violation(description: "tried again \(now.duration(since: lastFailure)) after a failure")
        }
        peers[id] = SimulatedPeer()
        schedule(.connect(id), after: delay())
    }

    private mutating func open(_ push: PushKey, on id: ConnectionID) throws(Violation) {
        guard let index = indices[push] else { return }
        guard !machine.pushes.table.isSettled(push) else {
            machine.settledBeforeOpening(push, on: id, at: now)
            return
        }
        // Now and then a connection turns out to take no more, as when its stream numbers are used up.
        guard let peer = peers[id], !peer.isExhausted, !happens(0.005) else {
            if let peer = peers[id] { recordFailure(of: peer) }
            peers[id]?.isExhausted = true
            machine.notOpened(push, on: id, at: now)
            return
        }
        let limit = settings.usesProviderTokens && !peer.hasAnswered ? min(1, peer.toldLimit) : peer.toldLimit
        guard peer.streams.count < limit else {
            throw Violation(description: "\(peer.streams.count + 1) streams where \(limit) are allowed")
        }
        guard !settings.usesProviderTokens || hasToken else {
            throw Violation(description: "a push went out without a provider token")
        }
        guard !peer.hasGoneAway else { throw Violation(description: "a push went onto a connection that is ending") }
        pushes[index].opened += 1
        peers[id]?.streams.append(push)
        schedule(.stream(index, id, attempt: pushes[index].opened), after: delay())
        if happens(0.01) { schedule(.limit(id, Int.random(in: 0...40, using: &random)), after: delay()) }
        if happens(rates.goAway * 0.05) { schedule(.goAway(id), after: delay()) }
        if happens(rates.cut * 0.05) { schedule(.cut(id), after: delay()) }
        if happens(rates.death * 0.05) { schedule(.die(id), after: delay()) }
    }

    // MARK: The peers' part

    private mutating func connect(_ id: ConnectionID) {
        guard let peer = peers[id], !peer.isConnected else { return }
        guard !happens(rates.connectFailure) else {
            let kinds: [TransportError.Kind] = [.connectionRefused, .nameNotResolved, .timedOut, .certificateRejected]
            disconnect(id, TransportError(kinds.randomElement(using: &random) ?? .system, "no connection"))
            return
        }
        peers[id]?.isConnected = true
        machine.connected(id, at: now)
        schedule(.limit(id, Int.random(in: 1...50, using: &random)), after: delay())
    }

    private mutating func endStream(_ index: Int, on id: ConnectionID, attempt: Int) {
        guard let push = pushes[index].key, let peer = peers[id], pushes[index].opened == attempt,
            peer.streams.contains(push)
        else { return }
        // A server processes a request that reaches it, whether or not its answer arrives.
        guard !peer.isDead, !happens(rates.silence) else {
            if Bool.random(using: &random) {
                pushes[index].processed += 1
                peers[id]?.actedOn.insert(push)
            }
            return
        }
        if happens(rates.reset) {
            let isUnprocessed = Bool.random(using: &random)
            if !isUnprocessed, Bool.random(using: &random) { pushes[index].processed += 1 }
            remove(push, from: id)
            breakOff(push, on: id, isUnprocessed: isUnprocessed)
            return
        }
        remove(push, from: id)
        peers[id]?.hasAnswered = true
        lastFailure = nil
        pushes[index].processed += happens(rates.refusal) ? 0 : 1
        machine.answered(push, on: id, refusal: refusal(of: index), at: now)
    }

    private mutating func refusal(of index: Int) -> APNsError? {
        let id = pushes[index].id
        if pushes[index].processed > 0, lastAnswerAccepts(index) { return nil }
        let reason = Self.reasons.randomElement(using: &random) ?? .internalServerError
        var error = APNsError(.refused, id: id, description: "refused", outcome: .answered)
        error.properties.reason = reason
        error.properties.status = reason.status
        if happens(0.1) { error.properties.retryAfter = .milliseconds(Int.random(in: 0...3_000, using: &random)) }
        return error
    }

    /// Whether the answered attempt was processed by the server.
    private mutating func lastAnswerAccepts(_ index: Int) -> Bool {
        defer { acceptedBefore[index] = pushes[index].processed }
        return pushes[index].processed > acceptedBefore[index, default: 0]
    }
    private var acceptedBefore: [Int: Int] = [:]

    private mutating func endTaken(_ index: Int, on id: ConnectionID, attempt: Int) {
        guard let push = pushes[index].key, pushes[index].opened == attempt,
            peers[id]?.streams.contains(push) == true
        else { return }
        remove(push, from: id)
        breakOff(push, on: id, isUnprocessed: false)
    }

    /// Sends a GOAWAY: later streams are unprocessed, the others may still end.
    private mutating func goAway(_ id: ConnectionID) {
        guard let peer = peers[id], peer.isConnected, !peer.isDead else { return }
        // The last stream of the GOAWAY is not before a stream that was processed.
        let acted = peer.streams.lastIndex { peer.actedOn.contains($0) }.map { $0 + 1 } ?? 0
        let kept = Int.random(in: acted...peer.streams.count, using: &random)
        let data = [#"{"reason":"Shutdown"}"#, "", "garbage", #"{"reason":7}"#].randomElement(using: &random) ?? ""
        recordFailure(of: peer)
        peers[id]?.hasGoneAway = true
        let goAway = HTTP2GoAway(lastStreamID: Int32(kept), errorCode: .noError, debugData: Array(data.utf8))
        machine.goAwayReceived(goAway, on: id, at: now)
        for push in peer.streams[kept...] {
            remove(push, from: id)
            breakOff(push, on: id, isUnprocessed: true)
        }
        if Bool.random(using: &random) { schedule(.cut(id), after: delay()) }
        if happens(0.2) { schedule(.goAway(id), after: delay()) }
    }

    private mutating func disconnect(_ id: ConnectionID, _ reason: TransportError) {
        guard let peer = peers.removeValue(forKey: id) else { return }
        recordFailure(of: peer)
        machine.disconnected(id, reason, at: now)
        for push in peer.streams { breakOff(push, on: id, isUnprocessed: false) }
    }

    /// A connection that ends without ever having answered, or begins to.
    private mutating func recordFailure(of peer: SimulatedPeer) {
        if !peer.hasAnswered, !peer.isExhausted, !peer.hasGoneAway, !peer.isReplaced { lastFailure = now }
    }

    private mutating func breakOff(_ push: PushKey, on id: ConnectionID, isUnprocessed: Bool) {
        let failure = StreamFailure(isUnprocessed: isUnprocessed, cause: TransportError(.closedByPeer, "broken"))
        machine.broken(push, on: id, failure, at: now)
    }

    private mutating func remove(_ push: PushKey, from id: ConnectionID) {
        peers[id]?.streams.removeAll { $0 == push }
    }

    // MARK: Checks

    private mutating func settle(_ push: PushKey) throws(Violation) {
        let result = machine.pushes.takeResult(of: push)
        guard let index = indices[push] else { return }
        pushes[index].failures.append(result.failure)
        tell?("    result of push \(index): " + (result.failure.map { "\($0.outcome), \($0)" } ?? "accepted"))
        let record = pushes[index]
        guard record.failures.count == 1 else { throw Violation(description: "push \(index) was settled twice") }
        if now > record.deadline.advanced(by: PoolPushes.sweepInterval + jumped) {
            throw Violation(description: "push \(index) was settled \(now.duration(since: record.deadline)) too late")
        }
        let mayResend = record.limits.retry.unknownOutcome == .resend
        if record.processed > 1, !mayResend { throw Violation(description: "push \(index) was acted on twice") }
        guard let failure = result.failure else {
            guard record.processed > 0 else { throw Violation(description: "push \(index) was not acted on") }
            if record.processed > 1, result.unknownTries == 0 {
                throw Violation(description: "push \(index) was acted on twice and does not say so")
            }
            return
        }
        switch failure.outcome {
        case .neverSent where record.opened > 0:
            throw Violation(description: "push \(index) was sent: \(failure)")
        case .unprocessed where record.processed > 0:
            throw Violation(description: "push \(index) was acted on: \(failure)")
        case .answered where record.processed > 0 && failure.unknownTries == 0:
            throw Violation(description: "push \(index) was acted on and then refused: \(failure)")
        case .unknown where record.opened == 0:
            throw Violation(description: "push \(index) was never sent: \(failure)")
        case .neverSent, .unprocessed, .answered, .unknown: break
        }
    }

    private func checkEnd() throws(Violation) {
        for (index, record) in pushes.enumerated() where record.key != nil && record.failures.isEmpty {
            throw Violation(description: "push \(index) never ended")
        }
        let waiting = machine.pushes.queue.readyCount
        if waiting != 0 { throw Violation(description: "\(waiting) pushes still wait") }
        if !machine.pushes.table.isEmpty { throw Violation(description: "there are results that were not taken") }
        if isClosing, !machine.isFinished { throw Violation(description: "closing never ended") }
    }

    // MARK: Chance

    private mutating func happens(_ likelihood: Double) -> Bool {
        Double.random(in: 0..<1, using: &random) < likelihood
    }

    private mutating func delay() -> Duration {
        rates.latency * Double.random(in: 0..<2, using: &random)
    }

    private mutating func schedule(_ event: SimulatedEvent, after delay: Duration) {
        events.insert(event, due: now.advanced(by: max(.zero, delay)))
    }
}
