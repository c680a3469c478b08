// SPDX-License-Identifier: Apache-2.0

internal import MartletOutbox

extension SurfaceStore {
    /// Reads the surfaces that the installation of an event shall show, and those that its phone shows nevertheless.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - expressions: The surfaces of the app whose audience is an expression.
    /// - Returns: The surfaces.
    /// - Throws: ``OutboxError`` when they cannot be read.
    func membership(
        of event: InstallationEvent,
        among expressions: [StoredSurface]
    ) async throws(OutboxError) -> SurfaceMembership {
        let installation = event.installation.installation
        let named = try await surfaces(for: installation.user, installation.id, of: installation.app)
        let surfaces = named + expressions.filter { $0.surface.audience.contains(installation) }
        var shown: [StoredSurface] = []
        for id in installation.shownSurfaces.subtracting(surfaces.map(\.surface.id)).sorted() {
            if let surface = try await surface(id, of: installation.app) { shown.append(surface) }
        }
        return SurfaceMembership(of: event, in: surfaces, showing: shown)
    }
}

extension Installation {
    /// The identifiers of the surfaces of which a push has started a Live Activity that runs and can be ended.
    ///
    /// One that the app has started is left to the app, which may know of a surface before the relay does.
    fileprivate var shownSurfaces: Set<String> {
        let shown = activities.filter { id, activity in
            activity.end == nil && activity.startedBy == .push && tokens[TokenSlot(.activity, id)] != nil
        }
        return Set(shown.values.map(\.surface))
    }
}
