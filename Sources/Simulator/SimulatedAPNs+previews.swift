internal import APNs
internal import LiveSurfaces

/// What previews need.
extension SimulatedAPNs {
    /// Changes what previews need besides pushes, and tells those who look at them.
    func changePreviews<Value: Sendable>(
        _ change: @Sendable (inout PreviewMaterial) throws(PreviewsFull) -> Value
    ) throws(PreviewsFull) -> Value {
        defer {
            inbox.note(.previewsChanged)
            tellFollowersSoon()
        }
        return try change(&previews)
    }

    /// What a phone knows besides a push: what its activity began with, its template, what the app has stored, and
    /// which notifications lie beside it.
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

    /// What the push that started an activity says of it in `aps`; nil when the activity's token came from no push.
    private func beginning(of token: String) -> JSONValue? {
        let token = token.lowercased()
        for device in judge.devices.tokens {
            let started = judge.devices[device]?.startedActivities.first { $0.id.hex == token }
            guard let started, let push = inbox.log[started.startedBy] else { continue }
            return (try? JSONReader.readPayload(push.payload))?["aps"]
        }
        return nil
    }

    /// The notifications of the same app and thread that the push's device has got too, newest first.
    private func thread(of push: ReceivedPush) -> [ReceivedPush] {
        guard push.isNotification, let thread = push.threadID else { return [] }
        let token = push.deviceToken.lowercased()
        var collapsed: Set<String> = []
        var found: [ReceivedPush] = []
        for other in pushes.reversed() where found.count < SimulatedAPNs.threadLimit {
            guard other.isNotification, other.deviceToken.lowercased() == token, other.bundleID == push.bundleID,
                other.threadID == thread
            else { continue }
            // Of those with one collapse identifier the phone shows the newest.
            let isNewest = other.headers.collapseID.map { collapsed.insert($0).inserted } ?? true
            if isNewest, other.number != push.number { found.append(other) }
        }
        return found
    }

    /// Neighbours of a notification that are told.
    private static let threadLimit = 50
}

extension ReceivedPush {
    /// Whether it was accepted, and a person sees it as a notification.
    fileprivate var isNotification: Bool {
        status == 200 && channel == nil && headers.pushType ?? PushType.alert.rawValue == PushType.alert.rawValue
    }

    /// The thread of an alert, empty when it names none; nil for what has no alert.
    fileprivate var threadID: String? {
        guard let aps = (try? JSONReader.readPayload(payload))?["aps"], aps["alert"] != nil else { return nil }
        return aps["thread-id"]?.stringValue ?? ""
    }
}

extension Topic {
    /// The bundle identifier of the app that a topic is about.
    var ofApp: Topic {
        let suffix = PushType.all.map(\.topicSuffix).first { !$0.isEmpty && rawValue.hasSuffix($0) } ?? ""
        return Topic(String(rawValue.dropLast(suffix.count)))
    }
}
