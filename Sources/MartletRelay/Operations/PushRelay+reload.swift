internal import Martlet
internal import MartletCore
internal import MartletOutbox
internal import MartletServer
internal import MartletTransport

/// Reloading of the configuration.
extension PushRelay {
    /// Applies another configuration without interrupting anything.
    ///
    /// Callers, apps, their keys, rates and connections, the certificate, times and the log level change. A removed app
    /// accepts no more pushes; its waiting pushes are still sent. Addresses and storage change only with a restart.
    ///
    /// - Parameter new: The configuration.
    /// - Throws: ``RelayError``; the previous configuration stays in use then.
    package func reload(_ new: RelayConfiguration) async throws(RelayError) {
        do throws(RelayError) {
            try await replaceConfiguration(with: new)
        } catch {
            noteFailedReload()
            throw error
        }
        reloads.note(succeeds: true, at: now)
    }

    /// Notes that a new configuration could not be read or applied.
    package func noteFailedReload() {
        reloads.note(succeeds: false, at: now)
    }

    private func replaceConfiguration(with new: RelayConfiguration) async throws(RelayError) {
        try new.check()
        let callers = try Callers(new)
        let clients = try freshClients(for: new)
        let tls = try otherTLS(new)
        for name in new.changesForRestart(since: configuration) {
            log.warning("a setting changes only when the relay is started anew", ["setting": .string(name)])
        }
        let old = configuration
        configuration = new.keepingUnchangeable(from: old)
        self.callers = callers
        let revoked = RevokedAccess(from: old, to: new)
        for loss in revoked.losses {
            log.info(
                "access revoked",
                [
                    "caller": .string(loss.caller), "scope": .string(loss.scope.rawValue),
                    "apps": .array(loss.apps.sorted().map(JSONValue.string)),
                ]
            )
        }
        // A caller that lost a right receives no more events and no outcomes that it waits for.
        events.finish { caller, apps in !apps.isDisjoint(with: revoked.apps(of: caller, for: .read)) }
        let remaining = callers.appsByCaller
        waiters.giveUpAll { remaining[$0] == nil }
        counts.callers.forgetAll(but: Set(remaining.keys))
        if let tls { for listener in listeners { listener.use(tls) } }
        forgetCallers(haveAuthoritiesChanged: old.clientAuthorities != new.clientAuthorities)
        await replaceKeys(of: old, but: Set(clients.keys))
        open(clients, configuration)
        log.info(
            "the configuration was read anew",
            ["apps": .whole(new.apps.count), "callers": .whole(new.callers.count)]
        )
        log = log.at(new.logLevel)
        logExpiry()
        carryOutSoon()
    }

    /// Creates clients for the lanes whose current client cannot be used with a configuration.
    func freshClients(for configuration: RelayConfiguration) throws(RelayError) -> [Lane: LaneClient] {
        var fresh: [Lane: LaneClient] = [:]
        for app in configuration.apps {
            for environment in app.environments {
                let lane = Lane(app: app.name, environment: environment)
                if let client = clients[lane], client.maySign(with: app.key) { continue }
                fresh[lane] = try LaneClient(
                    for: app,
                    at: self.configuration.endpoints[environment] ?? environment.apple,
                    mint: shared.map { FleetMint(app.key, sharing: $0, clock: clock, log: log) }
                )
            }
        }
        return fresh
    }

    /// Uses these clients, and opens the lanes of a configuration.
    func open(_ fresh: [Lane: LaneClient], _ configuration: RelayConfiguration) {
        for (lane, client) in fresh {
            follow(client, of: lane)
            if let old = clients.updateValue(client, forKey: lane) { Task { await old.close() } }
            machine.tryAgain(lane, at: now)
        }
        for app in configuration.apps {
            for environment in app.environments {
                machine.add(Lane(app: app.name, environment: environment), at: now)
            }
        }
        shareLimits()
        openLanes = configuration.lanes
    }

    /// Replaces the keys of clients whose app's signing key has changed, except for some lanes.
    private func replaceKeys(of old: RelayConfiguration, but fresh: Set<Lane>) async {
        for app in configuration.apps {
            if let before = old.apps.first(where: { $0.name == app.name })?.key, before.isSame(as: app.key) { continue }
            for environment in app.environments {
                let lane = Lane(app: app.name, environment: environment)
                guard !fresh.contains(lane), let client = clients[lane] else { continue }
                do throws(APNsError) {
                    try await client.client.replaceKey(with: app.key)
                    machine.tryAgain(lane, at: now)
                } catch {
                    log.error("a key cannot be replaced", ["app": .string(app.name), "error": .string("\(error)")])
                }
            }
        }
    }

    /// Returns the new TLS settings; nil for listeners without TLS.
    private func otherTLS(_ new: RelayConfiguration) throws(RelayError) -> TLSContext? {
        configuration.identity == nil ? nil : try new.serverTLS()
    }
}
