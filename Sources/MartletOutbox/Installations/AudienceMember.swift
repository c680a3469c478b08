// SPDX-License-Identifier: Apache-2.0

package import MartletCore

/// The installations that a push goes to.
package enum Audience: Sendable, Hashable {
    /// Those of users, who are compared byte by byte.
    case users([String])
    case installation(InstallationID)

    /// The number of users, or 1 for an installation.
    package var count: Int {
        switch self {
        case .users(let users): users.count
        case .installation: 1
        }
    }
}

/// A search for the installations of an audience, with the slot of the token that a push needs.
package struct AudienceQuery: Sendable, Hashable {
    package var audience: Audience
    package var slot: Installation.TokenSlot

    /// Creates a search.
    package init(_ audience: Audience, _ slot: Installation.TokenSlot) {
        self.audience = audience
        self.slot = slot
    }
}

/// An installation of an audience, with the values that decide whether and how a push is sent to it.
package struct AudienceMember: Sendable, Hashable {
    /// The ``StoredInstallation/number`` of the installation.
    package var number: Int64
    package var installation: InstallationID
    package var user: String
    package var environment: PushEnvironment
    package var bundleID: String
    /// The permissions that the app has reported.
    package var permissions: [Installation.Permission: Bool]
    /// The token of the slot that the push needs; nil when the installation has none.
    package var token: DeviceToken?
    /// The locale that the app has reported; nil for none.
    package var locale: String?
    /// The name of the time zone that the app has reported, which may be an unknown one.
    package var timeZone: String?
    /// The version of the app that it has reported; nil for none.
    package var appVersion: String?
    /// The version of the system that the app has reported; nil for none.
    package var systemVersion: String?

    /// Creates a member of an audience.
    package init(
        number: Int64,
        installation: InstallationID,
        user: String,
        environment: PushEnvironment,
        bundleID: String,
        permissions: [Installation.Permission: Bool],
        token: DeviceToken?,
        locale: String?,
        timeZone: String?,
        appVersion: String?,
        systemVersion: String?
    ) {
        self.number = number
        self.installation = installation
        self.user = user
        self.environment = environment
        self.bundleID = bundleID
        self.permissions = permissions
        self.token = token
        self.locale = locale
        self.timeZone = timeZone
        self.appVersion = appVersion
        self.systemVersion = systemVersion
    }
}
