#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// What a Live Activity is told while it runs, or as its last word: to one activity, or by broadcast to all that listen
/// on a channel.
///
/// Source: "Starting and updating Live Activities with ActivityKit push notifications".
public struct LiveActivityUpdate: Sendable, Hashable {
    /// When an activity that has ended leaves the Lock Screen.
    public enum Dismissal: Sendable, Hashable {
        /// As the system likes: after four hours at most.
        case bySystem
        /// At once.
        case immediately
        /// This long after the push was made, four hours at most.
        case after(Duration)
        /// At a time within four hours.
        case at(Date)
    }

    private enum Event: Sendable, Hashable {
        case update
        case end(Dismissal)
    }

    private let event: Event
    /// Whether the update ends the activity.
    package var isEnd: Bool { event != .update }
    private let contentState: [UInt8]?
    private let alert: LiveActivityAlert?
    private let staleDate: Date?
    private let relevanceScore: Double?

    /// New content for a running activity.
    ///
    /// - Parameters:
    ///   - state: The new content, encoded as the phone's default `JSONDecoder` expects it.
    ///   - alert: What a person reads and hears; nil to change the content quietly.
    ///   - staleDate: From when on the content counts as outdated.
    ///   - relevanceScore: Which of several activities is shown first: the one with the highest; any number.
    /// - Returns: The update.
    /// - Throws: ``PayloadError`` when the state does not encode to a JSON object.
    public static func update(
        _ state: some Encodable,
        alert: LiveActivityAlert? = nil,
        staleDate: Date? = nil,
        relevanceScore: Double? = nil
    ) throws(PayloadError) -> LiveActivityUpdate {
        LiveActivityUpdate(
            event: .update,
            contentState: try LiveActivityContent.encode(state, for: "content-state"),
            alert: alert,
            staleDate: staleDate,
            relevanceScore: relevanceScore
        )
    }

    /// The end of an activity, with its last content.
    ///
    /// - Parameters:
    ///   - state: The last content, which stays until the dismissal.
    ///   - dismissal: When the activity leaves the Lock Screen.
    ///   - alert: What a person reads and hears; nil for an end without a sound.
    /// - Returns: The update.
    /// - Throws: ``PayloadError`` when the state does not encode to a JSON object.
    public static func end(
        _ state: some Encodable,
        dismissal: Dismissal = .bySystem,
        alert: LiveActivityAlert? = nil
    ) throws(PayloadError) -> LiveActivityUpdate {
        LiveActivityUpdate(
            event: .end(dismissal),
            contentState: try LiveActivityContent.encode(state, for: "content-state"),
            alert: alert,
            staleDate: nil,
            relevanceScore: nil
        )
    }

    /// The end of an activity, which keeps the content it had.
    ///
    /// - Parameter dismissal: When the activity leaves the Lock Screen.
    /// - Returns: The update.
    public static func end(dismissal: Dismissal = .bySystem) -> LiveActivityUpdate {
        LiveActivityUpdate(
            event: .end(dismissal),
            contentState: nil,
            alert: nil,
            staleDate: nil,
            relevanceScore: nil
        )
    }

    /// The payload of a push made at this time.
    ///
    /// - Parameter timestamp: The time of the push, rounded down to a whole second. The phone ignores an update whose
    ///   timestamp is not later than that of the content it shows.
    /// - Returns: The payload.
    /// - Throws: ``PayloadError`` for a relevance score that is not a finite number, and for a date before 1970 or
    ///   later than JSON integers can represent.
    public func payload(timestamp: Date) throws(PayloadError) -> Payload {
        var object = JSONObjectWriter(capacity: 512 + (contentState?.count ?? 0))
        try object.write("aps") { (aps) throws(PayloadError) in
            try aps.write("timestamp", timestamp)
            aps.write("event", event == .update ? "update" : "end")
            aps.write("content-state", json: contentState)
            if let alert {
                try aps.write("alert") { (object) throws(PayloadError) in try alert.write(into: &object) }
            }
            try aps.write("stale-date", staleDate)
            if case .end(let dismissal) = event { try aps.write("dismissal-date", dismissal.date(from: timestamp)) }
            try aps.write("relevance-score", relevanceScore)
        }
        return Payload(opaque: object.finish())
    }
}

extension LiveActivityUpdate.Dismissal {
    /// A date that is in the past, however wrong the clocks are.
    private static let longAgo = Date(secondsSince1970: 1)

    /// The `dismissal-date` of a push made at this time; nil to leave it out.
    fileprivate func date(from timestamp: Date) -> Date? {
        switch self {
        case .bySystem: nil
        case .immediately: Self.longAgo
        case .after(let duration): timestamp + Double(max(0, duration.components.seconds))
        case .at(let date): date
        }
    }
}
