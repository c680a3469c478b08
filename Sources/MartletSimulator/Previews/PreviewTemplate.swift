internal import MartletCore

/// A user-defined layout of a Live Activity's values: strings that contain paths, without code.
struct PreviewTemplate: Sendable, Hashable {
    /// The maximum number of bytes of a string, and of names in a path.
    static let textLimit = 500
    static let pathLimit = 16

    /// The surfaces that a template can lay out, with the places of each.
    static let slots: [(surface: String, places: [String])] = [
        ("lock", ["title", "subtitle", "trailing", "bottom", "progress"]),
        (
            "island",
            ["leading", "trailing", "center", "bottom", "progress", "compact-leading", "compact-trailing", "minimal"]
        ),
        ("widget", ["title", "subtitle", "trailing", "progress"]),
        ("accessory", ["title", "text", "progress"]),
    ]

    /// The template as it was passed to the initializer.
    let json: JSONValue

    /// Creates a template from JSON: an object for each surface, with a string for each place.
    ///
    /// - Throws: ``PreviewTemplateError`` that names the first invalid place.
    init(json: JSONValue) throws(PreviewTemplateError) {
        let surfaces = json.members ?? []
        guard !surfaces.isEmpty else { throw PreviewTemplateError("", .surfaces) }
        for surface in surfaces {
            guard let places = PreviewTemplate.slots.first(where: { $0.surface == surface.name })?.places else {
                throw PreviewTemplateError(surface.name, .surfaces)
            }
            guard let texts = surface.value.members, !texts.isEmpty else {
                throw PreviewTemplateError(surface.name, .places(places))
            }
            for text in texts {
                let slot = "\(surface.name).\(text.name)"
                guard places.contains(text.name) else { throw PreviewTemplateError(slot, .places(places)) }
                guard let text = text.value.stringValue else { throw PreviewTemplateError(slot, .text) }
                if let rule = PreviewTemplate.broken(by: text) { throw PreviewTemplateError(slot, rule) }
            }
        }
        self.json = json
    }

    /// Returns the rule that a string breaks; nil when it is valid.
    private static func broken(by text: String) -> PreviewTemplateError.Rule? {
        guard text.utf8.count <= textLimit else { return .length }
        for piece in text.split(separator: "{{", omittingEmptySubsequences: false).dropFirst() {
            guard let end = piece.firstRange(of: "}}") else { return .unclosed }
            let names = piece[..<end.lowerBound].split(separator: ".", omittingEmptySubsequences: false)
            guard names.count <= pathLimit, names.allSatisfy({ !$0.isEmpty && !$0.contains("{") && !$0.contains("}") })
            else { return .path(String(piece[..<end.lowerBound])) }
        }
        return nil
    }
}

/// The reason that a template cannot be used.
struct PreviewTemplateError: Error, Hashable, CustomStringConvertible {
    /// A rule for templates.
    enum Rule: Hashable {
        /// Surfaces must be objects with known names.
        case surfaces
        /// A surface must have places with known names.
        case places([String])
        /// A place must have a string.
        case text
        /// A string must not be too long.
        case length
        /// `{{` must be closed by `}}`.
        case unclosed
        /// A path must consist of names separated by periods.
        case path(String)
    }

    /// The surface, or the surface and the place in it; empty for the whole template.
    let slot: String
    let rule: Rule

    init(_ slot: String, _ rule: Rule) {
        self.slot = slot
        self.rule = rule
    }

    /// The place and the rule.
    var description: String { (slot.isEmpty ? "the template" : slot) + ": " + explanation }

    private var explanation: String {
        switch rule {
        case .surfaces:
            "a template must be an object of " + PreviewTemplate.slots.map(\.surface).joined(separator: ", ")
        case .places(let places): "a surface must be an object of " + places.joined(separator: ", ")
        case .text: "must be a string, as in \"{{driver.name}}\""
        case .length: "is longer than \(PreviewTemplate.textLimit) bytes"
        case .unclosed: "{{ is not closed by }}"
        case .path(let path):
            "{{\(path)}} must be a path of at most \(PreviewTemplate.pathLimit) names separated by periods, as in"
                + " {{driver.name}} or {{stops.0}}"
        }
    }
}
