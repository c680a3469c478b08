public import APNs

/// Where a snapshot is sent, and as what.
public enum SurfaceDestination: Sendable, Hashable {
    /// To a device: a notification, or a Live Activity told as one, as an alert; any other kind silently, for the app
    /// to put in place.
    case device(DeviceToken)
    /// To a push-to-start token: begins a Live Activity.
    case activityStart(DeviceToken)
    /// To a Live Activity's own token: changes it.
    case activity(DeviceToken)
    /// To a Live Activity's own token: ends it with this as its last content.
    case activityEnd(DeviceToken, dismissal: LiveActivityUpdate.Dismissal = .immediately)
    /// To everybody who listens on a channel: changes their Live Activities.
    case channel(ChannelID)
    /// To everybody who listens on a channel: ends their Live Activities with this as their last content.
    case channelEnd(ChannelID, dismissal: LiveActivityUpdate.Dismissal = .immediately)

    /// The activity that a push goes to, and what the push does; nil when it goes to a device.
    ///
    /// - Parameter app: The app's bundle identifier.
    /// - Returns: What the push does, and what receives it.
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

    /// What tells one push of a snapshot from another: what it does, and to whom.
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
