// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The end of the process of this relay that ran before.
///
/// A relay stores at intervals that it runs, and the time of its shutdown as a negative number. Times are milliseconds
/// since 1970.
struct EarlierEnd: Sendable, Hashable {
    /// The time for which an end without a shutdown is a warning, in milliseconds.
    private static let warningTime: Int64 = 600_000

    /// The time at which the earlier process was last known to run.
    let lastSeen: Int64
    /// Whether it was shut down.
    let isInOrder: Bool
    /// The number of pushes that it may have sent without storing the result; nil if it is not known.
    let possiblySent: Int?
    /// The start of this process.
    let startedAt: Int64
    /// Whether accepted pushes survive a loss of power.
    let isDurable: Bool

    /// Creates the end from the stored time; nil when none is stored, as at the first start.
    init?(stored: Int64, possiblySent: Int?, startedAt: Int64, isDurable: Bool) {
        guard stored != 0 else { return nil }
        lastSeen = min(Int64(clamping: stored.magnitude), startedAt)
        isInOrder = stored < 0
        self.possiblySent = possiblySent
        self.startedAt = startedAt
        self.isDurable = isDurable
    }

    /// Returns the value to store while the relay runs, or when it is shut down.
    static func stored(at now: Int64, isShutdown: Bool) -> Int64 { isShutdown ? -now : now }

    /// Returns the incident about the end for an hour after the start; nil for a shutdown after which no push is sent
    /// twice.
    func incident(_ apps: [String], at now: Int64) -> Incident? {
        guard (0..<StatusSummary.pastTime).contains(now - startedAt), !isInOrder || possiblySent ?? 0 > 0 else {
            return nil
        }
        let (last, start) = (StatusText.time(lastSeen, at: now), StatusText.time(startedAt, at: now))
        let resent =
            switch possiblySent {
            case 0?: "No push was in flight."
            case let count?: "Up to \(count.counted("push")) may have been in flight, and may arrive twice."
            case nil: "Pushes that were in flight may arrive twice."
            }
        return Incident(
            kind: .uncleanEnd,
            severity: !isInOrder && now - startedAt < EarlierEnd.warningTime ? .warning : .notice,
            title: "This relay "
                + (isInOrder ? "was shut down before Apple had answered all pushes" : "ended without a shutdown"),
            apps: apps,
            effect: "It last ran at \(last), and was started again at \(start), at most"
                + " \(StatusText.exactDuration(startedAt - lastSeen)) later. Accepted pushes were kept"
                + (isDurable ? ". " : ", unless the machine lost power. ") + resent,
            action: isInOrder
                ? "Give it more time for a shutdown." : "Find the cause in the log of the service and with dmesg."
        )
    }
}
