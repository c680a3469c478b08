// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer

/// The notes that users add to a push: its tags, its pin, and the nickname of its device.
struct PushLabels: Sendable, Hashable {
    /// The tags, in the order in which they were added.
    var tags: [String] = []
    /// Whether the push stays stored when others are deleted or make room.
    var isPinned = false
    /// The nickname of the push's device; nil for none.
    var deviceName: String?

    /// The maximum number of tags of one push.
    static let tagLimit = 20
    /// The maximum number of characters of a tag.
    static let tagLength = 40
    /// The maximum number of characters of a nickname.
    static let nameLength = 60
    /// The maximum number of pinned pushes.
    static let pinLimit = 1_000

    /// Returns the tags in an array: at most twenty different ones of 1 to 40 characters, without control characters.
    static func readTags(_ field: APIField) throws(APIProblem) -> [String] {
        var tags: [String] = []
        for element in try field.elements() {
            let tag = try text(in: element, length: 1...tagLength)
            if !tags.contains(tag) { tags.append(tag) }
        }
        guard tags.count <= tagLimit else {
            throw field.error("must have at most \(tagLimit) elements (found \(tags.count))")
        }
        return tags
    }

    /// Returns a nickname of up to 60 characters, without control characters; an empty one removes the nickname.
    static func readName(_ field: APIField) throws(APIProblem) -> String { try text(in: field, length: 0...nameLength) }

    private static func text(in field: APIField, length: ClosedRange<Int>) throws(APIProblem) -> String {
        let text = try field.text()
        let isShort = text.utf8.count <= length.upperBound * 16
        guard isShort, length.contains(text.count) else {
            let range = "\(length.lowerBound) to \(length.upperBound)"
            throw field.error("must have \(range) characters (found \(isShort ? text.count : text.utf8.count))")
        }
        guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw field.error("must not have control characters")
        }
        guard text.unicodeScalars.contains(where: { !$0.properties.isWhitespace }) || text.isEmpty else {
            throw field.error("must not consist of white space")
        }
        return text
    }

    /// The labels as members of a push in JSON.
    var members: [JSONValue.Member] {
        let name = deviceName.map { JSONValue.Member("device-name", .string($0)) }
        return [name].compactMap(\.self) + storedMembers
    }

    /// The labels that are stored with a push; the nickname is stored with the device.
    var storedMembers: [JSONValue.Member] {
        let labels = tags.isEmpty ? nil : JSONValue.Member("tags", .strings(tags))
        let pin = isPinned ? JSONValue.Member("pinned", true) : nil
        return [labels, pin].compactMap(\.self)
    }

    init() {}

    /// Reads the labels of a push from its JSON; invalid ones are left out.
    init(record: APIField) {
        tags = (try? record["tags"].ifPresent.map(PushLabels.readTags)) ?? []
        isPinned = record["pinned"].value == true
        let name = (try? record["device-name"].ifPresent.map(PushLabels.readName)) ?? nil
        deviceName = name?.isEmpty == true ? nil : name
    }
}
