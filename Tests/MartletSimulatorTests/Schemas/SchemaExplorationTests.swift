// SPDX-License-Identifier: Apache-2.0

import Foundation
import LiveSurfaces
import MartletCore
import MartletSimulator
import Testing

/// Schemas derived from Swift types, and types without a schema.
@Suite struct SchemaExplorationTests {
    struct Order: Codable {
        struct Item: Codable {
            var title: String
            var price: Decimal
            var size: Size?
        }

        enum Size: Int, Codable, CaseIterable {
            case small = 1
            case large = 3
        }

        var id: UUID
        var link: URL
        var made: Date
        var items: [Item]
        var notes: [String: String]
        var flags: Set<Int8>
        var picture: Data?
        var share: Float
        var delays: [Double?]
        var isPaid: Bool
    }

    private static let order = """
        {"id":"5D3A6A1C-8F9A-42D6-B0E7-C41F2A9B8C7D","link":"https://example.com","made":1.5,"items":[{"title":"a",\
        "price":9.99,"size":3},{"title":"b","price":1,"size":null}],"notes":{"a":"b"},"flags":[1,-128],"share":0.5,\
        "delays":[1,null],"isPaid":true}
        """

    @Test func `a derived schema accepts the values that the type decodes`() throws {
        let schema = try JSONSchema(decoding: Order.self)
        let order = try json(Self.order)
        #expect(schema.violations(of: order).isEmpty)
        var damaged = DamagedJSON(seed: 3)
        var counts = [true: 0, false: 0]
        for _ in 0..<2_000 {
            let value = damaged.damage(order)
            let isDecoded = (try? JSONDecoder().decode(Order.self, from: Data(value.encoded()))) != nil
            // The schema does not say which texts are addresses or identifiers.
            let isOtherText = ["link", "id"].contains { name in
                value[name]?.stringValue != nil && value[name] != order[name]
            }
            if isOtherText { continue }
            #expect(schema.accepts(value) == isDecoded, "\(String(decoding: value.encoded(), as: UTF8.self))")
            counts[isDecoded, default: 0] += 1
        }
        #expect(counts.values.allSatisfy { $0 > 100 })
    }

    @Test func `a derived schema equals a written one`() throws {
        struct Score: Codable {
            var home: Int8
            var stage: LiveActivityStage?
        }
        let expected = try json(
            """
            {"$schema":"https://json-schema.org/draft/2020-12/schema","title":"Score","type":"object","properties":\
            {"home":{"type":"integer","minimum":-128,"maximum":127},"stage":{"enum":\
            [\(LiveActivityStage.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ",")),null]}},\
            "required":["home"]}
            """
        )
        #expect(try JSONSchema(decoding: Score.self).json == expected)
    }

    @Test func `the snapshots' own Live Activity has a schema`() throws {
        let schema = try JSONSchema(decoding: SurfaceActivityAttributes.ContentState.self)
        let state = SurfaceActivityAttributes.ContentState(
            headline: "a",
            subhead: "b",
            progress: 0.5,
            stage: .inProgress
        )
        #expect(schema.accepts(state.json))
    }

    @Test func `custom decoding is observed`() throws {
        struct Pair: Decodable {
            var first: String
            var second: Int
            var nested: Bool

            enum Keys: CodingKey { case pair, inner, flag }

            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Keys.self)
                var list = try container.nestedUnkeyedContainer(forKey: .pair)
                first = try list.decode(String.self)
                second = try list.decode(Int.self)
                let inner = try container.nestedContainer(keyedBy: Keys.self, forKey: .inner)
                nested = try inner.decodeIfPresent(Bool.self, forKey: .flag) ?? false
            }
        }
        let schema = try JSONSchema(decoding: Pair.self)
        #expect(schema.accepts(try json(#"{"pair":["a",1],"inner":{}}"#)))
        #expect(!schema.accepts(try json(#"{"pair":["a"],"inner":{}}"#)))
        #expect(!schema.accepts(try json(#"{"pair":["a",1]}"#)))
    }

    // MARK: Unsupported types

    private enum Open: String, Codable {
        case a
    }

    private enum Payload: Codable {
        case text(String)
        case none
    }

    private final class Tree: Codable {
        var children: [Tree] = []
    }

    private struct Tolerant: Decodable {
        enum Keys: CodingKey { case count }

        init(from decoder: any Decoder) throws {
            _ = try? decoder.container(keyedBy: Keys.self).decode(Int.self, forKey: .count)
        }
    }

    private struct Swallowing: Decodable {
        enum Keys: CodingKey { case open }

        init(from decoder: any Decoder) throws {
            _ = try? decoder.container(keyedBy: Keys.self).decode(Open.self, forKey: .open)
        }
    }

    @Test func `unsupported types are reported with advice`() throws {
        try refuses([String: Open].self, "Open: its values are unknown: make it CaseIterable")
        try refuses(Payload.self, "Payload: it does not decode placeholder values")
        try refuses(Tree.self, "it contains itself")
        try refuses([Int: String].self, "the keys of a dictionary must be strings")
        try refuses(Tolerant.self, "Tolerant: its decoding depends on the decoded values")
        try refuses(Swallowing.self, "Open: its values are unknown")
    }

    private func refuses<Value: Decodable>(_ type: Value.Type, _ words: String) throws {
        let error = try #require(throws: SchemaExplorationError.self) { try JSONSchema(decoding: type) }
        #expect(error.description.contains(words), "\(error)")
    }

    private func json(_ text: String) throws -> JSONValue { try JSONReader.read(Array(text.utf8)) }
}
