// SPDX-License-Identifier: Apache-2.0

internal import LiveSurfaces
internal import MartletCore

/// The data that previews need besides pushes: the apps' localized strings, templates of Live Activities, and stored
/// surfaces.
///
/// It is held in memory and limited, because every client of the inbox can add to it.
struct PreviewData: Sendable {
    /// The key of a template: the app, and the type of its attributes.
    struct TemplateName: Hashable {
        let app: String
        let attributesType: String
    }

    /// The maximum number of templates, and of apps with surfaces.
    static let templateLimit = 200
    static let surfaceLimit = 200

    var strings = LocalizedTables()
    private(set) var templates: [TemplateName: PreviewTemplate] = [:]
    /// The stored surfaces of each app, by kind.
    private(set) var surfaces: [String: [SurfaceKind: StoredSurface]] = [:]

    /// Sets a template, replacing an existing one.
    mutating func set(_ template: PreviewTemplate, _ name: TemplateName) throws(SimulatorError) {
        guard templates[name] != nil || templates.count < PreviewData.templateLimit else {
            throw SimulatorError("there are \(templates.count) templates already: remove some first")
        }
        templates[name] = template
    }

    /// Removes a template; returns false when there is none.
    mutating func removeTemplate(_ name: TemplateName) -> Bool {
        templates.removeValue(forKey: name) != nil
    }

    /// Sets the stored surface of an app for its kind, replacing an existing one.
    mutating func set(_ surface: StoredSurface, of app: String) throws(SimulatorError) {
        guard surfaces[app] != nil || surfaces.count < PreviewData.surfaceLimit else {
            throw SimulatorError("\(surfaces.count) apps have surfaces already: remove some first")
        }
        surfaces[app, default: [:]][surface.kind] = surface
    }

    /// Removes the stored surface of an app for a kind; returns false when there is none.
    mutating func removeSurface(_ kind: SurfaceKind, of app: String) -> Bool {
        let existed = surfaces[app]?.removeValue(forKey: kind) != nil
        if surfaces[app]?.isEmpty == true { surfaces[app] = nil }
        return existed
    }

    /// Returns the template for a Live Activity, and its type of attributes.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - attributesType: The type of the activity; nil when it is not known. Then the template is the only one of the
    ///     app whose values the content state has.
    ///   - contentState: The content state of the push; nil for none.
    /// - Returns: The template; nil for none.
    func template(
        of app: String,
        attributesType: String?,
        contentState: JSONValue?
    ) -> (attributesType: String, PreviewTemplate)? {
        if let type = attributesType {
            return templates[TemplateName(app: app, attributesType: type)].map { (attributesType: type, $0) }
        }
        let candidates = templates.filter { $0.key.app == app && $0.value.fits(contentState) }
        guard candidates.count == 1, let found = candidates.first else { return nil }
        return (found.key.attributesType, found.value)
    }
}
