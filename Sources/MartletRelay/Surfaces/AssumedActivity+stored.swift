// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

extension AssumedActivity: StoredValue {
    init(stored json: JSONValue) throws(UnreadableSessionState) {
        try self.init(
            phase: json.optional("phase") ?? Phase.none,
            startToken: json.optional("startToken"),
            unregisteredStart: json.optional("unregisteredStart"),
            lastChannel: json.optional("lastChannel"),
            lastChannelEnd: json.optional("lastChannelEnd") ?? 0,
            unusableChannel: json.optional("unusableChannel"),
            isAllowed: json.optional("isAllowed") ?? true,
            isRemovedByUser: json.optional("isRemovedByUser") ?? false,
            seenAt: json.optional("seenAt") ?? 0,
            superseded: json.optional("superseded") ?? [],
            endedCards: json.optional("endedCards") ?? []
        )
    }

    var stored: JSONValue {
        .members([
            "phase": phase.stored(unless: .none), "startToken": startToken?.stored,
            "unregisteredStart": unregisteredStart?.stored, "lastChannel": lastChannel?.stored,
            "lastChannelEnd": lastChannelEnd.stored(unless: 0), "unusableChannel": unusableChannel?.stored,
            "isAllowed": isAllowed.stored(unless: true), "isRemovedByUser": isRemovedByUser.stored(unless: false),
            "seenAt": seenAt.stored(unless: 0), "superseded": superseded.stored(unless: []),
            "endedCards": endedCards.stored(unless: []),
        ])
    }
}

extension AssumedActivity.Phase: StoredValue {
    init(stored json: JSONValue) throws(UnreadableSessionState) {
        let name: String = try json.required("name")
        switch name {
        case "none": self = .none
        case "starting": self = try .starting(json.required("start"), json.required("request"))
        case "unconfirmed": self = try .unconfirmed(json.required("start"))
        case "live": self = try .live(json.required("card"))
        case "ending": self = try .ending(json.required("card"), json.required("request"))
        default: throw UnreadableSessionState()
        }
    }

    var stored: JSONValue {
        switch self {
        case .none: ["name": "none"]
        case .starting(let start, let request): ["name": "starting", "start": start.stored, "request": request.stored]
        case .unconfirmed(let start): ["name": "unconfirmed", "start": start.stored]
        case .live(let card): ["name": "live", "card": card.stored]
        case .ending(let card, let request): ["name": "ending", "card": card.stored, "request": request.stored]
        }
    }
}

extension AssumedActivity.ReportedToken: StoredValue {
    init(stored json: JSONValue) throws(UnreadableSessionState) {
        try self.init(token: json.required("token"), reportedAt: json.required("reportedAt"))
    }

    var stored: JSONValue { .members(["token": token.stored, "reportedAt": reportedAt.stored]) }
}

extension AssumedActivity.Start: StoredValue {
    init(stored json: JSONValue) throws(UnreadableSessionState) {
        try self.init(
            generation: json.optional("generation") ?? 0,
            token: json.optional("token"),
            channel: json.optional("channel"),
            attributes: json.optional("attributes"),
            at: json.required("at"),
            acceptedAt: json.optional("acceptedAt"),
            isCancelled: json.optional("isCancelled") ?? false,
            card: json.optional("card")
        )
    }

    var stored: JSONValue {
        .members([
            "generation": generation.stored(unless: 0), "token": token?.stored, "channel": channel?.stored,
            "attributes": attributes?.stored, "at": at.stored, "acceptedAt": acceptedAt?.stored,
            "isCancelled": isCancelled.stored(unless: false), "card": card?.stored,
        ])
    }
}

extension AssumedActivity.Successor: StoredValue {
    init(stored json: JSONValue) throws(UnreadableSessionState) {
        try self.init(
            start: json.required("start"),
            request: json.optional("request") ?? 0,
            isAccepted: json.optional("isAccepted") ?? false
        )
    }

    var stored: JSONValue {
        .members([
            "start": start.stored, "request": request.stored(unless: 0),
            "isAccepted": isAccepted.stored(unless: false),
        ])
    }
}

extension AssumedActivity.EndedCard: StoredValue {
    init(stored json: JSONValue) throws(UnreadableSessionState) {
        try self.init(
            id: json.required("id"),
            token: json.optional("token"),
            time: json.required("time"),
            isReported: json.optional("isReported") ?? false,
            isRefused: json.optional("isRefused") ?? false,
            lostAfter: json.optional("lostAfter")
        )
    }

    var stored: JSONValue {
        .members([
            "id": id.stored, "token": token?.stored, "time": time.stored,
            "isReported": isReported.stored(unless: false), "isRefused": isRefused.stored(unless: false),
            "lostAfter": lostAfter?.stored,
        ])
    }
}

extension AssumedActivity.Card: StoredValue {
    init(stored json: JSONValue) throws(UnreadableSessionState) {
        try self.init(
            id: json.required("id"),
            token: json.required("token"),
            startedAt: json.required("startedAt"),
            attributes: json.optional("attributes"),
            shown: json.optional("shown") ?? 0,
            shownAt: json.required("shownAt"),
            refused: json.optional("refused") ?? 0,
            sentAt: json.required("sentAt"),
            request: json.optional("request"),
            sending: json.optional("sending") ?? 0,
            sentTo: json.required("sentTo"),
            isCancelled: json.optional("isCancelled") ?? false,
            successor: json.optional("successor")
        )
    }

    var stored: JSONValue {
        .members([
            "id": id.stored, "token": token.stored, "startedAt": startedAt.stored, "attributes": attributes?.stored,
            "shown": shown.stored(unless: 0), "shownAt": shownAt.stored, "refused": refused.stored(unless: 0),
            "sentAt": sentAt.stored, "request": request?.stored, "sending": sending.stored(unless: 0),
            "sentTo": sentTo.stored, "isCancelled": isCancelled.stored(unless: false), "successor": successor?.stored,
        ])
    }
}
