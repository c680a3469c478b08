// SPDX-License-Identifier: Apache-2.0

package import MartletCore

/// The destination of a push.
package enum PushDestination: Sendable, Hashable {
    /// An app on a device, or a Live Activity.
    case device(DeviceToken)
    /// All subscribers of a channel of the app with this bundle identifier.
    case channel(ChannelID, bundle: String)
}
