internal import APNs
internal import LiveSurfaces

/// What previews need besides pushes: the apps' texts, templates of Live Activities, and what apps have stored.
///
/// It lives in memory and is bounded, as anybody may add to it.
struct PreviewMaterial: Sendable {
    /// Names a template: the app, and the type of its attributes.
    struct TemplateName: Hashable {
        let app: String
        let attributesType: String
    }

    /// Templates, and apps with surfaces, that are kept.
    static let templateLimit = 200
    static let surfaceLimit = 200

    var strings = LocalizedTables()
    private(set) var templates: [TemplateName: PreviewTemplate] = [:]
    /// What each app has stored, by kind.
    private(set) var surfaces: [String: [SurfaceKind: StoredSurface]] = [:]

    /// Puts a template in place of an older one.
    mutating func set(_ template: PreviewTemplate, _ name: TemplateName) throws(PreviewsFull) {
        guard templates[name] != nil || templates.count < PreviewMaterial.templateLimit else {
            throw PreviewsFull("there are \(templates.count) templates already: remove some first")
        }
        templates[name] = template
    }

    /// Forgets a template; false when there is none.
    mutating func removeTemplate(_ name: TemplateName) -> Bool {
        templates.removeValue(forKey: name) != nil
    }

    /// Puts what an app has stored in place of what it had.
    mutating func set(_ surface: StoredSurface, of app: String) throws(PreviewsFull) {
        guard surfaces[app] != nil || surfaces.count < PreviewMaterial.surfaceLimit else {
            throw PreviewsFull("\(surfaces.count) apps have surfaces already: remove some first")
        }
        surfaces[app, default: [:]][surface.kind] = surface
    }

    /// Forgets what an app has stored for a kind of surface; false when there is nothing.
    mutating func removeSurface(_ kind: SurfaceKind, of app: String) -> Bool {
        let hasBeen = surfaces[app]?.removeValue(forKey: kind) != nil
        if surfaces[app]?.isEmpty == true { surfaces[app] = nil }
        return hasBeen
    }

    /// The template for a Live Activity; without its type the only one that its app has.
    func template(of app: String, attributesType: String?) -> (name: TemplateName, PreviewTemplate)? {
        let own = templates.filter {
            $0.key.app == app && attributesType ?? $0.key.attributesType == $0.key.attributesType
        }
        guard own.count == 1, let found = own.first else { return nil }
        return (found.key, found.value)
    }
}

/// There is no room for more.
struct PreviewsFull: Error, CustomStringConvertible {
    /// What there is too much of, and what to do.
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
