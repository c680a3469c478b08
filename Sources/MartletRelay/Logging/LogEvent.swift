// SPDX-License-Identifier: Apache-2.0

/// An event that the relay logs; the raw value is the message of the line, and the facts are in its fields.
///
/// The article <doc:OperateTheRelay> has the meaning of each event.
package enum LogEvent: String, Sendable, Hashable, CaseIterable {
    // MARK: Process

    case relayStarted = "relay started"
    case relayStartedWithoutOutbox = "relay started without outbox"
    case relayNotStarted = "relay not started"
    case earlierProcessEnded = "earlier process ended without shutdown"
    case listening = "listening"
    case drainRequested = "drain requested"
    case shuttingDown = "shutting down"
    case relayStopped = "relay stopped"
    case logLinesDropped = "log lines dropped"

    case clockJumped = "clock jumped"

    // MARK: Configuration

    case configurationReloaded = "configuration reloaded"
    case configurationRejected = "configuration rejected"
    case configurationWarning = "configuration warning"
    case restartRequired = "restart required"
    case accessRevoked = "access revoked"
    case keyReplacementFailed = "key replacement failed"
    case callerExpiresSoon = "caller expires soon"
    case callerExpired = "caller expired"
    case certificateExpiresSoon = "certificate expires soon"
    case certificateExpired = "certificate expired"

    // MARK: Clients

    case handshakeFailed = "handshake failed"
    case connectionLimitReached = "connection limit reached"
    case clientMemoryLimitReached = "client memory limit reached"
    case callerRejected = "caller rejected"
    case unusualProviderToken = "unusual provider token"
    case audit = "audit"

    // MARK: Outbox

    case outboxUnavailable = "outbox unavailable"
    case outboxAvailable = "outbox available"
    case diskLow = "disk nearly full"
    case queueFull = "queue full"
    case identifierInOpenTransaction = "identifier in open transaction"
    case installationsUnavailable = "installations unavailable"
    case fleetChanged = "fleet changed"
    case relayMissing = "relay missing"
    case claimsLost = "claims lost"
    case notificationsLost = "notifications lost"
    case duplicateNodeName = "duplicate node name"
    case providerTokenNotShared = "provider token not shared"
    case sharedProviderTokenReplaced = "shared provider token replaced"

    // MARK: Jobs

    case jobStarted = "job started"
    case jobExpanded = "job expanded"
    case jobNotExpanded = "job not expanded"

    // MARK: Surfaces

    case surfacesNotUpdated = "surfaces not updated"
    case surfacePushNotBuilt = "surface push not built"
    case surfaceBroadcastRefused = "surface broadcast refused"

    // MARK: Delivery

    case connected = "connected to APNs"
    case connectionFailed = "connection to APNs failed"
    case goAwayReceived = "goaway received"
    case disconnected = "disconnected from APNs"
    case clockSkew = "clock skew"
    case push = "push"
    case pushDamaged = "push damaged"
    case pushPostponed = "push postponed"
    case pushesExpired = "pushes expired"
    case pushesAbandoned = "pushes abandoned"
    case noAnswer = "no answer from APNs"
    case answersAgain = "APNs answers again"
    case laneDown = "lane down"
    case laneRecovered = "lane recovered"
    case problemOver = "problem over"
    case lanePaused = "lane paused"
    case laneResumed = "lane resumed"

    // MARK: Reports

    case webhookFailed = "webhook failed"
    case exportFailed = "telemetry export failed"
    case exportPartlyRejected = "telemetry partly rejected"
}
