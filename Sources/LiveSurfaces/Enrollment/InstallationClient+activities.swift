// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The reports about Live Activities.
///
/// Source: "Starting and updating Live Activities with ActivityKit push notifications".
extension InstallationClient {
    /// Reports a Live Activity that has started, or that the app has found.
    ///
    /// A further report of the same activity can replace its surface, make its start earlier, and replace the starter
    /// ``ActivityStarter/push``, which is that of an activity that the app has found without having started it. The
    /// identifier of the activity in place of the surface replaces no surface. Do not report an activity that has
    /// ended: the report takes the end back.
    ///
    /// - Parameters:
    ///   - id: The identifier of the activity.
    ///   - surface: The identifier of the surface that it shows. The relay accepts 1 to 120 visible ASCII characters.
    ///   - start: The time of the start, or the time at which the app has found the activity.
    ///   - starter: The origin of the activity.
    public func reportActivity(
        _ id: String,
        of surface: String,
        startedAt start: Date,
        by starter: ActivityStarter
    ) {
        let time = start.millisecondsSince1970
        change { $0.reportActivity(id, of: surface, startedAt: time, by: starter) }
    }

    /// Reports the token of a Live Activity; one that is not 1 to 512 bytes, or belongs to an activity that was not
    /// reported, is ignored.
    ///
    /// Report a token each time the system provides it, even if it is the same.
    ///
    /// - Parameters:
    ///   - token: The bytes of the token.
    ///   - id: The identifier of the activity.
    public func report(_ token: some Sequence<UInt8>, forActivity id: String) {
        guard let token = try? DeviceToken(bytes: token) else { return }
        change { $0.setToken(token.hex, ofActivity: id) }
    }

    /// Reports the end of a Live Activity, and its cause.
    ///
    /// The first report about the end counts: call it before the app ends the activity, because the system also removes
    /// an activity from the screen that the app has ended. An end is reported until the relay has confirmed it.
    ///
    /// - Parameters:
    ///   - id: The identifier of the activity; one that was not reported is ignored.
    ///   - cause: The cause of the end.
    ///   - end: The time of the end.
    public func reportEnd(ofActivity id: String, by cause: ActivityEndCause, at end: Date) {
        let time = end.millisecondsSince1970
        change { $0.endActivity(id, by: cause, at: time) }
    }

    /// Reports the end of all other Live Activities, which have ended while the app did not run: by the system if they
    /// started eight hours before, otherwise by the user.
    ///
    /// An activity that the system lists only later is reported again, which takes its end back.
    ///
    /// - Parameters:
    ///   - ids: The identifiers of the Live Activities that exist.
    ///   - end: The time of the report, because the time of the end is not known.
    public func endActivities(except ids: Set<String>, at end: Date) {
        let time = end.millisecondsSince1970
        change { $0.endActivities(except: ids, at: time) }
    }

    /// Reports the end of a Live Activity whose cause follows from its state, unless the app has reported the end.
    ///
    /// - Parameters:
    ///   - id: The identifier of the activity.
    ///   - isDismissed: Whether it was removed from the screen without having ended before.
    ///   - end: The time of the end.
    func observeEnd(ofActivity id: String, isDismissed: Bool, at end: Date) {
        let time = end.millisecondsSince1970
        change { $0.endActivity(id, isDismissed: isDismissed, at: time) }
    }
}
