internal import APNs

/// Which values of a Live Activity stand where, as a user tells it: texts with paths in them, and no programs.
struct PreviewTemplate: Sendable, Hashable {
    /// Bytes of one text, and names of one path.
    static let textLimit = 500
    static let pathLimit = 16

    /// What may be laid out, and its places.
    static let slots: [(surface: String, places: [String])] = [
        ("lock", ["title", "subtitle", "trailing", "bottom", "progress"]),
        (
            "island",
            ["leading", "trailing", "center", "bottom", "progress", "compact-leading", "compact-trailing", "minimal"]
        ),
        ("widget", ["title", "subtitle", "trailing", "progress"]),
        ("accessory", ["title", "text", "progress"]),
    ]

    /// The template as it was given.
    let json: JSONValue

    /// A template from JSON: an object for each surface, with a text for each place.
    ///
    /// - Throws: ``PreviewTemplateError`` that names the first place which is wrong.
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

    /// The rule that a text breaks; nil when it is good.
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

/// Why a template cannot be used.
struct PreviewTemplateError: Error, Hashable, CustomStringConvertible {
    /// What a template has to keep to.
    enum Rule: Hashable {
        /// Surfaces are objects with names that are known.
        case surfaces
        /// A surface has places with names that are known.
        case places([String])
        /// A place has a text.
        case text
        /// A text is not too long.
        case length
        /// What begins with `{{` ends with `}}`.
        case unclosed
        /// A path is names with points between them.
        case path(String)
    }

    /// The surface, or the surface and the place in it; empty for the whole.
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
            "a template is an object of " + PreviewTemplate.slots.map(\.surface).joined(separator: ", ")
        case .places(let places): "here can be " + places.joined(separator: ", ")
        case .text: "has to be a text, as in \"{{driver.name}}\""
        case .length: "is longer than \(PreviewTemplate.textLimit) bytes"
        case .unclosed: "{{ has no }}"
        case .path(let path):
            "{{\(path)}} is no path: names with points between them, \(PreviewTemplate.pathLimit) at most, as in"
                + " {{driver.name}} or {{stops.0}}"
        }
    }
}
