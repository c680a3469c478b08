public import APNs
internal import APNsServer

/// One push that came in, with the answer it got.
public struct ReceivedPush: Sendable, Hashable {
    /// Counts up from 1 in the order of arrival.
    public let number: Int
    /// When it came, in seconds since 1970.
    public let time: Int64
    /// Which of the simulator's connections it came over; they count up from 1.
    public let connection: Int
    /// The device token as it stood in the path, whatever it was; empty for a broadcast.
    public let deviceToken: String
    /// The channel of a broadcast, as it was sent; nil for a push to a device.
    public let channel: ChannelID?
    /// The headers that describe it, as they were sent.
    public let headers: PushHeaders
    /// The payload, cut off when it was far too long.
    public let payload: [UInt8]
    /// The status it was answered with; 0 when a fault left it without an answer.
    public let status: Int
    /// The reason it was refused for; nil when it was accepted.
    public let reason: Reason?
    /// The `apns-id` of the answer.
    public let id: String
    /// Whether a ``Fault``, or the telling end of its device token, had a part in the answer.
    public let isDisturbed: Bool
    /// What became of it after it was accepted, oldest first; empty for what was refused and for broadcasts.
    public internal(set) var deliveries: [DeliveryEvent] = []

    /// What is wrong with it or will be surprising on the phone, worst first as the rules find it.
    public var findings: [Lint.Finding] {
        channel == nil ? Lint.check(headers: headers, payload: payload, at: time) : []
    }
}

extension APNsRequest {
    /// The text where a device token should be.
    fileprivate var deviceToken: String { String(facts.device) }

    /// What decides whether something goes wrong with it.
    var facts: FaultPlan.Facts {
        if case .device(let token)? = target { return FaultPlan.Facts(device: token, headers: headers) }
        return FaultPlan.Facts(device: "", headers: headers)
    }
}

/// What came in last, as far back as the limit allows.
struct PushLog {
    private let limit: Int
    private var ring: [ReceivedPush] = []
    /// How many have come in altogether.
    private(set) var count = 0
    /// Where the oldest is, once there are as many as are kept.
    private var oldest = 0

    init(limit: Int) {
        self.limit = max(1, limit)
    }

    /// Oldest first.
    var pushes: [ReceivedPush] {
        Array(ring[oldest...] + ring[..<oldest])
    }

    /// Notes what became of a push; one that has been forgotten stays so.
    mutating func note(_ event: DeliveryEvent, on number: Int) {
        guard !ring.isEmpty else { return }
        let offset = number - ring[oldest].number
        guard ring.indices.contains(offset) else { return }
        ring[(oldest + offset) % ring.count].deliveries.append(event)
    }

    /// Forgets them all.
    mutating func removeAll() {
        ring = []
        oldest = 0
    }

    /// Remembers a request with its answer; forgets the oldest when there are too many.
    mutating func append(
        _ request: APNsRequest,
        answeredWith verdict: Judge.Verdict,
        id: String,
        isDisturbed: Bool,
        over connection: Int,
        at now: Int64
    ) -> ReceivedPush {
        let push = ReceivedPush(
            number: count + 1,
            time: now,
            connection: connection,
            deviceToken: request.deviceToken,
            channel: request.channelID.map(ChannelID.init(rawValue:)),
            headers: request.headers,
            payload: request.body,
            status: verdict.status,
            reason: verdict.reason,
            id: id,
            isDisturbed: isDisturbed
        )
        if ring.count < limit {
            ring.append(push)
        } else {
            ring[oldest] = push
            oldest = (oldest + 1) % limit
        }
        count += 1
        return push
    }
}
