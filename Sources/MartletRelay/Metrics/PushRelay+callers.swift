internal import MartletCore

/// Metrics of callers, of the configuration and of webhooks.
extension PushRelay {
    /// Adds the requests of callers whose apps are all among these, and those of unknown clients.
    func addCallers(to sheet: inout MetricSheet, _ apps: Set<String>) {
        let names = callers.appsByCaller.filter { $0.value.isSubset(of: apps) }.keys.sorted() + [CallerCounts.other]
        sheet.family(
            "martlet_relay_caller_requests_total",
            .counter,
            "Requests of a caller by their outcome; those of unknown clients and former callers as other."
        )
        for name in names {
            for outcome in CallerCounts.Outcome.allCases {
                let count = counts.callers.requests(of: name, outcome)
                sheet.add(["caller": name, "outcome": outcome.rawValue], count)
            }
        }
        sheet.family(
            "martlet_relay_caller_shed_total",
            .counter,
            "Pushes of a caller that were refused because too much comes in."
        )
        for name in names { sheet.add(["caller": name], counts.callers.shed(of: name)) }
        sheet.family(
            "martlet_relay_caller_not_stored_total",
            .counter,
            "Pushes of a caller that were refused because the disk or the database failed."
        )
        for name in names { sheet.add(["caller": name], counts.callers.notStored(of: name)) }
        sheet.family(
            "martlet_relay_caller_waiting",
            .gauge,
            "Requests of a caller that wait for the outcome of a push."
        )
        for name in names { sheet.add(["caller": name], waiters.count(of: name)) }
    }

    /// Adds the reloads of the configuration and the expiry of its certificates.
    func addConfiguration(to sheet: inout MetricSheet) {
        sheet.family(
            "martlet_relay_configuration_reloads_total",
            .counter,
            "Times that the configuration was read again, by whether it could be used."
        )
        sheet.add(["result": "ok"], reloads.succeeded)
        sheet.add(["result": "failed"], reloads.failed)
        sheet.single(
            "martlet_relay_configuration_last_reload_successful",
            .gauge,
            "Whether the configuration could be used when it was read the last time.",
            reloads.didLastFail ? 0 : 1
        )
        sheet.family(
            "martlet_relay_configuration_last_success_timestamp_seconds",
            .gauge,
            "The time at which the configuration in use was read, in seconds since 1970."
        )
        sheet.add([:], Double(reloads.lastSuccess) / 1_000)
        sheet.family(
            "martlet_relay_certificate_expiry_timestamp_seconds",
            .gauge,
            "The time at which the first certificate of a setting expires, in seconds since 1970."
        )
        for (setting, expiry) in configuration.certificateExpiries { sheet.add(["setting": setting], expiry) }
    }

    /// Adds the reports to the webhooks of some apps.
    func addWebhooks(to sheet: inout MetricSheet, _ apps: Set<String>) {
        sheet.family(
            "martlet_relay_webhook_reports_total",
            .counter,
            "Reports to the webhook of an app, by whether it accepted them."
        )
        for app in configuration.apps where app.webhook != nil && apps.contains(app.name) {
            let count = counts.webhooks[app.name] ?? (succeeded: 0, failed: 0)
            sheet.add(["app": app.name, "result": "ok"], count.succeeded)
            sheet.add(["app": app.name, "result": "failed"], count.failed)
        }
    }
}
