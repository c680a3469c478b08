// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import MartletHTTPServer
import MartletOutbox
import MartletSimulator
import MartletTransport
import TestSupport
import Testing

@testable import MartletRelay

/// Tickets, enrollments and installations, as back ends and apps use them.
@Suite(.timeLimit(.minutes(10))) struct EnrollmentTests {
    private static let report = #"""
        ,"tokens":{"device":"AB12","start":{"OrderAttributes":"cd34"},"widgets":"0102",
        "controls":{"com.example.lamp":"0304"}},"activities":{"A-1":{"surface":"order-1","token":"EF56"}},
        "locale":"de-CH","time-zone":"Europe/Zurich","app-version":"4.2 (17)","system-version":"26.1",
        "model":"iPhone17,1","permissions":{"alerts":true,"live-activities":false}
        """#

    @Test func `an app trades its ticket for an installation, which the back end sees`() async throws {
        let bench = try await EnrollmentBench()
        let ticket = try await bench.ticket(for: "anna", #","tags":["vip","de"]"#)
        let answer = await bench.phone("POST", #"{"environment":"production"\#(Self.report)}"#, with: ticket)
        #expect(answer.status == 201, "\(answer.text)")
        let own = try #require(answer.json["installation"])
        let id = try #require(own["id"]?.stringValue)
        #expect(own["user"] == "anna" && own["app"] == "orders" && own["bundle-id"] == "com.example.orders")
        #expect(own["tags"] == ["de", "vip"] && own["environment"] == "production" && own["locale"] == "de-CH")
        let tokens: JSONValue = [
            "device": "ab12", "start": ["OrderAttributes": "cd34"], "widgets": "0102",
            "controls": ["com.example.lamp": "0304"],
        ]
        #expect(own["tokens"] == tokens)
        #expect(own["activities"] == ["A-1": ["surface": "order-1", "token": "ef56"]])
        #expect(own["permissions"] == ["alerts": true, "live-activities": false])
        #expect(await bench.ask("GET", "/installations/\(id)").json == own)
        let secret = try #require(answer.json["secret"]?.stringValue)
        #expect(await bench.phone("GET", with: secret).json == own)
        let found = await bench.installations("?user=anna") + bench.installations("?tag=vip")
        #expect(found == [own, own])
        #expect(await bench.installations("?user=bert").isEmpty)
        await bench.stop()
    }

    @Test func `the second user of a phone gets its token after the clock is set back`() async throws {
        let clock = TestClock()
        let bench = try await EnrollmentBench(clock: clock.wall)
        let anna = try await bench.enroll("anna", Self.report)
        clock.advance(by: -3_600)
        let bob = try await bench.enroll("bob", Self.report)
        #expect(await bench.ask("GET", "/installations/\(anna.id)").json["tokens"]?["device"] == nil)
        #expect(await bench.ask("GET", "/installations/\(bob.id)").json["tokens"]?["device"] == "ab12")
        // The answer to a report shows what is stored.
        let back = await bench.phone("PATCH", #"{"tokens":{"device":"ab12"}}"#, with: anna.secret)
        #expect(back.status == 200 && back.json["tokens"]?["device"] == "ab12", "\(back.text)")
        #expect(await bench.ask("GET", "/installations/\(bob.id)").json["tokens"]?["device"] == nil)
        await bench.stop()
    }

    @Test func `an app changes the members that it names, and null removes one`() async throws {
        let bench = try await EnrollmentBench()
        let (secret, id) = try await bench.enroll("anna", Self.report)
        let change = #"""
            {"tokens":{"device":"ff00","start":null},"activities":{"A-1":null,"A-2":{"surface":"order-2"}},
             "locale":null,"permissions":{"live-activities":true,"alerts":null},"app-version":"5"}
            """#
        let changed = await bench.phone("PATCH", change, with: secret)
        #expect(changed.status == 200, "\(changed.text)")
        let tokens: JSONValue = [
            "device": "ff00", "widgets": "0102", "controls": ["com.example.lamp": "0304"],
        ]
        #expect(changed.json["tokens"] == tokens && changed.json["locale"] == nil)
        #expect(changed.json["activities"] == ["A-2": ["surface": "order-2"]])
        #expect(changed.json["permissions"] == ["live-activities": true] && changed.json["model"] == "iPhone17,1")
        #expect(changed.json["app-version"] == "5")
        #expect(await bench.ask("GET", "/installations/\(id)").json == changed.json)
        #expect(await bench.phone("PATCH", "{}", with: secret).json == changed.json)
        let tagged = await bench.ask("PATCH", "/installations/\(id)", #"{"tags":["new"],"tokens":{"widgets":null}}"#)
        #expect(tagged.json["tags"] == ["new"] && tagged.json["tokens"]?["widgets"] == nil)
        #expect(tagged.json["seen-at"] == changed.json["seen-at"])
        #expect(await bench.phone("DELETE", with: secret).status == 204)
        #expect(await bench.phone("GET", with: secret).status == 401)
        #expect(await bench.ask("GET", "/installations/\(id)").status == 404)
        await bench.stop()
    }

    @Test func `a late sign-out of the first user keeps the second user's token`()
        async throws
    {
        let bench = try await EnrollmentBench()
        let anna = try await bench.enroll("anna", #","tokens":{"device":"ab12"}"#)
        let bert = try await bench.enroll("bert", #","tokens":{"device":"ab12"}"#)
        #expect(await bench.ask("GET", "/installations/\(anna.id)").json["tokens"] == [:])
        #expect(await bench.phone("DELETE", with: anna.secret).status == 204)
        #expect(await bench.phone("GET", with: bert.secret).json["tokens"] == ["device": "ab12"])
        await bench.stop()
    }

    @Test func `a reinstalled app that still has its secret replaces its installation`() async throws {
        let bench = try await EnrollmentBench()
        let old = try await bench.enroll("anna", #","tokens":{"device":"ab12"}"#)
        let new = try await bench.enroll("anna", #","tokens":{"device":"cd34"},"replaces":"\#(old.secret)""#)
        #expect(await bench.phone("GET", with: old.secret).status == 401)
        #expect(await bench.installations().map { $0["id"]?.stringValue } == [new.id])
        // A secret that is no longer known, or never was, does not keep an app from enrolling.
        _ = try await bench.enroll("anna", #","replaces":"\#(old.secret)""#)
        _ = try await bench.enroll("anna", #","replaces":"mri_x""#)
        _ = try await bench.enroll("anna", #","replaces":null"#)
        #expect(await bench.installations().count == 4)
        await bench.stop()
    }

    @Test func `a phone restored from a backup enrolls again, and both get pushes`() async throws {
        let bench = try await EnrollmentBench()
        let old = try await bench.enroll("anna", #","tokens":{"device":"ab12"}"#)
        // The copied secret is the old phone's: reporting the new phone's token moves the installation to it.
        #expect(await bench.phone("PATCH", #"{"tokens":{"device":"cd34"}}"#, with: old.secret).status == 200)
        // An app that keeps its secret out of backups enrolls instead.
        let new = try await bench.enroll("anna", #","tokens":{"device":"ef56"}"#)
        let tokens = await bench.installations("?user=anna").map { $0["tokens"]?["device"]?.stringValue }
        #expect(tokens == ["cd34", "ef56"] && old.id != new.id)
        await bench.stop()
    }

    @Test func `another environment removes the tokens of the one before`() async throws {
        let relay = try await RelayBench {
            $0.apps[0].environments = [.production, .development]
            $0.endpoints[.development] = $0.endpoints[.production]
            if let key = try? RelayConfiguration.Caller(
                key: EnrollmentBench.key,
                apps: ["orders"],
                scopes: [.installations]
            ) {
                $0.callers.append(key)
            }
        }
        let ticket = await relay.ask(
            "POST",
            "/v1/apps/orders/tickets",
            #"{"user":"anna"}"#,
            key: EnrollmentBench.key
        ).json["ticket"]?.stringValue
        let body = #"{"environment":"development","tokens":{"device":"ab12","widgets":"cd34"}}"#
        let phone = await relay.ask("POST", "/v1/installation", body, key: ticket).json
        let secret = phone["secret"]?.stringValue
        let same = await relay.ask("PATCH", "/v1/installation", #"{"environment":"development"}"#, key: secret).json
        #expect(same["tokens"] == ["device": "ab12", "widgets": "cd34"])
        let moved = #"{"environment":"production","tokens":{"device":"ab12"}}"#
        let now = await relay.ask("PATCH", "/v1/installation", moved, key: secret).json
        #expect(now["tokens"] == ["device": "ab12"] && now["environment"] == "production")
        await relay.stop()
    }

    @Test func `Apple's 410 removes the one token that it names`() async throws {
        let bench = try await EnrollmentBench()
        let (secret, _) = try await bench.enroll("anna", #","tokens":{"device":"ab12","start":{"Order":"cd34"}}"#)
        await bench.relay.apple.unregister(try DeviceToken(hex: "ab12"), since: Date(timeIntervalSince1970: 1))
        #expect(await bench.relay.push(to: "ab12").json["state"] == "refused")
        #expect(await bench.phone("GET", with: secret).json["tokens"] == ["start": ["Order": "cd34"]])
        #expect(await bench.relay.push(to: "ab12").status == 410)
        // The app reports a token again: it gets pushes again.
        #expect(await bench.phone("PATCH", #"{"tokens":{"device":"ab12"}}"#, with: secret).status == 200)
        #expect(await bench.relay.push(to: "ab12").json["state"] == "refused")
        await bench.stop()
    }

    @Test func `the export of a user has the installations and pushes`() async throws {
        let bench = try await EnrollmentBench()
        _ = try await bench.enroll("anna b/ç", #","tokens":{"device":"ab12"}"#)
        _ = try await bench.enroll("anna b/ç", #","tokens":{"device":"cd34"}"#)
        _ = try await bench.enroll("bert", #","tokens":{"device":"ef56"}"#)
        let later = #","not-before":\#(bench.relay.parts.now / 1_000 + 3_600)"#
        for token in ["ab12", "ef56", "ab12"] {
            let push = #"{"to":"\#(token)","payload":{"aps":{"alert":"Secret"}}\#(later)}"#
            #expect(await bench.relay.ask("POST", "/v1/pushes", push).status == 202)
        }
        let data = await bench.export("anna%20b%2F%C3%A7")
        #expect(data["user"] == "anna b/ç" && data["app"] == "orders" && data["complete"] == true)
        #expect(data["installations"] == .array(await bench.installations("?user=anna+b/%C3%A7")))
        #expect(data["installations"]?.elements?.count == 2)
        #expect(data["pushes"]?.elements?.map { $0["state"] } == ["accepted", "accepted"])
        let nobody = await bench.export("nobody")
        #expect(nobody["installations"] == [] && nobody["surfaces"] == [])
        #expect(nobody["pushes"] == [] && nobody["complete"] == true)
        await bench.stop()
    }

    @Test func `a phone that reports another user's token gets no pushes of the user`() async throws {
        let bench = try await EnrollmentBench()
        _ = try await bench.enroll("anna", #","tokens":{"device":"ab12"}"#)
        let later = #","not-before":\#(bench.relay.parts.now / 1_000 + 3_600)"#
        let push = #"{"to":"ab12","payload":{"aps":{"alert":"Secret"}}\#(later)}"#
        let id = await bench.relay.ask("POST", "/v1/pushes", push).json["id"]
        _ = try await bench.enroll("bob", #","tokens":{"device":"ab12"}"#)
        #expect(await bench.export("bob")["pushes"] == [])
        #expect(await bench.export("anna")["pushes"]?.elements?.map { $0["id"] } == [id])
        let bob = await bench.ask("DELETE", "/users/bob").json
        #expect(bob == ["installations": 1, "cancelled-pushes": 0, "dead-letters": 0])
        let anna = await bench.ask("DELETE", "/users/anna").json
        #expect(anna == ["installations": 1, "cancelled-pushes": 1, "dead-letters": 0])
        await bench.stop()
    }

    @Test func `a waiting push is not sent to the next user of the phone`() async throws {
        let clock = TestClock()
        let bench = try await EnrollmentBench(clock: clock.wall)
        _ = try await bench.enroll("anna", #","tokens":{"device":"ab12"}"#)
        let push = #"{"to":"ab12","payload":{"aps":{"alert":"Secret"}},"not-before":\#(clock.now + 600)}"#
        let id = await bench.relay.ask("POST", "/v1/pushes", push).json["id"]?.stringValue ?? ""
        _ = try await bench.enroll("bob", #","tokens":{"device":"ab12"}"#)
        clock.advance(by: 601)
        let answer = await bench.relay.ask("GET", "/v1/pushes/\(id)?wait=30")
        #expect(answer.json["state"] == "cancelled" && answer.json["apns"]?["reason"] == "FormerUser", "\(answer.text)")
        #expect(await bench.relay.apple.pushCount == 0)
        #expect(await bench.relay.push(to: "ab12").json["state"] == "delivered")
        await bench.stop()
    }

    /// Another phone takes the token while the body of the report arrives.
    @Test func `a report that changes nothing is answered with what is stored`() async throws {
        let bench = try await EnrollmentBench()
        let anna = try await bench.enroll("anna", #","tokens":{"device":"ab12"}"#)
        let registry = bench.relay.parts.registry
        let stored = try await registry.installation("Bearer \(anna.secret)")
        _ = try await bench.enroll("bob", #","tokens":{"device":"ab12"}"#)
        let answer = try await registry.change(stored, InstallationChange(), by: .app)
        #expect(answer?.tokens.isEmpty == true)
        await bench.stop()
    }

    @Test func `removing a user removes everything of the user, and nothing of others`() async throws {
        let bench = try await EnrollmentBench()
        let anna = try await bench.enroll("anna", #","tokens":{"device":"ab12","start":{"A":"cd34"}}"#)
        let bert = try await bench.enroll("bert", #","tokens":{"device":"ef56"}"#)
        let unused = try await bench.ticket(for: "anna")
        let other = try await bench.ticket(for: "bert")
        let later = #","not-before":\#(bench.relay.parts.now / 1_000 + 3_600)"#
        var ids: [String] = []
        for token in ["ab12", "ef56"] {
            let push = #"{"to":"\#(token)","payload":{"aps":{"alert":"Secret"}}\#(later)}"#
            ids.append(await bench.relay.ask("POST", "/v1/pushes", push).json["id"]?.stringValue ?? "")
        }
        let values = #","values":{"anna":{"name":"Secret"},"bert":{"name":"Bert"}}"#
        let job = await bench.send(to: #"{"all":true}"#, #""payload":{"aps":{"alert":"{{name}}"}}"# + values + later)
        #expect(job.status == 202, "\(job.text)")
        let answer = await bench.ask("DELETE", "/users/anna")
        #expect(answer.status == 200, "\(answer.text)")
        #expect(answer.json == ["installations": 1, "cancelled-pushes": 1, "dead-letters": 0])
        let stored = try await bench.relay.parts.outbox.jobs.jobs(of: "orders", before: nil, limit: 9)
        let requests = stored.map { String(decoding: $0.job.request, as: UTF8.self) }
        #expect(requests.count == 1 && requests.allSatisfy { !$0.contains("Secret") && $0.contains("Bert") })
        #expect(await bench.phone("GET", with: anna.secret).status == 401)
        #expect(await bench.phone("POST", #"{"environment":"production"}"#, with: unused).status == 401)
        #expect(await bench.relay.ask("GET", "/v1/pushes/\(ids[0])").json["state"] == "cancelled")
        #expect(await bench.relay.ask("GET", "/v1/pushes/\(ids[1])").json["state"] == "accepted")
        #expect(await bench.phone("GET", with: bert.secret).status == 200)
        #expect(await bench.phone("POST", #"{"environment":"production"}"#, with: other).status == 201)
        let again = await bench.ask("DELETE", "/users/anna")
        #expect(again.json == ["installations": 0, "cancelled-pushes": 0, "dead-letters": 0])
        await bench.stop()
    }

    @Test func `changes of one installation at the same time are all stored`() async throws {
        let bench = try await EnrollmentBench()
        let (secret, id) = try await bench.enroll()
        let statuses = await withTaskGroup(of: Int.self) { group in
            for number in 1...15 {
                group.addTask {
                    let change = #"{"tokens":{"start":{"A-\#(number)":"\#(1_000 + number)"}}}"#
                    return await bench.phone("PATCH", change, with: secret).status
                }
            }
            return await group.reduce(into: [Int]()) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 200, count: 15))
        let tokens = await bench.ask("GET", "/installations/\(id)").json["tokens"]
        #expect(tokens?["start"]?.members?.count == 15)
        await bench.stop()
    }

    @Test func `errors of the store are logged and not shown to a phone`() async throws {
        let lines = LogLines()
        let bench = try await EnrollmentBench(log: lines.logger(.warning))
        let secret = try await bench.enroll().secret
        let ticket = try await bench.ticket()
        let (outbox, registry) = (bench.relay.parts.outbox, bench.relay.parts.registry)
        let found = try await outbox.installations.installations(of: "orders", .all, after: 0, limit: 1)
        let stored = try #require(found.first)
        await outbox.close(isInOrder: true)
        let requests = [
            ("PATCH", #"{"locale":"de"}"#, secret), ("GET", "", secret), ("DELETE", "", secret),
            ("POST", #"{"environment":"production"}"#, ticket),
        ]
        for (method, body, credential) in requests {
            let answer = await bench.phone(method, body, with: credential)
            #expect(answer.status == 503, "\(answer.text)")
            #expect(answer.json["detail"] == "the relay cannot use its store at the moment: try again later")
        }
        let error = await #expect(throws: InstallationError.self) {
            try await registry.surfaces(on: stored, limit: 1)
        }
        #expect(error?.message == "the relay cannot use its store at the moment: try again later")
        let logged = lines.objects.filter { $0["msg"] == "installations unavailable" }
        #expect(logged.first?["error"] == "the outbox is closed", "\(lines.all)")
        await bench.stop()
    }

    @Test func `a back end gets the text of the store`() async throws {
        let bench = try await EnrollmentBench()
        _ = try await bench.enroll()
        let parts = bench.relay.parts
        let found = try await parts.outbox.installations.installations(of: "orders", .all, after: 0, limit: 1)
        let stored = try #require(found.first)
        await parts.outbox.close(isInOrder: true)
        var change = InstallationChange()
        change.tags = ["vip"]
        do throws(InstallationError) {
            _ = try await parts.registry.change(stored, change, by: .backEnd)
            Issue.record("the change was stored")
        } catch {
            #expect(error == InstallationError(.unavailable, "the outbox is closed", retryAfter: 5))
            let problem = APIProblem(error)
            #expect(problem.status == 503 && problem.detail == "the outbox is closed" && problem.retryAfter == 5)
        }
        await bench.stop()
    }

    @Test func `an hour passes before an unchanged report is stored`() async throws {
        let clock = TestClock()
        let bench = try await EnrollmentBench(clock: clock.wall)
        let (secret, _) = try await bench.enroll()
        let first = await bench.phone("GET", with: secret).json["seen-at"]?.integerValue ?? 0
        clock.advance(by: 3_599)
        #expect(await bench.phone("PATCH", "{}", with: secret).json["seen-at"]?.integerValue == first)
        clock.advance(by: 1)
        let later = await bench.phone("PATCH", "{}", with: secret).json
        #expect(later["seen-at"]?.integerValue == first + 3_600_000 && later["changed-at"]?.integerValue == first)
        await bench.stop()
    }
}

extension EnrollmentBench {
    /// The document about a user, whose pieces are put together.
    fileprivate func export(_ user: String) async -> JSONValue {
        let pieces = await relay.pieces("GET", "/v1/apps/orders/users/\(user)", key: Self.key)
        #expect(pieces.allSatisfy { !$0.isEmpty })
        return (try? JSONReader.read(Array(pieces.joined()))) ?? .null
    }
}
