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
