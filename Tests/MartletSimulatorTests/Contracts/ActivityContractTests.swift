// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import Testing

@testable import MartletSimulator

/// A ride as an app might show it.
struct RideAttributes: LiveActivityAttributes, Codable, Equatable {
    enum Stage: String, Codable, CaseIterable {
        case waiting
        case onTheWay
    }

    struct Driver: Codable, Equatable {
        var name: String
        var rating: Double?
    }

    struct ContentState: Codable, Equatable {
        var driver: Driver
        var stage: Stage
        var arrival: Date
        var stops: [String]
        var seats: UInt8
        var note: String?
        var byDay: [String: Date]?
    }

    var rideID: UUID
    var isShared: Bool
}

/// A match, the app's other activity.
struct MatchAttributes: LiveActivityAttributes, Codable {
    struct ContentState: Codable {
        var score: [Int]
    }

    var home: String
}

/// Checks of Live Activity pushes against contracts.
@Suite struct ActivityContractTests {
    private static let topic: Topic = "com.example.app"
    private static let state = """
        {"driver":{"name":"Ada","rating":4.5},"stage":"onTheWay","arrival":800000000.5,"stops":["A"],\
        "seats":2,"extra":1}
        """
    private static let attributes = #"{"rideID":"5D3A6A1C-8F9A-42D6-B0E7-C41F2A9B8C7D","isShared":true}"#

    private func push(
        _ event: String,
        state: String? = Self.state,
        type: String? = nil,
        attributes: String? = nil,
        token: String = "5d3a",
        topic: Topic = Self.topic
    ) throws -> ActivityPush {
        var members = [#""timestamp":1,"event":"\#(event)""#]
        if let state { members.append(#""content-state":\#(state)"#) }
        if let type { members.append(#""attributes-type":"\#(type)""#) }
        if let attributes { members.append(#""attributes":\#(attributes)"#) }
        let push = ActivityPush(
            topic: topic.qualified(for: .liveActivity).rawValue,
            pushType: "liveactivity",
            deviceToken: token,
            payload: Array(#"{"aps":{\#(members.joined(separator: ","))}}"#.utf8)
        )
        return try #require(push)
    }

    private func start(_ state: String = Self.state, _ attributes: String? = Self.attributes) throws -> ActivityPush {
        try push("start", state: state, type: "RideAttributes", attributes: attributes)
    }

    // MARK: One contract

    @Test func `values that the app's types decode have no findings`() throws {
        let contract = ActivityContract(for: RideAttributes.self, topic: Self.topic)
        #expect(contract.attributesType == "RideAttributes" && contract.topic == Self.topic)
        #expect(try contract.findings(for: start()).isEmpty)
        #expect(try contract.findings(for: push("update")).isEmpty)
        #expect(try contract.findings(for: push("end", state: nil)).isEmpty)
    }

    @Test(arguments: [
        (#""name":"Ada","#, "", "/driver/name", "/driver/name is missing"),
        (#""Ada""#, "null", "/driver/name", "/driver/name is null, and the app expects a string"),
        (
            "800000000.5", #""2026-05-12T18:31:00Z""#, "/arrival",
            "/arrival is a string, and the app expects a date as seconds since 2001-01-01"
        ),
        (
            #""extra":1"#, #""byDay":{"mon":0,"tue/wed":"x"}"#, "/byDay/tue~1wed",
            "/byDay/tue~1wed is a string, and the app expects a date as seconds since 2001-01-01"
        ),
        ("800000000.5", "null", "/arrival", "/arrival is null, and the app expects a date as seconds since 2001-01-01"),
        (#"["A"]"#, #"["A",7]"#, "/stops/1", "/stops/1 is a number, and the app expects a string"),
        (#"["A"]"#, #"{"A":1}"#, "/stops", "/stops is an object, and the app expects an array"),
        (#"{"name":"Ada","rating":4.5}"#, #""Ada""#, "/driver", "/driver is a string, and the app expects an object"),
        (#""seats":2"#, #""seats":"2""#, "/seats", "/seats is a string, and the app expects a whole number"),
        (#""seats":2"#, #""seats":300"#, "/seats", "/seats is 300, which the app's type cannot represent"),
        (#""seats":2"#, #""seats":1.5"#, "/seats", "/seats is 1.5, which the app's type cannot represent"),
    ])
    func `values that the types cannot decode are reported with the place`(
        part: String,
        other: String,
        pointer: String,
        sentence: String
    ) throws {
        let contract = ActivityContract(for: RideAttributes.self, topic: Self.topic)
        let push = try push("update", state: Self.state.replacing(part, with: other))
        let finding = try #require(contract.findings(for: push).first)
        #expect(contract.findings(for: push).count == 1)
        #expect(finding.rule == "contract-content-state" && finding.severity == .error && finding.reason == nil)
        #expect(finding.place == .payload("/aps/content-state" + pointer))
        #expect(finding.message == "the phone cannot decode content-state: " + sentence)
    }

    @Test func `unknown values of a type are reported with the decoder's message`() throws {
        let contract = ActivityContract(for: RideAttributes.self, topic: Self.topic)
        let push = try push("update", state: Self.state.replacing("onTheWay", with: "on the way"))
        let message = try #require(contract.findings(for: push).first).message
        #expect(message.contains("/stage cannot be decoded by the app's type: "), "\(message)")
        #expect(message.contains("Stage from invalid String value on the way"), "\(message)")
    }

    @Test func `attributes with the members of the content state have a hint`() throws {
        let contract = ActivityContract(for: RideAttributes.self, topic: Self.topic)
        let findings = try contract.findings(for: start(Self.state, Self.state))
        #expect(
            findings.map(\.message) == [
                "the phone cannot decode attributes: /rideID is missing; it has the members of content-state"
            ]
        )
        #expect(findings.map(\.rule) == ["contract-attributes"])
        #expect(try contract.findings(for: start(Self.state, nil)).map(\.place) == [.payload("/aps/attributes")])
        #expect(try contract.findings(for: push("update", state: nil)).map(\.rule) == ["contract-content-state"])
        #expect(
            try contract.findings(for: push("update", state: "[]")).map(\.message) == [
                "the phone cannot decode content-state: it is an array, and the app expects an object"
            ]
        )
    }

    @Test func `schemas report all violations, with the same texts for missing members`() throws {
        let contract = try ActivityContract(schemasOf: RideAttributes.self, topic: Self.topic)
        #expect(try contract.findings(for: start()).isEmpty)
        let state = Self.state.replacing(#""name":"Ada","#, with: "").replacing("800000000.5", with: #""2026-05-12""#)
        #expect(
            try contract.findings(for: push("update", state: state)).map(\.message) == [
                "the phone cannot decode content-state: /driver/name is missing",
                "the phone cannot decode content-state: /arrival is a string; it must be a number",
            ]
        )
    }

    // MARK: JSON

    @Test func `a contract of schemas is encoded to JSON and decoded`() throws {
        let contract = try ActivityContract(
            schemasOf: RideAttributes.self,
            topic: "com.example.app.push-type.liveactivity"
        )
        let copy = try ActivityContract(json: JSONReader.read(contract.json.encoded()))
        #expect(copy.topic == Self.topic && copy.json == contract.json)
        #expect(copy.contentStateSchema != nil && copy.contentStateSchema == contract.contentStateSchema)
        let typed = ActivityContract(for: RideAttributes.self, topic: Self.topic)
        #expect(typed.json["decoded-by"]?.stringValue?.hasSuffix("RideAttributes") == true)
    }

    @Test(arguments: [
        ("[]", "object"), (#"{"topic":"a"}"#, "content-state"), (#"{"topik":"a"}"#, "topik"),
        (#"{"topic":"a","attributes-type":"","content-state":{}}"#, "attributes-type"),
        (#"{"topic":1,"attributes-type":"A","content-state":{}}"#, "topic"),
        (#"{"topic":"a","attributes-type":"A","content-state":{"if":{}}}"#, "content-state: #/if"),
        (#"{"topic":"a","attributes-type":"A","content-state":{},"attributes":7}"#, "attributes: the schema"),
    ])
    func `invalid JSON for a contract is refused with the name of the member`(json: String, word: String) throws {
        let error = try #require(throws: ActivityContractError.self) {
            try ActivityContract(json: JSONReader.read(Array(json.utf8)))
        }
        #expect(error.description.contains(word), "\(error)")
    }

    // MARK: Several contracts

    private func contracts() throws -> ActivityContracts {
        var contracts = ActivityContracts()
        try contracts.set(ActivityContract(for: RideAttributes.self, topic: Self.topic))
        try contracts.set(ActivityContract(for: MatchAttributes.self, topic: Self.topic))
        return contracts
    }

    @Test func `a start is checked with the contract of its attributes type`() throws {
        let contracts = try contracts()
        #expect(try contracts.findings(for: start()).isEmpty)
        let mixed = try push("start", state: #"{"score":[1,0]}"#, type: "RideAttributes", attributes: Self.attributes)
        #expect(contracts.findings(for: mixed).map(\.rule) == ["contract-content-state"])
        let unknown = try push("start", type: "rideAttributes", attributes: "{}")
        #expect(contracts.findings(for: unknown).map(\.rule) == ["contract-attributes-type-unknown"])
        #expect(contracts.findings(for: unknown).map(\.severity) == [.warning])
        #expect(try contracts.findings(for: push("update", state: "{}", topic: "com.example.other")).isEmpty)
    }

    @Test func `an update is checked with the closest contract of its topic`() throws {
        let contracts = try contracts()
        #expect(try contracts.findings(for: push("update")).isEmpty)
        #expect(try contracts.findings(for: push("update", state: #"{"score":[1,0]}"#)).isEmpty)
        let close = try contracts.findings(for: push("update", state: #"{"score":[1,"0"]}"#))
        #expect(close.map(\.place) == [.payload("/aps/content-state/score/1")])
    }

    @Test func `an update of a known activity is checked with its contract`() throws {
        var contracts = try contracts()
        contracts.record(try start())
        let wrong = try push("update", state: #"{"score":[1,0]}"#)
        #expect(contracts.findings(for: wrong).map(\.place) == [.payload("/aps/content-state/driver")])
        contracts.remember("5D3A", isOf: "MatchAttributes")
        #expect(contracts.findings(for: wrong).isEmpty)
        #expect(try contracts.findings(for: push("update", token: "a1b2")).isEmpty)
    }

    @Test func `contracts are replaced, removed and bounded, and so are tokens`() throws {
        var contracts = try contracts()
        try contracts.set(
            ActivityContract(topic: Self.topic, attributesType: "MatchAttributes", contentState: .init(false))
        )
        #expect(contracts.all.map(\.attributesType) == ["RideAttributes", "MatchAttributes"])
        let removed = contracts.remove("RideAttributes", topic: "com.example.app.push-type.liveactivity")
        #expect(removed && contracts.remove("RideAttributes", topic: Self.topic) == false)
        #expect(try contracts.findings(for: push("update")).map(\.rule) == ["contract-content-state"])
        for number in contracts.all.count..<ActivityContracts.limit {
            try contracts.set(ActivityContract(topic: "a", attributesType: "\(number)", contentState: .init(true)))
        }
        #expect(throws: ActivityContractError.self) {
            try contracts.set(ActivityContract(topic: "b", attributesType: "A", contentState: .init(true)))
        }
    }

    @Test func `the oldest token is forgotten first`() throws {
        var contracts = try contracts()
        let wrong = try push("update", state: #"{"score":[1,0]}"#, token: "00")
        contracts.remember("00", isOf: "RideAttributes")
        for number in 1..<ActivityContracts.tokenLimit { contracts.remember("x\(number)", isOf: "RideAttributes") }
        #expect(!contracts.findings(for: wrong).isEmpty)
        contracts.remember("y", isOf: "RideAttributes")
        #expect(contracts.findings(for: wrong).isEmpty)
    }

    @Test func `pushes for other types are not activity pushes`() throws {
        let payload = Array(#"{"aps":{"event":"update"}}"#.utf8)
        #expect(ActivityPush(topic: "a", pushType: "alert", deviceToken: "", payload: payload) == nil)
        #expect(ActivityPush(topic: "a", pushType: "liveactivity", deviceToken: "", payload: Array("{}".utf8)) == nil)
        #expect(ActivityPush(topic: "a", pushType: "LiveActivity", deviceToken: "", payload: payload)?.event == .update)
    }
}
