// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

extension SurfaceSessionState {
    /// Reads a stored state; without bytes, it is that before the first step.
    init(stored: [UInt8]) throws(UnreadableSessionState) {
        guard !stored.isEmpty else {
            self.init()
            return
        }
        let json = try (try? JSONReader.read(stored)).readable()
        try self.init(
            activity: json.optional("activity") ?? ActivitySession(),
            sent: json.optional("sent") ?? [:],
            pending: json.optional("pending") ?? [],
            lastSnapshot: json.optional("lastSnapshot"),
            unregistered: json.optional("unregistered") ?? [],
            pausedUntil: json.optional("pausedUntil") ?? 0
        )
    }

    /// The state as JSON.
    var stored: [UInt8] {
        let json: JSONValue = .members([
            "activity": activity.stored(unless: ActivitySession()), "sent": sent.stored(unless: [:]),
            "pending": pending.stored(unless: []), "lastSnapshot": lastSnapshot?.stored,
            "unregistered": unregistered.stored(unless: []), "pausedUntil": pausedUntil.stored(unless: 0),
        ])
        return json.encoded()
    }
}

extension SurfaceSessionState.PendingPush: StoredValue {
    init(stored json: JSONValue) throws(UnreadableSessionState) {
        try self.init(
            id: json.required("id"),
            kind: json.required("kind"),
            revision: json.required("revision"),
            token: json.optional("token"),
            channel: json.optional("channel"),
            request: json.optional("request"),
            changedAt: json.optional("changedAt"),
            isCancelled: json.optional("isCancelled") ?? false
        )
    }

    var stored: JSONValue {
        .members([
            "id": id.stored, "kind": kind.stored, "revision": revision.stored, "token": token?.stored,
            "channel": channel?.stored, "request": request?.stored, "changedAt": changedAt?.stored,
            "isCancelled": isCancelled.stored(unless: false),
        ])
    }
}

extension SurfaceSessionState.SentSnapshot: StoredValue {
    init(stored json: JSONValue) throws(UnreadableSessionState) {
        try self.init(
            revision: json.optional("revision") ?? 0,
            acceptedAt: json.optional("acceptedAt") ?? 0,
            refused: json.optional("refused") ?? 0,
            absence: json.optional("absence")
        )
    }

    var stored: JSONValue {
        .members([
            "revision": revision.stored(unless: 0), "acceptedAt": acceptedAt.stored(unless: 0),
            "refused": refused.stored(unless: 0), "absence": absence?.stored,
        ])
    }
}

extension SurfaceSessionState.StoredSnapshot: StoredValue {
    init(stored json: JSONValue) throws(UnreadableSessionState) {
        try self.init(revision: json.required("revision"), json: json.required("json"))
    }

    var stored: JSONValue { .members(["revision": revision.stored, "json": json.stored]) }
}

// MARK: Live Activities

extension ActivitySession: StoredValue {
    init(stored json: JSONValue) throws(UnreadableSessionState) {
        try self.init(
            desired: json.optional("desired"),
            withdrawal: json.optional("withdrawal"),
            assumed: json.optional("assumed") ?? AssumedActivity(),
            absence: json.optional("absence"),
            lastTimestamp: json.optional("lastTimestamp") ?? 0,
            broadcast: json.optional("broadcast"),
            alertedGeneration: json.optional("alertedGeneration") ?? 0,
            heldStart: json.optional("heldStart"),
            lastRequest: json.optional("lastRequest") ?? 0
        )
    }

    var stored: JSONValue {
        .members([
            "desired": desired?.stored, "withdrawal": withdrawal?.stored,
            "assumed": assumed.stored(unless: AssumedActivity()), "absence": absence?.stored,
            "lastTimestamp": lastTimestamp.stored(unless: 0), "broadcast": broadcast?.stored,
            "alertedGeneration": alertedGeneration.stored(unless: 0), "heldStart": heldStart?.stored,
            "lastRequest": lastRequest.stored(unless: 0),
        ])
    }
}

extension ActivitySession.Desired: StoredValue {
    init(stored json: JSONValue) throws(UnreadableSessionState) {
        try self.init(
            generation: json.required("generation"),
            isUrgent: json.optional("isUrgent") ?? false,
            changedAt: json.optional("changedAt") ?? 0,
            channel: json.optional("channel"),
            attributes: json.optional("attributes"),
            notification: json.optional("notification")
        )
    }

    var stored: JSONValue {
        .members([
            "generation": generation.stored, "isUrgent": isUrgent.stored(unless: false),
            "changedAt": changedAt.stored(unless: 0), "channel": channel?.stored, "attributes": attributes?.stored,
            "notification": notification?.stored,
        ])
    }
}

extension ActivitySession.Broadcast: StoredValue {
    init(stored json: JSONValue) throws(UnreadableSessionState) {
        try self.init(
            channel: json.required("channel"),
            age: json.required("age"),
            isEnd: json.optional("isEnd") ?? false,
            update: json.required("update"),
            sentAt: json.required("sentAt"),
            request: json.optional("request")
        )
    }

    var stored: JSONValue {
        .members([
            "channel": channel.stored, "age": age.stored, "isEnd": isEnd.stored(unless: false),
            "update": update.stored, "sentAt": sentAt.stored, "request": request?.stored,
        ])
    }
}

extension ActivitySession.Update: StoredValue {
    init(stored json: JSONValue) throws(UnreadableSessionState) {
        try self.init(
            generation: json.required("generation"),
            timestamp: json.required("timestamp"),
            priority: json.required("priority"),
            staleDate: json.required("staleDate")
        )
    }

    var stored: JSONValue {
        .members([
            "generation": generation.stored, "timestamp": timestamp.stored, "priority": priority.stored,
            "staleDate": staleDate.stored,
        ])
    }
}

extension ActivitySession.HeldStart: StoredValue {
    init(stored json: JSONValue) throws(UnreadableSessionState) {
        try self.init(generation: json.required("generation"), reason: json.required("reason"))
    }

    var stored: JSONValue { .members(["generation": generation.stored, "reason": reason.stored]) }
}

extension SurfaceChannel: StoredValue {
    init(stored json: JSONValue) throws(UnreadableSessionState) {
        try self.init(
            id: json.required("id"),
            storesBroadcasts: json.optional("storesBroadcasts") ?? false,
            environment: json.optional("environment"),
            bundleID: json.optional("bundleID")
        )
    }

    var stored: JSONValue {
        .members([
            "id": id.stored, "storesBroadcasts": storesBroadcasts.stored(unless: false),
            "environment": environment?.stored, "bundleID": bundleID?.stored,
        ])
    }
}
