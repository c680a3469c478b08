// SPDX-License-Identifier: Apache-2.0

internal import LiveSurfaces
internal import MartletCore

/// Metrics of surfaces.
extension RelayMetrics {
    /// Adds the surfaces of some apps, which the relay that leads brings to phones; their pushes are among those of the
    /// lanes.
    func addSurfaces(to sheet: inout MetricSheet) {
        let surfaces = snapshot.surfaces
        sheet.gauge(
            "surfaces_spreading",
            "Surfaces whose last change has not reached all installations of their audience, on the relay that leads."
        )
        for app in apps.sorted() { sheet.add(["app": app], surfaces.spreading[app] ?? 0) }
        let families = [
            ("surface_pages_total", "Pages of installations that were stored for surfaces.", surfaces.pages),
            ("surface_steps_total", "Steps of surfaces on installations that were stored.", surfaces.steps),
            ("surface_pushes_total", "Pushes that were stored for surfaces.", surfaces.pushes),
            (
                "surface_problems_total",
                "Pushes of surfaces that could not be built, and steps that could not be decided.",
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
    }
}
