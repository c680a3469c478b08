// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox
internal import MartletTransport

/// Metrics of callers, of the configuration, of webhooks and of jobs.
extension RelayMetrics {
    /// Adds the requests of callers whose apps are all among these, and those of unknown clients.
    func addCallers(to sheet: inout MetricSheet) {
        let names =
            snapshot.server.callers.appsByCaller.filter { $0.value.isSubset(of: apps) }.keys.sorted() + [
                CallerCounter.other
            ]
        sheet.counter(
            "caller_requests_total",
            "Requests of a caller by their outcome; those of unknown clients and former callers as other."
        )
        for name in names {
            for outcome in ServerCounts.Outcome.allCases {
                let count = snapshot.server.counts.requests(of: name, outcome)
                sheet.add(["caller": name, "outcome": outcome.rawValue], count)
            }
        }
        sheet.counter(
            "caller_shed_total",
            "Pushes of a caller that were refused because of overload or the limit of the outbox."
        )
        for name in names { sheet.add(["caller": name], snapshot.intake.counts.shed(of: name)) }
        sheet.counter(
            "caller_not_stored_total",
            "Pushes of a caller that were refused because the disk or the database failed."
        )
        for name in names { sheet.add(["caller": name], snapshot.intake.counts.notStored(of: name)) }
        sheet.gauge("caller_waiting", "Requests of a caller that wait for the outcome of a push.")
        for name in names { sheet.add(["caller": name], snapshot.intake.waiting[name] ?? 0) }
    }

    /// Adds the reloads of the configuration and the expiry of its certificates.
    func addConfiguration(to sheet: inout MetricSheet) {
        sheet.counter("configuration_reloads_total", "Reloads of the configuration by their result.")
        sheet.add(["result": "ok"], snapshot.reloads.succeeded)
        sheet.add(["result": "failed"], snapshot.reloads.failed)
        sheet.gauge(
            "configuration_last_reload_successful",
            "Whether the last reload of the configuration succeeded.",
            snapshot.reloads.rejection == nil ? 1 : 0
        )
        sheet.gauge(
            "configuration_last_success_timestamp_seconds",
            "The time at which the configuration in use was read, in seconds since 1970."
        )
        sheet.add([:], Double(snapshot.reloads.lastSuccess) / 1_000)
        sheet.gauge(
            "certificate_expiry_timestamp_seconds",
            "The time at which the first certificate of a setting expires, in seconds since 1970."
        )
        for (setting, expiry) in snapshot.context.configuration.certificateExpiries {
            sheet.add(["setting": setting], expiry)
        }
    }

    /// Adds the reports to the webhooks of some apps.
    func addWebhooks(to sheet: inout MetricSheet) {
        sheet.counter("webhook_reports_total", "Reports to the webhook of an app, by whether it accepted them.")
        for app in snapshot.context.configuration.apps where app.webhook != nil && apps.contains(app.name) {
            let count = snapshot.webhooks[app.name] ?? WebhookSender.Counts()
            sheet.add(["app": app.name, "result": "ok"], count.succeeded)
            sheet.add(["app": app.name, "result": "failed"], count.failed)
        }
    }

    /// Adds the jobs of some apps; their pushes are among those of the lanes.
    func addJobs(to sheet: inout MetricSheet) {
        let jobs = snapshot.jobs
        sheet.gauge(
            "jobs",
            "Jobs that are being expanded, or cancelled with pushes that have not ended, on the relay that leads."
        )
        for app in apps.sorted() {
            for state in [JobState.expanding, .cancelled] {
                sheet.add(["app": app, "state": state.rawValue], jobs.active[app]?[state] ?? 0)
            }
        }
        sheet.counter("job_pages_total", "Pages of pushes that were stored for jobs.")
        for app in apps.sorted() { sheet.add(["app": app], jobs.pages[app] ?? 0) }
        sheet.counter("job_left_out_total", "Installations of jobs without a push, by reason.")
        for app in apps.sorted() {
            for reason in LeftOutReason.allCases where reason != .noInstallation {
                sheet.add(["app": app, "reason": reason.rawValue], jobs.leftOut[app]?[reason] ?? 0)
            }
        }
    }

    /// Adds the credentials of callers whose apps are all among those of the metrics.
    func addCredentials(to sheet: inout MetricSheet) {
        sheet.counter(
            "unusual_provider_tokens_total",
            "Connections with a provider token of a form that Apple's documentation does not describe."
        )
        for deviation in ProviderTokenDeviation.allCases {
            sheet.add(["form": deviation.label], snapshot.server.counts.unusualTokens[deviation, default: 0])
        }
        sheet.gauge(
            "caller_expiry_timestamp_seconds",
            "The time from which on the key or certificate of a caller is refused, in seconds since 1970."
        )
        for caller in snapshot.context.configuration.callers where caller.apps.isSubset(of: apps) {
            guard let expiry = caller.expiresAt else { continue }
            sheet.add(["caller": caller.name], expiry.secondsSince1970)
        }
    }

    /// Adds the exports of spans; nothing if no spans are exported.
    func addTelemetry(to sheet: inout MetricSheet) {
        guard let spans = snapshot.context.spans else { return }
        let exports = snapshot.exports
        sheet.counter("telemetry_exports_total", "Exports to the collector by their result.")
        for (result, count) in exports.exports { sheet.add(["result": result], count) }
        sheet.counter("telemetry_spans_total", "Spans by the result of their export.")
        for (result, count) in [
            ("exported", exports.spansExported), ("rejected", exports.spansRejected), ("lost", exports.spansLost),
            ("dropped", spans.record { tracer, _ in tracer.dropped }),
        ] { sheet.add(["result": result], count) }
    }
}

extension ProviderTokenDeviation {
    fileprivate var label: String {
        switch self {
        case .textIssuedAt: "text-iat"
        case .fractionalIssuedAt: "fractional-iat"
        case .issuedAtNotation: "iat-notation"
        case .derSignature: "der-signature"
        case .es512Signature: "es512-signature"
        case .standardBase64: "standard-base64"
        case .paddedBase64: "padded-base64"
        }
    }
}
