// SPDX-License-Identifier: Apache-2.0

public import MartletCore

/// The receiver of a snapshot, and the event for it.
public enum SurfaceDestination: Sendable, Hashable {
    /// A device: a notification, or a Live Activity sent as an alert; any other kind as a silent push, which the app
    /// handles.
    case device(DeviceToken)
    /// A push-to-start token: starts a Live Activity.
    case activityStart(DeviceToken)
    /// A Live Activity's own token: updates the activity.
    case activity(DeviceToken)
    /// A Live Activity's own token: ends the activity with this snapshot as its last content.
    case activityEnd(DeviceToken, dismissal: LiveActivityUpdate.Dismissal = .immediate)
    /// All devices that are subscribed to a channel: updates their Live Activities.
    case channel(ChannelID)
    /// All devices that are subscribed to a channel: ends their Live Activities with this snapshot as the last content.
    case channelEnd(ChannelID, dismissal: LiveActivityUpdate.Dismissal = .immediate)

    /// Returns the event of a push and the Live Activity that receives it; nil when a device receives it.
    ///
    /// - Parameter app: The app's bundle identifier.
    /// - Returns: The event and the address of the activity.
    func activity(of app: Topic) -> (ActivityTimestamps.Event, ActivityTimestamps.Address)? {
        switch self {
        case .device: nil
        case .activityStart(let token): (.start, .token(token))
        case .activity(let token): (.update, .token(token))
        case .activityEnd(let token, _): (.end, .token(token))
        case .channel(let channel): (.update, .channel(channel, app: app))
        case .channelEnd(let channel, _): (.end, .channel(channel, app: app))
        }
    }

    /// A name of the event and the receiver, which distinguishes the pushes of a snapshot.
    var name: String {
        switch self {
        case .device(let token): "device \(token.hex)"
        case .activityStart(let token): "start \(token.hex)"
        case .activity(let token): "update \(token.hex)"
        case .activityEnd(let token, _): "end \(token.hex)"
        case .channel(let channel): "update \(channel.rawValue)"
        case .channelEnd(let channel, _): "end \(channel.rawValue)"
        }
    }
}
