// SPDX-License-Identifier: Apache-2.0

import MartletCore
import TestSupport
import Testing

@testable import LiveSurfaces

/// Tests of the decisions about requests, without a network.
@Suite(.timeLimit(.minutes(SeededWorlds.timeLimit))) struct InstallationStateTests {
    private static let locale = MemberPath("locale")

    @Test func `the relay has what the phone has after failures`() async {
        let violations = await SeededWorlds("phones of a relay", count: 10_000).violations { seed, tell in
            var world = InstallationWorld(seed: seed, tell: tell)
            try world.run()
        }
        #expect(violations.isEmpty, "\(violations.joined(separator: "\n"))")
    }

    @Test func `an enrollment has no tokens, and a report only what changed`() {
        var phone = ModelPhone()
        let enrollment = [
            #"POST {"environment":"production"}"#, #"PATCH {"locale":"de","tokens":{"device":"ab12"}}"#,
        ]
        #expect(phone.settle() == enrollment)
        phone.state.set(.text("ab12"), at: PushTokenSlot.device.path)
        phone.state.set(.text("de"), at: Self.locale)
        #expect(phone.settle().isEmpty && phone.state.isSettled)
        phone.state.set(.text("cd34"), at: PushTokenSlot.control(kind: "A").path)
        phone.state.set(.flag(true), at: MemberPath("permissions", "alerts"))
        let report = #"PATCH {"permissions":{"alerts":true},"tokens":{"controls":{"A":"cd34"}}}"#
        #expect(phone.settle() == [report])
        phone.state.removeControls(except: ["B"])
        #expect(phone.settle() == [#"PATCH {"tokens":{"controls":{"A":null}}}"#])
    }

    @Test func `a value whose answer was lost is sent again`() throws {
        var phone = ModelPhone()
        _ = phone.settle()
        phone.state.set(.text("fr"), at: Self.locale)
        let request = try phone.request()
        phone.state.begin(request)
        _ = phone.relay.answer(request)
        _ = phone.state.retry(because: "no answer", jitter: 1)
        // The relay has the other value now.
        phone.state.set(.text("de"), at: Self.locale)
        #expect(phone.settle() == [#"PATCH {"locale":"de"}"#])
    }

    @Test func `the former user's installation is removed first`() throws {
        var phone = ModelPhone()
        _ = phone.settle()
        phone.state.setUser("bert")
        #expect(phone.settle().map { $0.prefix(6) } == ["DELETE", "POST {", "PATCH "])
        #expect(phone.relay.installations.values.map(\.user) == ["bert"])
    }

    @Test func `a late answer to the former user's enrollment is ignored`() throws {
        var phone = ModelPhone()
        let request = try phone.request()
        let answer = phone.relay.answer(request)
        phone.state.setUser("bert")
        _ = phone.state.receive(answer, to: request, jitter: 1)
        #expect(phone.settle().first == "DELETE ")
        #expect(phone.relay.installations.values.map(\.user) == ["bert"])
    }

    @Test func `a removed installation is enrolled again after a delay`() throws {
        var phone = ModelPhone()
        _ = phone.settle()
        let secret = try #require(phone.state.installation?.secret)
        phone.relay.forget(secret)
        phone.state.set(.text("fr"), at: Self.locale)
        let request = try phone.request()
        #expect(phone.state.receive(phone.relay.answer(request), to: request, jitter: 1) == .seconds(1))
        #expect(phone.settle().map { $0.prefix(4) } == ["POST", "PATC"])
    }

    @Test func `a refused value is left out until it changes`() throws {
        var phone = ModelPhone()
        _ = phone.settle()
        phone.state.set(.text("de CH"), at: Self.locale)
        phone.state.set(.text("cd34"), at: PushTokenSlot.widgets.path)
        let request = try phone.request()
        let body = #"{"detail":"locale must be …","errors":[{"pointer":"/locale"}]}"#
        let refusal = InstallationAnswer(status: 400, body: Array(body.utf8))
        phone.state.begin(request)
        #expect(phone.state.receive(refusal, to: request, jitter: 1) == .zero)
        #expect(phone.state.problem == "the relay answered 400: locale must be …")
        #expect(phone.settle() == [#"PATCH {"tokens":{"widgets":"cd34"}}"#])
        phone.state.set(.text("de-CH"), at: Self.locale)
        #expect(phone.settle() == [#"PATCH {"locale":"de-CH"}"#])
        // A refusal that names no value ends the requests.
        phone.state.set(.text("fr"), at: Self.locale)
        let repeated = try phone.request()
        _ = phone.state.receive(InstallationAnswer(status: 422, body: []), to: repeated, jitter: 1)
        #expect(phone.state.nextStep == nil && !phone.state.isSettled)
    }

    @Test func `delays double to 17 minutes and follow Retry-After`() throws {
        var phone = ModelPhone()
        let request = try phone.request()
        let delays = (0..<12).map { _ in phone.state.retry(because: "no answer", jitter: 1).components.seconds }
        #expect(delays == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 1_024])
        let busy = InstallationAnswer(status: 429, retryAfter: "30", body: [])
        #expect(phone.state.receive(busy, to: request, jitter: 0.5) == .seconds(542))
        let never = InstallationAnswer(status: 503, retryAfter: "\(Int.max)", body: [])
        #expect(phone.state.receive(never, to: request, jitter: 0.5) == .seconds(86_912))
        _ = phone.settle()
        #expect(phone.state.retry(because: "no answer", jitter: 1) == .seconds(1))
    }

    @Test func `an extension reports its tokens only`() throws {
        var phone = ModelPhone()
        #expect(phone.state.report(of: [.widgets: try DeviceToken(hex: "ef56")]) == nil)
        _ = phone.settle()
        phone.state.set(.text("fr"), at: Self.locale)
        let request = try #require(phone.state.report(of: [.widgets: try DeviceToken(hex: "ef56")]))
        #expect(String(decoding: request.body, as: UTF8.self) == #"{"tokens":{"widgets":"ef56"}}"#)
        #expect(phone.relay.answer(request).status == 200)
    }

    @Test func `requests and answers do not show secrets`() throws {
        var phone = ModelPhone()
        let request = try phone.request()
        let answer = phone.relay.answer(request)
        var text = "\(request) \(answer)"
        dump(request, to: &text)
        dump(answer, to: &text)
        #expect(!text.contains("ticket") && !text.contains("secret"))
    }
}
