// SPDX-License-Identifier: Apache-2.0

package import MartletCore

/// An app on a phone that has enrolled or was imported: its user, its push tokens, and what it reports about the phone.
///
/// An installation has one user as long as it exists. Another user of the same phone enrolls again, which creates
/// another installation. Only an installation that a back end has imported, and whose app has not enrolled, can get
/// another user, by another import.
package struct Installation: Sendable, Hashable {
    /// The kinds of push tokens.
    package enum TokenKind: String, Sendable, Hashable, CaseIterable {
        /// The token for alerts and background pushes.
        case device
        /// A token that starts Live Activities; its name is the type of their attributes.
        case start
        /// The token of one Live Activity; its name is the identifier of the activity, which is one of
        /// ``Installation/activities``.
        case activity
        /// The token for widgets.
        case widgets
        /// The token of a control; its name is the kind of the control.
        case control

        /// Whether an installation has several tokens of this kind, each with a name.
        package var hasNames: Bool {
            switch self {
            case .device, .widgets: false
            case .start, .activity, .control: true
            }
        }

        /// The maximum number of tokens of this kind that an installation may have, for ``activity`` the maximum number
        /// of activities that run.
        package var limit: Int {
            switch self {
            case .device, .widgets: 1
            case .start, .activity: 16
            case .control: 32
            }
        }
    }

    /// The place of a token in an installation.
    package struct TokenSlot: Sendable, Hashable {
        package var kind: TokenKind
        /// The name of the token among those of its kind; empty for a kind without names.
        package var name: String

        /// Creates a slot, by default without a name.
        package init(_ kind: TokenKind, _ name: String = "") {
            self.kind = kind
            self.name = name
        }
    }

    /// A token with the time of its registration.
    package struct RegisteredToken: Sendable, Hashable {
        package var token: DeviceToken
        /// The time when the app reported the token last, in milliseconds since 1970.
        package var registeredAt: Int64

        /// Creates a registered token.
        package init(_ token: DeviceToken, registeredAt: Int64) {
            self.token = token
            self.registeredAt = registeredAt
        }
    }

    /// The texts that an app may report about itself and its phone.
    package enum Attribute: String, Sendable, Hashable, CaseIterable {
        /// The user's language and region, such as `de-CH` (BCP 47).
        case locale
        /// The time zone of the IANA database, such as `Europe/Zurich`.
        case timeZone = "time-zone"
        case appVersion = "app-version"
        case systemVersion = "system-version"
        /// The model of the phone, such as `iPhone17,1`.
        case model
    }

    /// The permissions of the user that an app may report.
    package enum Permission: String, Sendable, Hashable, CaseIterable {
        case alerts
        case liveActivities = "live-activities"
        /// More frequent updates of Live Activities.
        case frequentUpdates = "frequent-updates"
    }

    package var id: InstallationID
    package var app: String
    /// The back end's identifier of the user, compared byte by byte.
    package var user: String
    /// The environment that all tokens belong to.
    package var environment: PushEnvironment
    package var bundleID: String
    package var tokens: [TokenSlot: RegisteredToken] = [:]
    /// The Live Activities that the app has reported, by their identifiers.
    package var activities: [String: Activity] = [:]
    package var attributes: [Attribute: String] = [:]
    /// The permissions that the app has reported.
    package var permissions: [Permission: Bool] = [:]
    package var tags: Set<String> = []
    /// The times in milliseconds since 1970.
    package var createdAt: Int64
    /// The time of the last change of anything but the times of registrations and ``seenAt``.
    package var changedAt: Int64
    /// The time of the app's last report.
    package var seenAt: Int64

    /// Creates an installation without tokens, activities, attributes, permissions and tags.
    package init(
        id: InstallationID,
        app: String,
        user: String,
        environment: PushEnvironment,
        bundleID: String,
        at now: Int64
    ) {
        self.id = id
        self.app = app
        self.user = user
        self.environment = environment
        self.bundleID = bundleID
        createdAt = now
        changedAt = now
        seenAt = now
    }
}

extension Installation {
    /// The maximum of ``byteCount``: that of an app with all tokens that it may have, of usual length.
    package static let byteLimit = 16_384

    /// The number of bytes of the tokens, as digits, and their names, and of the activities and their surfaces.
    package var byteCount: Int {
        tokens.reduce(0) { $0 + $1.key.name.utf8.count + $1.value.token.hex.utf8.count }
            + activities.reduce(0) { $0 + $1.key.utf8.count + $1.value.surface.utf8.count }
    }

    /// The maximum number of bytes of a tag.
    package static let tagByteLimit = 120
    /// The characters of tags besides ASCII letters and digits.
    package static let tagSymbols = "_-.:@"

    /// Returns whether a text is a tag.
    static func isTag(_ text: String) -> Bool {
        (1...tagByteLimit).contains(text.utf8.count) && text.unicodeScalars.allSatisfy(isInTag)
    }

    /// Returns whether a tag may contain a character.
    static func isInTag(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9": true
        default: tagSymbols.unicodeScalars.contains(scalar)
        }
    }
}

/// An installation as it is stored.
package struct StoredInstallation: Sendable, Hashable {
    /// The position in lists of installations; it increases with each enrollment.
    package var number: Int64
    /// The number of changes, by which a change notices that another one came first.
    package var revision: Int64
    package var installation: Installation

    /// Creates a stored installation.
    package init(number: Int64, revision: Int64, installation: Installation) {
        self.number = number
        self.revision = revision
        self.installation = installation
    }
}
