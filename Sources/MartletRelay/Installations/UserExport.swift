// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// The data that the relay stores about a user, as pieces of a JSON document.
///
/// Its last member tells whether it is complete, because the status has been sent before the pushes are read.
struct UserExport: AsyncSequence, Sendable {
    /// The number of rows that are read for one piece.
    private static let page = 100

    private let installations: [Installation]
    private let user: String
    private let app: String
    private let context: RelayContext

    init(_ installations: [Installation], of user: String, _ app: String, from context: RelayContext) {
        self.installations = installations
        self.user = user
        self.app = app
        self.context = context
    }

    func makeAsyncIterator() -> Iterator { Iterator(self) }

    struct Iterator: AsyncIteratorProtocol {
        /// The next part of the document.
        private enum Part {
            case head
            case installations
            case surfaces
            case pushes
            case end
        }

        private let export: UserExport
        private var part = Part.head
        private var isFirst = true
        private var installations: ArraySlice<Installation>
        /// The rest of the selections of pushes, beginning with the one that is being read.
        private var selections: ArraySlice<PushSelection>
        /// The number of the last surface or push that was read.
        private var cursor: Int64 = 0

        fileprivate init(_ export: UserExport) {
            self.export = export
            installations = export.installations[...]
            selections = PushSelection.all(ofUser: export.user, with: export.installations)[...]
        }

        mutating func next() async -> [UInt8]? {
            switch part {
            case .head:
                part = .installations
                let names: JSONValue = ["app": .string(export.app), "user": .string(export.user)]
                return Array(names.encoded().dropLast()) + Array(#","installations":["#.utf8)
            case .installations:
                if let installation = installations.popFirst() { return elements([installation.json]) }
                part = .surfaces
                isFirst = true
                return Array(#"],"surfaces":["#.utf8)
            case .surfaces: return await nextSurfaces()
            case .pushes: return await nextPushes()
            case .end: return nil
            }
        }

        /// Returns the next surfaces, without their users, who may be others, or the beginning of the pushes.
        private mutating func nextSurfaces() async -> [UInt8] {
            let pushes = Array(#"],"pushes":["#.utf8)
            let installations = Set(export.installations.map(\.id))
            while true {
                let (app, store, after) = (export.app, export.context.outbox.surfaces, cursor)
                let read = await export.context.read { () async throws(OutboxError) in
                    try await store.surfaces(of: app, after: after, limit: UserExport.page)
                }
                guard case .success(let page) = read else { return pushes + end(isComplete: false) }
                guard let last = page.last else { break }
                cursor = last.number
                let found = page.filter { $0.surface.audience.names(export.user, with: installations) }
                if !found.isEmpty { return elements(found.map { $0.json(showsUsers: false) }) }
            }
            part = .pushes
            isFirst = true
            cursor = 0
            return pushes
        }

        /// Returns the next pushes, or the end of the document.
        private mutating func nextPushes() async -> [UInt8] {
            while let selection = selections.first {
                let found: FoundPushes
                let (app, records, after) = (export.app, export.context.outbox.records, cursor)
                let read = await export.context.read { () async throws(OutboxError) in
                    try await records.pushes(selection, of: app, after: after, limit: UserExport.page)
                }
                switch read {
                case .success(let pushes): found = pushes
                case .failure: return end(isComplete: false)
                }
                cursor = found.next ?? 0
                if found.next == nil { selections.removeFirst() }
                if !found.pushes.isEmpty { return elements(found.pushes.map(\.json)) }
            }
            return end(isComplete: true)
        }

        private mutating func end(isComplete: Bool) -> [UInt8] {
            part = .end
            return Array(#"],"complete":\#(isComplete)}"#.utf8)
        }

        private mutating func elements(_ values: [JSONValue]) -> [UInt8] {
            var bytes: [UInt8] = []
            for value in values {
                if !isFirst { bytes.append(UInt8(ascii: ",")) }
                isFirst = false
                bytes += value.encoded()
            }
            return bytes
        }
    }
}
