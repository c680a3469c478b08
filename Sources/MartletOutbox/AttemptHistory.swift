// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// An attempt to send a push that Apple did not accept.
package struct FailedAttempt: Sendable, Hashable {
    /// The maximum number of bytes of each text.
    static let longestText = 64

    /// The time of the failure, in milliseconds since 1970.
    package var time: Int64
    /// The name of the relay that made the attempt.
    package var node: String
    /// The identifier of the key that signed the provider token.
    package var keyID: String
    /// The status of Apple's answer; nil when there was none.
    package var status: Int?
    /// The reason of Apple's answer, or a code for the problem; empty for an answer without a reason.
    package var reason: String

    /// Creates a failed attempt; texts that are too long are cut.
    package init(time: Int64, node: String, keyID: String, status: Int?, reason: String) {
        self.time = time
        self.node = FailedAttempt.shortened(node)
        self.keyID = FailedAttempt.shortened(keyID)
        self.status = status
        self.reason = FailedAttempt.shortened(reason)
    }

    private static func shortened(_ text: String) -> String {
        guard text.utf8.count > longestText else { return text }
        var end = text.utf8.index(text.utf8.startIndex, offsetBy: longestText)
        // The end of a whole character.
        while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
        return String(text[..<end])
    }
}

/// The failed attempts of a push: the first one and the latest ones.
///
/// A store has no history for a push that is sent at the first attempt.
package struct AttemptHistory: Sendable, Hashable {
    /// The maximum number of stored attempts.
    package static let limit = 8

    /// The attempts, oldest first; those that are left out followed the first one.
    package private(set) var attempts: [FailedAttempt] = []
    /// The number of attempts that are left out.
    package private(set) var omitted = 0

    /// Creates an empty history.
    package init() {}

    package var isEmpty: Bool { attempts.isEmpty }

    /// Appends an attempt; leaves out the second one when there are too many.
    package mutating func append(_ attempt: FailedAttempt) {
        if attempts.count >= AttemptHistory.limit {
            attempts.remove(at: 1)
            omitted += 1
        }
        attempts.append(attempt)
    }
}

/// The form of a history in a store: a JSON array with the number of attempts that are left out, and an array for each
/// stored attempt.
extension AttemptHistory {
    /// The text for a store; nil for an empty history.
    var stored: String? {
        guard !isEmpty else { return nil }
        let rows = attempts.map { attempt in
            JSONValue.array([
                .integer(attempt.time), .string(attempt.node), .string(attempt.keyID),
                attempt.status.map { JSONValue.integer($0) } ?? .null, .string(attempt.reason),
            ])
        }
        return JSONValue.array([.integer(omitted)] + rows).description
    }

    /// Reads the text of a store; a text that is damaged is read as an empty history, so that its push is still sent.
    init(stored text: String?) {
        self.init()
        guard let text, let rows = try? JSONReader.read(Array(text.utf8)).elements,
            let omitted = rows.first?.integerValue
        else { return }
        self.omitted = Int(UInt32(clamping: omitted))
        attempts = rows.dropFirst().prefix(AttemptHistory.limit).compactMap { FailedAttempt(stored: $0.elements ?? []) }
    }
}

extension FailedAttempt {
    fileprivate init?(stored row: [JSONValue]) {
        guard row.count == 5, let time = row[0].integerValue, let node = row[1].stringValue,
            let keyID = row[2].stringValue, let reason = row[4].stringValue
        else { return nil }
        let status = row[3].integerValue.map { Int(clamping: $0) }
        self.init(time: time, node: node, keyID: keyID, status: status, reason: reason)
    }
}
