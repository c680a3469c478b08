// SPDX-License-Identifier: Apache-2.0

extension PushLint.Rule {
    static let payloadEmpty = PushLint.Rule("payload-empty", .error, .sending).when("there is no payload")
    static let payloadTooLarge = PushLint.Rule("payload-too-large", .error, .payload)
        .when("the payload is larger than the push type allows")
    static let payloadNotJSON = PushLint.Rule("payload-not-json", .error, .payload).when(
        "the payload is not a JSON object"
    )
    static let payloadSurrogate = PushLint.Rule("payload-unpaired-surrogate", .warning, .payload)
        .when("an escape in the payload is half a surrogate pair")
    static let payloadTooDeep = PushLint.Rule("payload-too-deep", .error, .payload)
        .when("arrays and objects in the payload are nested deeper than these rules read")
    static let payloadNameRepeated = PushLint.Rule("payload-name-repeated", .error, .payload)
        .when("an object in the payload has the same name twice")
    static let payloadNotMinified = PushLint.Rule("payload-not-minified", .warning, .sending)
        .when("much of the payload is white space and unnecessary escapes")
    static let apsMissing = PushLint.Rule("aps-missing", .warning, .payload).when("there is no aps")
    static let apsNotAnObject = PushLint.Rule("aps-not-an-object", .error, .payload).when("aps is not an object")
}

/// The rules about a payload as a whole ("Generating a remote notification").
enum PayloadRules {
    static let all: [PushLint.Rule] = [
        .payloadEmpty, .payloadTooLarge, .payloadNotJSON, .payloadSurrogate, .payloadTooDeep, .payloadNameRepeated,
        .payloadNotMinified, .apsMissing, .apsNotAnObject,
    ]

    /// The minimum number of bytes that minifying a payload must save for a finding.
    private static let worthwhileSaving = 256

    static func size(_ size: PayloadSize, of type: PushType?) -> PushLint.Finding? {
        self.size(size, limit: limit(of: type))
    }

    static func broadcastSize(_ size: PayloadSize) -> PushLint.Finding? {
        self.size(size, limit: PushLimits.broadcastPayloadByteCount)
    }

    private static func limit(of type: PushType?) -> Int {
        type?.payloadByteLimit ?? PushLimits.payloadByteCount
    }

    private static func size(_ size: PayloadSize, limit: Int) -> PushLint.Finding? {
        let text: String
        switch size {
        case .exactly(0):
            return PushLint.Finding(.payloadEmpty, .payload(""), "there is no payload", reason: .payloadEmpty)
        case .exactly(let count) where count > limit:
            text = "the payload has \(count) bytes, \(count - limit) more than the \(limit) allowed"
        case .atLeast(let count) where count > limit:
            text = "the payload has at least \(count) bytes; the maximum is \(limit)"
        case .exactly, .atLeast:
            return nil
        }
        return PushLint.Finding(.payloadTooLarge, .payload(""), text, reason: .payloadTooLarge)
    }

    /// Returns the finding about a payload that is not a JSON object.
    ///
    /// Apple documents no answer to such payloads of pushes to devices; `BadRequestPayload` is the answer to broadcasts
    /// ("Handling error responses from APNs").
    private static func notJSON(_ text: String, isBroadcast: Bool) -> PushLint.Finding {
        PushLint.Finding(
            .payloadNotJSON,
            .payload(""),
            isBroadcast ? text : text + ", and Apple does not document its answer",
            reason: .badRequestPayload,
            refuser: isBroadcast ? "APNs" : "the simulator"
        )
    }

    /// Returns the finding about a payload that cannot be parsed.
    private static func unreadable(_ payload: [UInt8], _ error: JSONError, isBroadcast: Bool) -> PushLint.Finding {
        let place = PushLint.Place.payload("")
        switch error.problem {
        case .tooDeep:
            let text = "\(error): Apple documents no limit, and this one is Martlet's own"
            return PushLint.Finding(.payloadTooDeep, place, text, reason: .badRequestPayload, refuser: "the simulator")
        case .duplicateName where JSONReader.isObject(payload):
            let text = "\(error): which of the two values the phone reads is not defined (RFC 8259 §4)"
            return PushLint.Finding(.payloadNameRepeated, place, text)
        default:
            return notJSON("the payload is not valid JSON: \(error)", isBroadcast: isBroadcast)
        }
    }

    /// Parses a payload; returns the object, if it is one, and the finding about what is wrong with it as a whole.
    static func read(_ payload: [UInt8], isBroadcast: Bool = false) -> (value: JSONValue?, flaw: PushLint.Finding?) {
        guard !payload.isEmpty else { return (nil, nil) }
        var flaw: PushLint.Finding?
        do throws(JSONError) {
            let value: JSONValue
            do throws(JSONError) {
                value = try JSONReader.read(payload)
            } catch  where error.problem == .unpairedSurrogate {
                value = try JSONReader.readPayload(payload)
                let text = "\(error); Apple does not document what becomes of it, and the phone may show nothing"
                flaw = PushLint.Finding(.payloadSurrogate, .payload(""), text)
            }
            guard value.members == nil else { return (value, flaw) }
            return (nil, notJSON("the payload is not a JSON object", isBroadcast: isBroadcast))
        } catch {
            return (nil, unreadable(payload, error, isBroadcast: isBroadcast))
        }
    }

    /// Returns the findings about a payload, except those about the content of `aps`.
    static func check(_ payload: JSONValue, byteCount: Int, of push: PushFacts) -> [PushLint.Finding] {
        let tightness = notMinified(payload, byteCount: byteCount, of: push).map { [$0] } ?? []
        let outside = KeyRules.outside(payload, of: push)
        switch payload["aps"] {
        case nil: return tightness + (outside.isEmpty ? missingDictionary(payload, of: push) : outside)
        case .object?: return tightness + outside
        default:
            let text = "aps is not an object: the phone ignores all of it and shows nothing"
            return tightness + outside + [PushLint.Finding(.apsNotAnObject, .payload("/aps"), text)]
        }
    }

    /// Checks the ranges of numbers that the types do not restrict.
    static func ranges(_ payload: PushNotification.Payload) -> PushLint.Finding? {
        let (badge, score, volume) = payload.numbers
        if let badge, badge < 0 { return AlertRules.negativeBadge }
        if let score, !(0...1).contains(score) { return AlertRules.scoreOutOfRange }
        if let volume, !(0...1).contains(volume) {
            return AlertRules.volumeOutOfRange(at: ["aps", "sound"])
        }
        return nil
    }

    // MARK: Rules

    private static func notMinified(_ payload: JSONValue, byteCount: Int, of push: PushFacts) -> PushLint.Finding? {
        let limit = push.isBroadcast ? PushLimits.broadcastPayloadByteCount : limit(of: push.type)
        // Small payloads cannot save enough.
        guard byteCount > limit || byteCount > worthwhileSaving else { return nil }
        let tightCount = payload.encoded().count
        let wouldFit = byteCount > limit && tightCount <= limit
        guard wouldFit || byteCount - tightCount >= worthwhileSaving else { return nil }
        let message =
            "\(byteCount - tightCount) of \(byteCount) bytes are white space and unnecessary escapes"
            + (wouldFit ? ": without them the payload would fit" : "")
        return PushLint.Finding(.payloadNotMinified, .payload(""), message)
    }

    private static func missingDictionary(_ payload: JSONValue, of push: PushFacts) -> [PushLint.Finding] {
        let type = push.type
        // An empty object updates Wallet passes.
        guard let names = payload.members?.map(\.name),
            !names.isEmpty || type?.needsDictionary == true,
            type?.carriesOwnContent != true, !push.isForMDM, !push.hasPassTopic
        else { return [] }
        let near = names.first { $0.lowercased() == "aps" }
        let message =
            "there is no aps: the phone shows nothing and does not wake the app"
            + (near.map { "; the name must be in lower case, not as \($0)" } ?? "")
        return [PushLint.Finding(.apsMissing, .payload(""), message)]
    }
}

extension PushType {
    /// Whether pushes of this type carry content that the app and its server define.
    var carriesOwnContent: Bool { descriptor?.contentPlace == .besideAPS }

    /// Whether pushes of this type have no effect without Apple's keys in `aps`.
    var needsDictionary: Bool { descriptor?.contentPlace == .requiredAPS }
}
