// SPDX-License-Identifier: Apache-2.0

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
    /// - Throws: ``SimulatorError`` that names the first invalid place.
    init(json: JSONValue) throws(SimulatorError) {
        let surfaces = json.members ?? []
        func unknown(_ place: String, _ kind: String, _ names: [String]) -> SimulatorError {
            SimulatorError("\(ShownValue(place)): a \(kind) must be an object of " + names.joined(separator: ", "))
        }
        let known = PreviewTemplate.slots.map(\.surface)
        guard !surfaces.isEmpty else { throw unknown("the template", "template", known) }
        for surface in surfaces {
            guard let places = PreviewTemplate.slots.first(where: { $0.surface == surface.name })?.places else {
                throw unknown(surface.name, "template", known)
            }
            guard let texts = surface.value.members, !texts.isEmpty else {
                throw unknown(surface.name, "surface", places)
            }
            for text in texts {
                let slot = "\(surface.name).\(ShownValue(text.name))"
                guard places.contains(text.name) else { throw unknown(slot, "surface", places) }
                guard let text = text.value.stringValue else {
                    throw SimulatorError("\(slot): must be a string, as in \"{{driver.name}}\"")
                }
                if let rule = PreviewTemplate.broken(by: text) { throw SimulatorError("\(slot): \(rule)") }
            }
        }
        self.json = json
    }

    /// Returns whether a content state has a value for each path of the template outside the attributes.
    func fits(_ contentState: JSONValue?) -> Bool {
        let texts = (json.members ?? []).flatMap { $0.value.members ?? [] }.compactMap(\.value.stringValue)
        return texts.flatMap(PreviewTemplate.paths).allSatisfy { path in
            path.first == "attributes" || path.reduce(contentState) { PreviewTemplate.member($1, of: $0) } != nil
        }
    }

    /// Returns the paths in a valid string, each as names.
    private static func paths(in text: String) -> [[String]] {
        text.split(separator: "{{", omittingEmptySubsequences: false).dropFirst().compactMap { piece in
            piece.firstRange(of: "}}").map { end in
                piece[..<end.lowerBound].split(separator: ".").map(String.init)
            }
        }
    }

    /// Returns the member of an object, or the element of an array, with a name.
    private static func member(_ name: String, of value: JSONValue?) -> JSONValue? {
        guard let elements = value?.elements else { return value?[name] }
        guard let index = Int(name), elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// Returns the rule that a string breaks; nil when it is valid.
    private static func broken(by text: String) -> String? {
        guard text.utf8.count <= textLimit else { return "is longer than \(textLimit) bytes" }
        for piece in text.split(separator: "{{", omittingEmptySubsequences: false).dropFirst() {
            guard let end = piece.firstRange(of: "}}") else { return "{{ is not closed by }}" }
            let names = piece[..<end.lowerBound].split(separator: ".", omittingEmptySubsequences: false)
            guard names.count <= pathLimit, names.allSatisfy({ !$0.isEmpty && !$0.contains("{") && !$0.contains("}") })
            else {
                let path = ShownValue(String(piece[..<end.lowerBound]))
                return
                    "{{\(path)}} must be a path of at most \(pathLimit) names separated by periods, as in"
                    + " {{driver.name}} or {{stops.0}}"
            }
        }
        return nil
    }
}
