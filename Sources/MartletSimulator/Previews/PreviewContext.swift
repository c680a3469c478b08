// SPDX-License-Identifier: Apache-2.0

internal import LiveSurfaces
internal import MartletCore

/// The data that a phone has besides a push: the attributes and the template of its activity, the surfaces that the app
/// has stored, and the other notifications of its thread.
struct PreviewContext {
    /// The maximum number of other notifications of a thread.
    private static let threadLimit = 50

    /// The context as the HTTP interface returns it.
    let json: JSONValue

    /// Collects the context of a push.
    init(of push: ReceivedPush, among pushes: [ReceivedPush], _ devices: DeviceRegistry, _ data: PreviewData) {
        let app = push.bundleID ?? ""
        let payload = push.content
        var members: [JSONValue.Member] = []
        if push.isLiveActivity {
            let aps = payload?["aps"]
            let start = aps?["attributes-type"] == nil ? PreviewContext.start(of: push, among: pushes, devices) : aps
            let type = start?["attributes-type"]?.stringValue
            if let type { members.append(.init("attributes-type", .string(type))) }
            if let attributes = start?["attributes"] { members.append(.init("attributes", attributes)) }
            let state = aps?["content-state"]
            if let (name, template) = data.template(of: app, attributesType: type, contentState: state) {
                members.append(.init("template", template.json))
                members.append(.init("template-type", .string(name)))
            }
        }
        let surfaces = SurfaceKind.allCases.compactMap { data.surfaces[app]?[$0] }
        if !surfaces.isEmpty {
            let projections = surfaces.map { JSONValue.Member($0.kind.rawValue, .object($0.projections)) }
            members.append(.init("surfaces", .object(projections)))
        }
        let strings = PreviewContext.stringIssues(in: payload?["aps"]?["alert"], data.strings.apps[app])
        if !strings.isEmpty { members.append(.init("strings", .array(strings))) }
        let thread = PreviewContext.thread(of: push, among: pushes)
        if !thread.isEmpty { members.append(.init("thread", .array(thread.map(\.json)))) }
        json = .object(members)
    }

    /// Returns `aps` of the push that started the activity of a push; nil when no stored push did.
    private static func start(
        of push: ReceivedPush,
        among pushes: [ReceivedPush],
        _ devices: DeviceRegistry
    ) -> JSONValue? {
        guard let token = push.token, let number = devices.start(of: token),
            let start = pushes.first(where: { $0.number == number })
        else { return nil }
        return start.content?["aps"]
    }

    /// Returns what the app's localized strings lack for the keys in an alert, for each language.
    private static func stringIssues(
        in alert: JSONValue?,
        _ tables: [String: [String: LocalizedString]]?
    ) -> [JSONValue] {
        guard let tables, let alert else { return [] }
        return SurfaceStrings(tables: tables).issues(inAlert: alert).map { issue in
            ["place": .string(JSONPointer.path(["aps", "alert"] + issue.path)), "message": .string(issue.message)]
        }
    }

    /// Returns the other notifications of the same app and thread that the push's device shows, newest first.
    private static func thread(of push: ReceivedPush, among pushes: [ReceivedPush]) -> [ReceivedPush] {
        guard push.isNotification, let thread = push.threadID else { return [] }
        let token = push.deviceToken.lowercased()
        var found: [ReceivedPush] = []
        for other in pushes.reversed() where found.count < threadLimit {
            guard other.number != push.number, other.deviceToken.lowercased() == token, other.isNotification,
                other.bundleID == push.bundleID, other.isNotificationOnScreen, other.threadID == thread
            else { continue }
            found.append(other)
        }
        return found
    }
}

extension ReceivedPush {
    /// Whether the push is a notification by its type.
    fileprivate var isNotification: Bool { channel == nil && headers.isAlert }

    /// The thread of an alert, empty when it names none; nil for a push without an alert.
    fileprivate var threadID: String? {
        guard let aps = content?["aps"], aps["alert"] != nil else { return nil }
        return aps["thread-id"]?.stringValue ?? ""
    }
}
