// SPDX-License-Identifier: Apache-2.0

extension PushLint.Rule {
    static let reloadWithoutContentChanged = PushLint.Rule("reload-without-content-changed", .error, .widgets)
        .when("a push to widgets or controls lacks content-changed")
    static let reloadWithContent = PushLint.Rule("reload-with-content", .warning, .widgets)
        .when("a push to widgets or controls carries more than content-changed")
}

/// The rules about pushes that reload widgets and controls ("Updating widgets with WidgetKit push notifications",
/// "Updating controls locally and remotely").
enum WidgetRules {
    static let all: [PushLint.Rule] = [.reloadWithoutContentChanged, .reloadWithContent]

    /// The maximum number of findings about ignored keys.
    private static let findingLimit = 5

    static func check(_ payload: JSONValue, _ aps: JSONValue, of push: PushFacts) -> [PushLint.Finding] {
        guard let type = push.type, type == .widgets || type == .controls else { return [] }
        let message = "without content-changed the phone reloads no \(type.rawValue)"
        let missing = PushLint.Finding(.reloadWithoutContentChanged, .payload("/aps"), message)
        return (aps["content-changed"] == nil ? [missing] : []) + extras(payload, aps, of: type)
    }

    private static func extras(_ payload: JSONValue, _ aps: JSONValue, of type: PushType) -> [PushLint.Finding] {
        // Unknown keys in aps already have findings.
        let known = Set(PayloadKey.aps.map(\.name)).subtracting(["content-changed"])
        let inside = (aps.members ?? []).map(\.name).filter(known.contains).map { ["aps", $0] }
        let beside = (payload.members ?? []).map(\.name).filter { $0 != "aps" }.map { [$0] }
        return (inside + beside).prefix(findingLimit).map { path in
            let name = ShownValue(path.last ?? "")
            let message =
                "a push to \(type.rawValue) only reports a change: the phone ignores \(name), and the extension"
                + " fetches its content"
            return PushLint.Finding(.reloadWithContent, .payload(JSONPointer.shownPath(path)), message)
        }
    }
}
