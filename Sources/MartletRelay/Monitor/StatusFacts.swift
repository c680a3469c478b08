// SPDX-License-Identifier: Apache-2.0

internal import MartletOutbox

/// The activity of a lane that is neither down nor paused, in the last minute.
enum LaneActivity: String, Sendable, CaseIterable {
    /// Apple has accepted pushes.
    case delivers
    /// There was no attempt, or there were few without an acceptance.
    case ready
    /// There were many attempts, and Apple has accepted none.
    case fails

    /// The number of attempts without an acceptance from which a lane fails although it sends no push again.
    ///
    /// A few can be for unregistered tokens.
    private static let manyAttempts = 10

    init(_ attempts: Int, _ failures: Int, isRetrying: Bool) {
        if attempts > failures {
            self = .delivers
        } else {
            self = attempts >= LaneActivity.manyAttempts || attempts > 0 && isRetrying ? .fails : .ready
        }
    }
}

/// The facts for a ``StatusSummary``.
///
/// Times are milliseconds since 1970.
struct StatusFacts: Sendable {
    /// The state of a lane.
    struct LaneState: Sendable {
        var lane: Lane
        var problem: LaneProblem?
        var pause: LanePause?
        /// The identifier of the key that signs the lane's provider tokens.
        var keyID = ""
        /// The number of pushes of this relay that wait for Apple's answer.
        var inFlight = 0
        /// The number of pushes that wait; nil while the outbox cannot be read.
        var waiting: Int?
        /// The number of pushes that are sent again, the time when the oldest was accepted, and Apple's last
        /// answer to one of them.
        var retrying = 0
        var retryingSince: Int64?
        var retryReason: String?
        /// The number of pushes that have expired or were abandoned since the problem began, also of those whose expiry
        /// the outbox has not stored yet because they wait for Apple's answer.
        var lost = 0
        /// The number of pushes that Apple has refused for good since the problem began.
        var refused = 0
        /// The attempts in the last minute, or since the problem was noticed, and those of them that Apple did not
        /// accept.
        var attempts = 0
        var failures = 0

        /// The activity of a lane that is neither down nor paused.
        var activity: LaneActivity { LaneActivity(attempts, failures, isRetrying: retrying > 0) }
    }

    /// The problem of an outbox that stores no pushes.
    struct StoreProblem: Sendable {
        var kind: OutboxError.Kind
        var error: String
        var since: Int64?
        var action: String
    }

    /// A jump of the wall clock.
    struct ClockJump: Sendable, Hashable {
        var time: Int64
        /// The seconds by which the clock jumped, negative for a jump back.
        var seconds: Int64
    }

    var now: Int64
    /// The names of the apps that the status is about.
    var apps: [String]
    var lanes: [LaneState]
    var isDraining = false
    /// Whether the outbox is a database.
    var isDatabase = false
    var store: StoreProblem?
    /// The start of a commit that takes too long; nil without one.
    var commitSince: Int64?
    /// The number of pushes that this relay has refused since it cannot store them.
    var notStored = 0
    /// Whether as many pushes wait as the outbox may contain.
    var isFull = false
    var rejection: LastingProblem?
    /// The webhooks that accept no reports, by the name of the app.
    var webhooks: [(app: String, problem: LastingProblem)] = []
    var expiries: [ExpiryWarning] = []
    var clockJump: ClockJump?
    var deadLetters: [String: DeadLetterCount] = [:]
    /// The time of the last data about the relays that share the database, if that is outdated.
    var fleetOutdatedSince: Int64?
    var missingRelays: [FleetView.MissingNode] = []
    /// The relays that run with the same name.
    var duplicateRelays: [FleetView.Duplicate] = []
    /// The latest outages that are over, oldest first.
    var pastOutages: [StatusWatch.PastOutage] = []
}
