// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import MartletCore
import MartletOutbox
import Testing

@testable import MartletRelay

/// The stored form of the state of a surface on an installation.
struct StoredSessionStateTests {
    /// Sessions in each phase, with pushes of each kind.
    private func benches() throws -> [SurfaceSessionBench] {
        let new = SurfaceSessionBench()
        var starting = new
        try starting.report([.startToken("start")])
        try starting.stored.add(.device, "device", at: starting.now)
        starting.show(.examples(of: .liveActivity, .widget, .notification))
        #expect(starting.state.pending.count == 2)
        var unconfirmed = new
        try unconfirmed.report([.startToken("start")])
        unconfirmed.show(.activity(1))
        try unconfirmed.settle()
        var waiting = unconfirmed
        try waiting.report([waiting.card(nil)])
        var live = waiting
        try live.report([live.card("update")])
        live.now += 27_000
        live.step()
        #expect(live.plan.sends.count == 2, "an update, and the start of a successor")
        var cancelled = live
        cancelled.show(nil)
        var ending = new
        try ending.goLive()
        ending.show(nil)
        var lost = new
        try lost.goLive()
        lost.show(.activity(2, isUrgent: true))
        try lost.settle(.refused, 410)
        #expect(try lost.account(.liveActivity).reason == .endedWithoutReport)
        var refused = new
        try refused.report([.startToken("start")])
        refused.show(.activity(1))
        try refused.settle(.refused, 400)
        var onChannel = new
        let channel = SurfaceChannel.test(storesBroadcasts: true)
        try onChannel.goLive(on: channel)
        onChannel.show(.activity(2, isUrgent: true, on: channel))
        #expect(onChannel.broadcast != nil)
        var withdrawn = onChannel
        withdrawn.show(nil)
        var unregistered = new
        try unregistered.stored.add(.device, "device", at: unregistered.now)
        try unregistered.stored.add(.widgets, "widgets", at: unregistered.now)
        unregistered.show(.examples(of: .widget))
        try unregistered.settle(.refused, 410)
        #expect(!unregistered.state.unregistered.isEmpty)
        return [
            new, starting, unconfirmed, waiting, live, cancelled, ending, lost, refused, onChannel, withdrawn,
            unregistered,
        ]
    }

    private func read(_ text: String) throws(UnreadableSessionState) -> SurfaceSessionState {
        try SurfaceSessionState(stored: Array(text.utf8))
    }

    @Test func `a state without bytes is that before the first step`() throws {
        #expect(try SurfaceSessionState(stored: []) == SurfaceSessionState())
        #expect(SurfaceSessionState().stored == Array("{}".utf8))
        #expect(try read("{}") == SurfaceSessionState())
    }

    @Test func `the state of each phase can be read again`() throws {
        var phases: Set<String> = []
        for bench in try benches() {
            let stored = bench.state.stored
            #expect(try SurfaceSessionState(stored: stored) == bench.state)
            let phase = try JSONReader.read(stored)["activity"]?["assumed"]?["phase"]
            phases.insert(phase?["name"]?.stringValue ?? "none")
        }
        #expect(phases == ["none", "starting", "unconfirmed", "live", "ending"])
    }

    @Test func `unknown members are ignored`() throws {
        for bench in try benches() {
            let changed = try JSONReader.read(bench.state.stored).withMember("later", [["is": "unknown"]])
            #expect(try SurfaceSessionState(stored: changed.encoded()) == bench.state)
        }
    }

    @Test func `a value of another type cannot be read`() throws {
        for bench in try benches() {
            for changed in try JSONReader.read(bench.state.stored).replacingEach({ _ in .null }) {
                #expect(throws: UnreadableSessionState.self) { try SurfaceSessionState(stored: changed.encoded()) }
            }
        }
        let texts = [
            "7", "[]", "{", "\"\"", #"{"activity":7}"#, #"{"activity":[]}"#, #"{"sent":[]}"#, #"{"pending":{}}"#,
            #"{"pending":[{}]}"#, #"{"sent":{"widget":7}}"#, #"{"pausedUntil":"7"}"#, #"{"pausedUntil":true}"#,
            #"{"pausedUntil":7,"pausedUntil":7}"#, #"{"activity":{"absence":"other"}}"#,
            #"{"activity":{"assumed":{"isAllowed":1}}}"#, #"{"activity":{"assumed":{"phase":{}}}}"#,
            #"{"activity":{"assumed":{"phase":{"name":"other"}}}}"#,
            #"{"activity":{"assumed":{"phase":{"name":"live"}}}}"#,
            #"{"activity":{"assumed":{"startToken":{"token":"7","reportedAt":7}}}}"#,
            String(repeating: "[", count: 10_000),
        ]
        for text in texts {
            #expect(throws: UnreadableSessionState.self, "\(text.prefix(80))") { try read(text) }
        }
    }

    @Test func `an integer is read exactly or not at all`() throws {
        for number in ["1125899906842623", "1125899906842624", "-1125899906842624", "1"] {
            let state = try read("{\"pausedUntil\":\(number)}")
            #expect(state.pausedUntil == Int64(number))
            #expect(String(decoding: state.stored, as: UTF8.self) == "{\"pausedUntil\":\(number)}")
        }
        let others = [
            "1125899906842625", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "1.5", "1e3",
            "1e999999999",
        ]
        for number in others {
            #expect(throws: UnreadableSessionState.self, "\(number)") { try read("{\"pausedUntil\":\(number)}") }
        }
    }

    @Test func `a step after extreme numbers does not trap`() throws {
        for number: Int64 in [1 << 50, -1 << 50] {
            let extreme = JSONValue.integer(number)
            for bench in try benches() {
                let stored = try JSONReader.read(bench.state.stored)
                let isNumber = { (value: JSONValue) in value.integerValue != nil }
                let changes = stored.replacingEach { isNumber($0) ? extreme : nil }
                for changed in changes + [stored.replacingAll { isNumber($0) ? extreme : nil }] {
                    var damaged = bench
                    damaged.state = try SurfaceSessionState(stored: changed.encoded())
                    damaged.step()
                    let ids = damaged.state.pending.map(\.id)
                    let endedAt = damaged.now * 1_000
                    damaged.step(ids.map { SessionResult(id: $0, state: .delivered, status: 200, endedAt: endedAt) })
                    damaged.show(.activity(3, isUrgent: true))
                    _ = damaged.state.account(of: damaged.content, changedBy: damaged.last)
                    damaged.show(nil)
                }
            }
        }
    }
}

extension JSONValue {
    /// Returns the value with one more member in each object, except in that of the kinds, whose names are data.
    fileprivate func withMember(_ name: String, _ value: JSONValue) -> JSONValue {
        switch self {
        case .array(let elements): return .array(elements.map { $0.withMember(name, value) })
        case .object(let members):
            let changed = members.map { (member) -> Member in
                guard member.name == "sent" else { return Member(member.name, member.value.withMember(name, value)) }
                let kinds = member.value.members ?? []
                return Member("sent", .object(kinds.map { Member($0.name, $0.value.withMember(name, value)) }))
            }
            return .object(changed + [Member(name, value)])
        case .null, .bool, .number, .string: return self
        }
    }

    /// Returns the value with replacements of values in it; nil keeps one.
    fileprivate func replacingAll(_ replacement: (JSONValue) -> JSONValue?) -> JSONValue {
        if let new = replacement(self) { return new }
        return switch self {
        case .array(let elements): .array(elements.map { $0.replacingAll(replacement) })
        case .object(let members): .object(members.map { Member($0.name, $0.value.replacingAll(replacement)) })
        case .null, .bool, .number, .string: self
        }
    }

    /// Returns the values that have one of the replacements each.
    fileprivate func replacingEach(_ replacement: (JSONValue) -> JSONValue?) -> [JSONValue] {
        var changes = replacement(self).map { [$0] } ?? []
        switch self {
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                for change in element.replacingEach(replacement) {
                    var changed = elements
                    changed[index] = change
                    changes.append(.array(changed))
                }
            }
        case .object(let members):
            for (index, member) in members.enumerated() {
                for change in member.value.replacingEach(replacement) {
                    var changed = members
                    changed[index].value = change
                    changes.append(.object(changed))
                }
            }
        case .null, .bool, .number, .string: break
        }
        return changes
    }
}
