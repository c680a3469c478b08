// SPDX-License-Identifier: Apache-2.0

package import Martlet
internal import MartletCore
package import MartletOutbox

extension RelayConfiguration {
    /// An app for which pushes are sent.
    package struct App: Sendable {
        package var name: String
        package var bundleIDs: [String]
        /// The key that signs the app's provider tokens.
        package var key: SigningKey
        package var environments: [PushEnvironment]
        /// The maximum number of pushes per second in each environment; nil for as many as Apple accepts.
        package var rate: Int?
        /// The maximum number of connections to Apple in each environment, shared by all relays; nil for 4 a relay.
        package var connections: Int?
        package var webhook: Webhook?
        /// The hours in which alerts to users and installations wait; nil for none.
        var quietHours: QuietHours?
        /// The maximum number of alerts that a user gets on a day in UTC, from requests to people; nil for no limit.
        var alertsPerDay: Int?

        /// The environments to which the pushes of an app are sent unless its configuration names others.
        package static let defaultEnvironments = [PushEnvironment.production]

        /// Creates an app; by default its pushes are sent to production, as fast as Apple accepts them.
        package init(
            name: String,
            bundleIDs: [String],
            key: SigningKey,
            environments: [PushEnvironment] = defaultEnvironments,
            rate: Int? = nil,
            connections: Int? = nil
        ) {
            self.name = name
            self.bundleIDs = bundleIDs
            self.key = key
            self.environments = environments
            self.rate = rate
            self.connections = connections
        }
    }
}

extension RelayConfiguration.App: ConfigurationPart {
    private static let teamID = SettingKey("team-id", .identifier, .required, .reload).help("team of the signing key")
    private static let keyID = SettingKey("key-id", .identifier, .required, .reload).help("identifier of the key")
    private static let keyFile = SettingKey("key-file", .secretPath, .required, .reload)
        .help("signing key (`.p8`) from Apple's developer account")
    private static let webhook = SettingKey<Webhook>("webhook", .object, .none, .reload)
        .help("URL that unregistered tokens and ended jobs are reported to")
    private static let quietHours = SettingKey<QuietHours>("quiet-hours", .object, .none, .reload)
        .help("hours in which alerts to users and installations wait, on the clock of each phone")

    static let settings: [Setting<Self>] = [
        Setting(SettingKey("name", .text("letters, digits, `-`, `.`, `_`"), .required, .reload), \.name)
            .help("name of the app in the interface, in logs and metrics"),
        Setting(SettingKey("bundle-ids", .bundleIdentifiers, .required, .reload), \.bundleIDs)
            .help("bundle identifiers of the app, without suffixes; the first is the default of a push"),
        Setting(separate: teamID),
        Setting(separate: keyID),
        Setting(separate: keyFile),
        Setting(SettingKey("environments", .choices(), .value(defaultEnvironments), .reload), \.environments)
            .help("Apple's environments that the app is sent to; the first is the default of a push"),
        Setting(SettingKey("rate", .integer(1...1_000_000), .described("no limit"), .reload), \.rate)
            .help("maximum pushes per second in each environment, of all relays together"),
        Setting(SettingKey("connections", .integer(1...1_000), .described("4 per relay"), .reload), \.connections)
            .help("maximum connections to Apple in each environment, of all relays together"),
        Setting(separate: webhook),
        Setting(quietHours, \.quietHours),
        Setting(SettingKey("alerts-per-day", .integer(1...100), .described("no limit"), .reload), \.alertsPerDay)
            .help("maximum alerts to each user on a day in UTC, from pushes to users, installations and jobs"),
    ]

    init(_ object: ConfigurationField, _ places: ConfigurationDirectories) throws(RelayError) {
        let (keyID, teamID) = (try Self.keyID.value(in: object, places), try Self.teamID.value(in: object, places))
        let file = try Self.keyFile.value(in: object, places)
        do throws(APNsError) {
            let key = try SigningKey(file: file, keyID: keyID, teamID: teamID)
            self.init(name: "", bundleIDs: [], key: key)
        } catch {
            throw RelayError("\(object["key-file"].path): \(error)")
        }
        webhook = try Self.webhook.valueIfPresent(in: object, places)
        try Self.settings.read(object, places, into: &self)
    }
}
