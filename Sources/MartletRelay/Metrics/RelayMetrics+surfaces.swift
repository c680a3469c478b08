// SPDX-License-Identifier: Apache-2.0

internal import LiveSurfaces
internal import MartletCore

/// Metrics of surfaces.
extension RelayMetrics {
    /// Adds the surfaces of some apps, which the relay that leads brings to phones; their pushes are among those of the
    /// lanes.
    func addSurfaces(to sheet: inout MetricSheet) {
        let (surfaces, now) = (snapshot.surfaces, snapshot.now)
        sheet.gauge("surfaces", "Surfaces that are not withdrawn, on the relay that leads.")
        for app in apps.sorted() { sheet.add(["app": app], surfaces.surfaces[app] ?? 0) }
        sheet.gauge(
            "surfaces_spreading",
            "Surfaces whose last change has not reached all installations of their audience, on the relay that leads."
        )
        for app in apps.sorted() { sheet.add(["app": app], surfaces.spreading[app]?.count ?? 0) }
        sheet.gauge("surfaces_oldest_spreading_seconds", "Time since the oldest of these changes; 0 without one.")
        for app in apps.sorted() {
            let since = surfaces.spreading[app]?.since ?? now
            sheet.add(["app": app], Double(max(0, now - since)) / 1_000)
        }
        let families = [
            ("surface_pages_total", "Pages of installations that were stored for surfaces.", surfaces.pages),
            ("surface_steps_total", "Steps of surfaces on installations that were stored.", surfaces.steps),
            ("surface_pushes_total", "Pushes that were stored for surfaces.", surfaces.pushes),
            (
                "surface_problems_total",
                "Pushes of surfaces that could not be built, refused broadcasts, and steps that could not be decided.",
                surfaces.problems
            ),
        ]
        for (name, help, values) in families {
            sheet.counter(name, help)
            for app in apps.sorted() { sheet.add(["app": app], values[app] ?? 0) }
        }
        sheet.histogram(
            "surface_staleness_seconds",
            "Time from a change of a surface until Apple accepted its update, for phones without a report meanwhile."
        )
        for (kind, times) in surfaces.staleness where apps.contains(kind.app) {
            sheet.add(["app": kind.app, "kind": kind.kind.rawValue], times)
        }
        sheet.gauge("surface_longest_staleness_seconds", "The longest of these times in the last five minutes, or 0.")
        for app in apps.sorted() {
            let longest = surfaces.recent[app]?.recent(at: now)?.longest ?? 0
            sheet.add(["app": app], Double(longest) / 1_000)
        }
    }
}
