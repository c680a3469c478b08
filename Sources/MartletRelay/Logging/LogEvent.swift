/// An event that the relay logs; the raw value is the message of the line, and the facts are in its fields.
///
/// The article <doc:OperateTheRelay> lists all events for operators who search or alert on them.
package enum LogEvent: String, Sendable, Hashable, CaseIterable {
    // MARK: Process

    /// The relay accepts and delivers pushes.
    case relayStarted = "relay started"
    /// The relay has started and cannot store pushes yet, so that it refuses them.
    case relayStartedWithoutOutbox = "relay started without outbox"
    /// The relay could not start, because its stored data is damaged.
    case relayNotStarted = "relay not started"
    /// A listener accepts connections.
    case listening = "listening"
    /// An operator has requested a shutdown, directly or through another relay, whose audit log has the caller.
    case drainRequested = "drain requested"
    /// The relay accepts no more pushes and waits for those in flight.
    case shuttingDown = "shutting down"
    /// The relay has stored all results and closed its outbox.
    case relayStopped = "relay stopped"
    /// Log lines were discarded because the output was too slow.
    case logLinesDropped = "log lines dropped"

    /// The clock of this machine has jumped, so that the relay deletes no outcomes for an hour.
    case clockJumped = "clock jumped"

    // MARK: Configuration

    /// Another configuration is in use.
    case configurationReloaded = "configuration reloaded"
    /// Another configuration cannot be used; the previous one stays in use.
    case configurationRejected = "configuration rejected"
    /// A setting of the configuration is probably a mistake.
    case configurationWarning = "configuration warning"
    /// A changed setting takes effect only after a restart.
    case restartRequired = "restart required"
    /// A caller has lost access to apps.
    case accessRevoked = "access revoked"
    /// The signing key of an app could not be replaced.
    case keyReplacementFailed = "key replacement failed"
    /// The credentials of a caller expire within 30 days.
    case callerExpiresSoon = "caller expires soon"
    /// The credentials of a caller have expired.
    case callerExpired = "caller expired"
    /// A certificate expires within 30 days.
    case certificateExpiresSoon = "certificate expires soon"
    /// A certificate has expired.
    case certificateExpired = "certificate expired"

    // MARK: Clients

    /// The TLS handshake of a client failed.
    case handshakeFailed = "handshake failed"
    /// A listener has as many connections as it may have: it closes idle ones for new clients, or lets them wait.
    case connectionLimitReached = "connection limit reached"
    /// The credentials of a client are not valid, or not for the app.
    case callerRejected = "caller rejected"
    /// The form of a provider token deviates from Apple's documentation.
    case unusualProviderToken = "unusual provider token"
    /// An operator or a signal has changed something, or tried to.
    case audit = "audit"

    // MARK: Outbox

    /// Pushes cannot be stored.
    case outboxUnavailable = "outbox unavailable"
    /// Pushes can be stored again.
    case outboxAvailable = "outbox available"
    /// The number of relays that share the outbox has changed, or their leader.
    case fleetChanged = "fleet changed"
    /// Other relays have taken over the claims of this one, whose lease had expired.
    case claimsLost = "claims lost"
    /// Another relay that shares the outbox has the same name.
    case duplicateNodeName = "duplicate node name"
    /// The provider token could not be shared with the other relays.
    case providerTokenNotShared = "provider token not shared"
    /// The provider token in the outbox was not valid and is replaced.
    case sharedProviderTokenReplaced = "shared provider token replaced"

    // MARK: Delivery

    /// A connection to APNs was established.
    case connected = "connected to APNs"
    /// A connection to APNs could not be established.
    case connectionFailed = "connection to APNs failed"
    /// APNs accepts no more requests on a connection.
    case goAwayReceived = "goaway received"
    /// A connection to APNs has ended.
    case disconnected = "disconnected from APNs"
    /// The clock of this machine deviates so much that APNs rejects the provider tokens.
    case clockSkew = "clock skew"
    /// Sending was interrupted because APNs rejected many pushes for the same reason.
    case circuitOpened = "circuit opened"
    /// An attempt to send a push has ended.
    case push = "push"
    /// APNs has refused a push for now, and the relay sends it again later.
    case pushPostponed = "push postponed"
    /// APNs does not answer the pushes of a lane.
    case noAnswer = "no answer from APNs"
    /// APNs answers the pushes of a lane again.
    case answersAgain = "APNs answers again"
    /// A lane does not send, except for single attempts.
    case laneDown = "lane down"
    /// A lane that was down sends again, or has no waiting pushes any more.
    case laneRecovered = "lane recovered"
    /// An operator has paused a lane.
    case lanePaused = "lane paused"
    /// An operator has resumed a lane.
    case laneResumed = "lane resumed"

    // MARK: Reports

    /// A webhook has not accepted a report.
    case webhookFailed = "webhook failed"
    /// A collector has not accepted an export.
    case exportFailed = "telemetry export failed"
    /// A collector has rejected a part of an export.
    case exportPartlyRejected = "telemetry partly rejected"
}
