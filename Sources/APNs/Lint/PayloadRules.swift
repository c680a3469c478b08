extension Lint.Rule {
    static let payloadEmpty = Lint.Rule("payload-empty", .error, .sending, "there is no payload")
    static let payloadTooLarge = Lint.Rule(
        "payload-too-large",
        .error,
        .payload,
        "the payload is larger than the push type allows"
    )
    static let payloadNotJSON = Lint.Rule("payload-not-json", .error, .payload, "the payload is no JSON object")
    static let payloadNotMinified = Lint.Rule(
        "payload-not-minified",
        .warning,
        .sending,
        "much of the payload is white space and needless escapes"
    )
    static let apsMissing = Lint.Rule("aps-missing", .warning, .payload, "there is no aps")
    static let apsNotAnObject = Lint.Rule("aps-not-an-object", .error, .payload, "aps is no object")
}

/// The rules about a payload as a whole ("Generating a remote notification").
enum PayloadRules {
    static let all: [Lint.Rule] = [
        .payloadEmpty, .payloadTooLarge, .payloadNotJSON, .payloadNotMinified, .apsMissing, .apsNotAnObject,
    ]

    /// Bytes that writing a payload more tightly has to save before it is worth a word.
    private static let worthwhileSaving = 256

    static func size(_ count: Int, of type: PushType?) -> Lint.Finding? {
        size(count, limit: limit(of: type))
    }

    static func broadcastSize(_ count: Int) -> Lint.Finding? {
        size(count, limit: PushLimits.broadcastPayloadByteCount)
    }

    static func size(_ size: TruncatedPayloadSize, of type: PushType?) -> Lint.Finding? {
        self.size(size, limit: limit(of: type))
    }

    static func broadcastSize(_ size: TruncatedPayloadSize) -> Lint.Finding? {
        self.size(size, limit: PushLimits.broadcastPayloadByteCount)
    }

    private static func size(_ size: TruncatedPayloadSize, limit: Int) -> Lint.Finding? {
        switch size {
        case .exactly(let count): return self.size(count, limit: limit)
        case .atLeast(let count):
            guard count > limit else { return nil }
            return Lint.Finding(
                .payloadTooLarge,
                .payload(""),
                "the payload has at least \(count) bytes, and \(limit) are allowed",
                reason: .payloadTooLarge
            )
        }
    }

    private static func limit(of type: PushType?) -> Int {
        type?.payloadByteLimit ?? PushLimits.payloadByteCount
    }

    private static func size(_ count: Int, limit: Int) -> Lint.Finding? {
        if count == 0 {
            return Lint.Finding(.payloadEmpty, .payload(""), "there is no payload", reason: .payloadEmpty)
        }
        guard count > limit else { return nil }
        return Lint.Finding(
            .payloadTooLarge,
            .payload(""),
            "the payload has \(count) bytes, \(count - limit) more than the \(limit) allowed",
            reason: .payloadTooLarge
        )
    }

    static func notAnObject(_ error: JSONError?) -> Lint.Finding {
        // Apple names no answer for this on pushes to devices; it is the one of the other requests.
        Lint.Finding(
            .payloadNotJSON,
            .payload(""),
            error.map { "the payload is no JSON: \($0)" } ?? "the payload is no JSON object",
            reason: .badRequestPayload
        )
    }

    /// The payload when it is an object, or what keeps it from being one; neither when it is empty.
    static func read(_ payload: [UInt8]) -> (value: JSONValue?, flaw: Lint.Finding?) {
        guard !payload.isEmpty else { return (nil, nil) }
        do throws(JSONError) {
            let value = try JSONReader.read(payload)
            return value.members == nil ? (nil, notAnObject(nil)) : (value, nil)
        } catch {
            return (nil, notAnObject(error))
        }
    }

    /// What is wrong with a payload beside what is in `aps`.
    static func check(_ payload: JSONValue, byteCount: Int, of push: PushFacts) -> [Lint.Finding] {
        let tightness = notMinified(payload, byteCount: byteCount, of: push.type).map { [$0] } ?? []
        let outside = KeyRules.outside(payload, of: push)
        switch payload["aps"] {
        case nil: return tightness + (outside.isEmpty ? missingDictionary(payload, of: push.type) : outside)
        case .object?: return tightness + outside
        default:
            let text = "aps is no object: the phone ignores all of it and shows nothing"
            return tightness + outside + [Lint.Finding(.apsNotAnObject, .payload("/aps"), text)]
        }
    }

    /// What typed values can still get wrong.
    static func ranges(_ payload: Payload) -> Lint.Finding? {
        if let badge = payload.aps?.badge, badge < 0 { return AlertRules.negativeBadge }
        if let score = payload.aps?.relevanceScore, !(0...1).contains(score) { return AlertRules.scoreOutOfRange }
        if let volume = payload.aps?.sound?.volume, !(0...1).contains(volume) {
            return AlertRules.volumeOutOfRange(at: ["aps", "sound"])
        }
        return nil
    }

    // MARK: Rules

    private static func notMinified(_ payload: JSONValue, byteCount: Int, of type: PushType?) -> Lint.Finding? {
        let limit = limit(of: type)
        // Small payloads have nothing worthwhile to save.
        guard byteCount > limit || byteCount > worthwhileSaving else { return nil }
        let tightCount = payload.encoded().count
        let wouldFit = byteCount > limit && tightCount <= limit
        guard wouldFit || byteCount - tightCount >= worthwhileSaving else { return nil }
        return Lint.Finding(
            .payloadNotMinified,
            .payload(""),
            "\(byteCount - tightCount) of \(byteCount) bytes are white space and needless escapes, which every push"
                + " carries to the phone for nothing" + (wouldFit ? ": without them it would fit" : "")
        )
    }

    private static func missingDictionary(_ payload: JSONValue, of type: PushType?) -> [Lint.Finding] {
        // Wallet passes are updated by an empty object.
        guard let names = payload.members?.map(\.name),
            !names.isEmpty || type == .accessory || type == .liveActivity,
            type?.carriesOwnContent != true
        else { return [] }
        let near = names.first { $0.lowercased() == "aps" }
        return [
            Lint.Finding(
                .apsMissing,
                .payload(""),
                "there is no aps: the phone shows nothing and wakes no one"
                    + (near.map { "; it is written in lower case, not as \($0)" } ?? "")
            )
        ]
    }
}

extension PushType {
    /// Whether pushes of this type carry what the app, or its server, has agreed with itself.
    var carriesOwnContent: Bool {
        let types: [PushType] = [.complication, .fileProvider, .location, .mdm, .pushToTalk, .voip]
        return types.contains(self)
    }
}
