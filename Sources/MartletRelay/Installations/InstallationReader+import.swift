// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox
internal import MartletTransport

extension InstallationReader {
    /// The members of a listed installation that an import ignores, because the relay sets them.
    static let ignoredMembers = ["created-at", "changed-at", "seen-at"]

    /// Reads a line of an import; the problem of a line that is not valid has status 400.
    func importedInstallation(onLine line: [UInt8], at now: Int64) -> Result<Installation, APIProblem> {
        Result { () throws(APIProblem) in
            let row = Field(try BatchLines.json(of: LongRequests.parse(line)), named: "")
            do throws(InstallationError) {
                return try importedInstallation(row, at: now)
            } catch {
                throw APIProblem(error)
            }
        }
    }

    /// Reads an installation that a back end imports.
    ///
    /// Without `id`, the app, the environment and the device token determine the identifier, so that a repeated import
    /// finds the installation.
    ///
    /// - Parameters:
    ///   - row: The installation.
    ///   - now: The time in milliseconds since 1970.
    /// - Returns: The installation.
    /// - Throws: ``InstallationError`` that names the member, its value and the rule.
    func importedInstallation(_ row: Field, at now: Int64) throws(InstallationError) -> Installation {
        let change = try change(of: row, by: .backEnd, besides: ["app", "id", "user"] + Self.ignoredMembers)
        if let field = row["app"].ifPresent, field.value != .null, field.value?.stringValue != app.name {
            throw field.mismatch("\(app.name), the app in the path")
        }
        let environment = change.environment ?? defaultEnvironment
        var installation = Installation(
            id: try identifier(of: row, change, environment),
            app: app.name,
            user: try TextRule.user.text(of: row["user"]),
            environment: environment,
            bundleID: change.bundleID ?? app.bundleIDs[0],
            at: now
        )
        try Self.apply(change, to: &installation, at: now, by: .app)
        guard !installation.tokens.isEmpty else { throw row["tokens"].error("must have at least one token") }
        return installation
    }

    /// The environment of an installation that names none: production, unless the app is configured without it.
    private var defaultEnvironment: PushEnvironment {
        app.environments.contains(.production) ? .production : .development
    }

    private func identifier(
        of row: Field,
        _ change: InstallationChange,
        _ environment: PushEnvironment
    ) throws(InstallationError) -> InstallationID {
        if let field = row["id"].ifPresent, field.value != .null {
            guard let id = field.value?.stringValue.flatMap({ InstallationID($0) }) else {
                throw field.mismatch("a UUID in lower case")
            }
            return id
        }
        guard case let token?? = change.tokens[Installation.TokenSlot(.device)] else {
            throw row["tokens"]["device"].mismatch("a device token, unless id is given")
        }
        return try derivedIdentifier(environment, token)
    }

    /// Returns the identifier that the app, an environment and a device token determine.
    func derivedIdentifier(
        _ environment: PushEnvironment,
        _ token: DeviceToken
    ) throws(InstallationError) -> InstallationID {
        let text = [app.name, environment.rawValue, token.hex].joined(separator: "\u{1F}")
        do throws(CryptographyError) {
            return InstallationID(hash: try SHA256.hash(Array(text.utf8)))
        } catch {
            throw InstallationError(.unavailable, "the identifier cannot be created: \(error)", retryAfter: 5)
        }
    }
}
