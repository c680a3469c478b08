internal import LiveSurfaces
internal import MartletCore

/// The data for previews.
extension SimulatedAPNs {
    /// Changes the data that previews need besides pushes, and notifies the followers.
    func changePreviews<Value: Sendable>(
        _ change: @Sendable (inout PreviewMaterial) throws(PreviewsFull) -> Value
    ) throws(PreviewsFull) -> Value {
        defer {
            inbox.note(.previewsChanged)
            tellFollowersSoon()
        }
        return try change(&previews)
    }

    /// Returns the data that a phone has besides a push: the attributes and the template of its activity, the surfaces
    /// that the app has stored, and the other notifications of its thread.
    func context(of push: ReceivedPush) -> JSONValue {
        let app = push.bundleID ?? ""
        var members: [JSONValue.Member] = []
        if push.isLiveActivity {
            let aps = (try? JSONReader.readPayload(push.payload))?["aps"]
            let start = aps?["attributes-type"] == nil ? beginning(of: push.deviceToken) : aps
            let type = start?["attributes-type"]?.stringValue
            if let type { members.append(.init("attributes-type", .string(type))) }
            if let attributes = start?["attributes"] { members.append(.init("attributes", attributes)) }
            if let (_, template) = previews.template(of: app, attributesType: type) {
                members.append(.init("template", template.json))
            }
        }
        let surfaces = SurfaceKind.allCases.compactMap { previews.surfaces[app]?[$0] }
        if !surfaces.isEmpty {
            let projections = surfaces.map { JSONValue.Member($0.kind.rawValue, .object($0.projections)) }
            members.append(.init("surfaces", .object(projections)))
        }
        let thread = thread(of: push)
        if !thread.isEmpty { members.append(.init("thread", .array(thread.map(\.json)))) }
        return .object(members)
    }

    /// Returns `aps` of the push that started an activity; nil when no stored push did.
    private func beginning(of token: String) -> JSONValue? {
        let token = token.lowercased()
        for device in judge.devices.tokens {
            let started = judge.devices[device]?.startedActivities.first { $0.id.hex == token }
            guard let started, let push = inbox.log[started.startedBy] else { continue }
            return (try? JSONReader.readPayload(push.payload))?["aps"]
        }
        return nil
    }

    /// Returns the other notifications of the same app and thread for the push's device, newest first.
    private func thread(of push: ReceivedPush) -> [ReceivedPush] {
        guard push.isNotification, let thread = push.threadID else { return [] }
        let token = push.deviceToken.lowercased()
        var collapsed: Set<String> = []
        var found: [ReceivedPush] = []
        for other in pushes.reversed() where found.count < SimulatedAPNs.threadLimit {
            guard other.isNotification, other.deviceToken.lowercased() == token, other.bundleID == push.bundleID,
                other.threadID == thread
            else { continue }
            // Of the notifications with the same collapse identifier, the phone shows only the newest.
            let isNewest = other.headers.collapseID.map { collapsed.insert($0).inserted } ?? true
            if isNewest, other.number != push.number { found.append(other) }
        }
        return found
    }

    /// The maximum number of other notifications of a thread.
    private static let threadLimit = 50
}

extension ReceivedPush {
    /// Whether the push was accepted and is shown to the user as a notification.
    fileprivate var isNotification: Bool {
        status == 200 && channel == nil && headers.pushType ?? PushType.alert.rawValue == PushType.alert.rawValue
    }

    /// The thread of an alert, empty when it names none; nil for a push without an alert.
    fileprivate var threadID: String? {
        guard let aps = (try? JSONReader.readPayload(payload))?["aps"], aps["alert"] != nil else { return nil }
        return aps["thread-id"]?.stringValue ?? ""
    }
}

extension Topic {
    /// The bundle identifier of the app: the topic without the suffix of a push type.
    var ofApp: Topic { Topic(bundleIdentifier) }
}
