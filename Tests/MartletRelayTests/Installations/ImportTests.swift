// SPDX-License-Identifier: Apache-2.0

import Dispatch
import MartletCore
import MartletOutbox
import MartletTransport
import Synchronization
import Testing

@testable import MartletRelay

/// The import of installations by a back end.
@Suite(.timeLimit(.minutes(10))) struct ImportTests {
    private func lines(_ text: String...) -> String { text.joined(separator: "\n") }

    @Test func `an imported phone is listed with all that its line has`() async throws {
        let bench = try await EnrollmentBench()
        let line = #"""
            {"id":"0199f2c4-0000-7000-8000-000000000001","user":"anna","environment":"production","tags":["vip"],\#
            "tokens":{"device":"AB12","start":{"Order":"cd34"}},"locale":"de-CH","permissions":{"alerts":true}}
            """#
        let answer = await bench.ask("POST", "/installations", line)
        #expect(answer.status == 200 && answer.json["added"] == 1 && answer.json["problems"] == [], "\(answer.text)")
        let found = try #require(await bench.installations("?user=anna").first)
        #expect(found["id"] == "0199f2c4-0000-7000-8000-000000000001" && found["locale"] == "de-CH")
        #expect(found["tokens"] == ["device": "ab12", "start": ["Order": "cd34"]] && found["tags"] == ["vip"])
        #expect(found["permissions"] == ["alerts": true] && found["bundle-id"] == "com.example.orders")
        await bench.stop()
    }

    @Test func `a repeated import changes nothing`() async throws {
        let bench = try await EnrollmentBench()
        let body = lines(
            #"{"user":"anna","tokens":{"device":"ab12"}}"#,
            #"{"user":"bert","tokens":{"device":"cd34"},"tags":["vip"]}"#
        )
        #expect(await bench.ask("POST", "/installations", body).json["added"] == 2)
        let before = await bench.installations()
        let again = await bench.ask("POST", "/installations", body)
        #expect(again.json["unchanged"] == 2 && again.json["added"] == 0, "\(again.text)")
        #expect(await bench.installations() == before)
        await bench.stop()
    }

    @Test func `unknown time zones are named, and their phones are stored`() async throws {
        let bench = try await EnrollmentBench()
        let body = lines(
            #"{"user":"anna","tokens":{"device":"ab12"},"time-zone":"Mars/Base"}"#,
            #"{"user":"bert","tokens":{"device":"cd34"},"time-zone":"Berlin"}"#,
            #"{"user":"carl","tokens":{"device":"ef56"},"time-zone":"Europe/Berlin"}"#
        )
        let answer = await bench.ask("POST", "/installations", body)
        #expect(answer.json["added"] == 3, "\(answer.text)")
        #expect(answer.json["unknown-time-zones"] == ["Berlin", "Mars/Base"], "\(answer.text)")
        await bench.stop()
    }

    @Test func `a long line has a limited number of values`() async throws {
        let bench = try await EnrollmentBench()
        let tags = Array(repeating: #""vip""#, count: LongRequests.valueLimit).joined(separator: ",")
        let answer = await bench.ask("POST", "/installations", #"{"user":"anna","tags":[\#(tags)]}"#)
        #expect(answer.json["refused"] == 1, "\(answer.text)")
        #expect(answer.text.contains("more than \(LongRequests.valueLimit) values"), "\(answer.text)")
        #expect(!answer.text.contains("not valid JSON"), "\(answer.text)")
        await bench.stop()
    }

    @Test func `a bad line is named, and the others are stored`() async throws {
        let bench = try await EnrollmentBench()
        let body = lines(
            #"{"user":"a\u0000b","tokens":{"device":"aa"}}"#,
            #"{"user":"anna","tokens":{"device":"5d3a6a1c8f9a42d6x"}}"#,
            "not JSON",
            "[]",
            #"{"user":"anna"}"#,
            #"{"user":"anna","tokens":{"start":{"Order":"aa"}}}"#,
            #"{"user":"anna","tokens":{"device":"aa"},"id":"X"}"#,
            #"{"user":"anna","tokens":{"device":"aa"},"tags":["a b"]}"#,
            #"{"user":"anna","tokens":{"device":"aa"},"colour":"red"}"#,
            "",
            #"{"user":"anna","tokens":{"device":"aa"}}"#
        )
        let answer = await bench.ask("POST", "/installations", body)
        #expect(answer.status == 200 && answer.json["added"] == 1 && answer.json["refused"] == 9, "\(answer.text)")
        let problems = answer.json["problems"]?.elements ?? []
        #expect(problems.compactMap { $0["line"]?.integerValue } == Array(1...9))
        let pointers = problems.map { $0["pointer"]?.stringValue }
        #expect(pointers[0] == "/user" && pointers[1] == "/tokens/device" && pointers[4] == "/tokens/device")
        #expect(pointers[6] == "/id" && pointers[7] == "/tags/0" && pointers[8] == "/colour")
        #expect(!answer.text.contains("5d3a6a1c8f9a42d6"))
        await bench.stop()
    }

    @Test func `a line of another app is refused`() async throws {
        let bench = try await EnrollmentBench()
        let phone = #""user":"anna","tokens":{"device":"ab12"}"#
        let body = lines(#"{"app":"rides",\#(phone)}"#, #"{"app":1,\#(phone)}"#, #"{"app":"orders",\#(phone)}"#)
        let answer = await bench.ask("POST", "/installations", body)
        #expect(answer.json["added"] == 1 && answer.json["refused"] == 2, "\(answer.text)")
        let problem = answer.json["problems"]?.elements?.first
        #expect(problem?["line"] == 1 && problem?["pointer"] == "/app")
        #expect(problem?["detail"] == #"app must be orders, the app in the path (found "rides")"#, "\(answer.text)")
        #expect(await bench.ask("POST", "/installations", #"{"app":null,\#(phone)}"#).json["unchanged"] == 1)
        await bench.stop()
    }

    @Test func `a later line with the same token changes the installation`() async throws {
        let bench = try await EnrollmentBench()
        let body = lines(
            #"{"user":"anna","tokens":{"device":"ab12"}}"#,
            #"{"user":"bert","tokens":{"device":"ab12"}}"#
        )
        let answer = await bench.ask("POST", "/installations", body)
        #expect(answer.json["added"] == 1 && answer.json["changed"] == 1, "\(answer.text)")
        #expect(await bench.installations().map { $0["user"] } == ["bert"])
        await bench.stop()
    }

    @Test func `an app that enrolls takes over its imported phone`() async throws {
        let bench = try await EnrollmentBench()
        let line = #"{"user":"anna","tokens":{"device":"ab12"}}"#
        _ = await bench.ask("POST", "/installations", line)
        let enrolled = try await bench.enroll("anna", #","tokens":{"device":"ab12"}"#)
        #expect(await bench.installations().map { $0["id"]?.stringValue } == [enrolled.id])
        let again = await bench.ask("POST", "/installations", line)
        #expect(again.json["known"] == 1, "\(again.text)")
        #expect(await bench.installations().map { $0["id"]?.stringValue } == [enrolled.id])
        await bench.stop()
    }

    @Test func `another app's identifier and a full user are refused`() async throws {
        let bench = try await EnrollmentBench()
        let id = #""id":"0199f2c4-0000-7000-8000-000000000001""#
        let other = #"{\#(id),"user":"anna","tokens":{"device":"ab12"}}"#
        let path = "/v1/apps/rides/installations"
        #expect(await bench.relay.ask("POST", path, other, key: "mrt_rides").json["added"] == 1)
        let full = (1...21).map { #"{"user":"anna","tokens":{"device":"\#(1_000 + $0)"}}"# }
        let answer = await bench.ask("POST", "/installations", ([other] + full + ["{}"]).joined(separator: "\n"))
        #expect(answer.json["added"] == 20 && answer.json["refused"] == 3, "\(answer.text)")
        // In the order of the lines, although the last one is refused before the others are stored.
        let problems = answer.json["problems"]?.elements ?? []
        #expect(problems.map { $0["line"] } == [1, 22, 23], "\(answer.text)")
        #expect(problems.map { $0["pointer"] } == ["/id", "/user", "/tokens/device"], "\(answer.text)")
        await bench.stop()
    }

    @Test func `an app cannot block the identifiers of another app's imports`() async throws {
        let bench = try await EnrollmentBench()
        let line = #"{"user":"anna","tokens":{"device":"ab12"}}"#
        _ = await bench.ask("POST", "/installations", line)
        let id = try #require(await bench.installations().first?["id"]?.stringValue)
        #expect(await bench.ask("DELETE", "/installations/\(id)").status == 204)
        let other = #"{"id":"\#(id)","user":"eve","tokens":{"device":"cd34"}}"#
        let path = "/v1/apps/rides/installations"
        #expect(await bench.relay.ask("POST", path, other, key: "mrt_rides").json["added"] == 1)
        for result in ["added", "unchanged"] {
            let answer = await bench.ask("POST", "/installations", line)
            #expect(answer.json[result] == 1 && answer.json["refused"] == 0, "\(answer.text)")
        }
        let found = await bench.installations()
        #expect(found.map { $0["user"] } == ["anna"] && found.first?["id"]?.stringValue != id)
        #expect(await bench.relay.ask("GET", "\(path)/\(id)", "", key: "mrt_rides").json["user"] == "eve")
        await bench.stop()
    }

    @Test func `more lines than a page has are imported`() async throws {
        let bench = try await EnrollmentBench()
        let count = 2 * InstallationImportRun.pageSize + 1
        let body = (0..<count).map { #"{"user":"user-\#($0)","tokens":{"device":"\#(100_000 + $0)"}}"# }
        let answer = await bench.ask("POST", "/installations", body.joined(separator: "\r\n"))
        #expect(answer.json["added"]?.integerValue == Int64(count), "\(answer.text)")
        await bench.stop()
    }

    @Test func `a line that is too long ends the import`() async throws {
        let bench = try await EnrollmentBench()
        let body = "\n" + String(repeating: "a", count: (2 << 20) + 1)
        let answer = await bench.ask("POST", "/installations", body)
        #expect(answer.status == 413 && answer.text.contains("line 2: "), "\(answer.text)")
        await bench.stop()
    }

    @Test func `only the first refused lines are named`() async throws {
        let bench = try await EnrollmentBench()
        let count = InstallationImportRun.problemLimit + 1
        let body = Array(repeating: "{}", count: count).joined(separator: "\n")
        let answer = await bench.ask("POST", "/installations", body)
        #expect(answer.json["refused"]?.integerValue == Int64(count))
        #expect(answer.json["problems"]?.elements?.count == InstallationImportRun.problemLimit)
        await bench.stop()
    }

    @Test func `lines wait for the turn of their caller, and other requests do not wait for them`() async throws {
        let bench = try await EnrollmentBench()
        let isReleased = DispatchSemaphore(value: 0)
        bench.relay.parts.longRequests.loop.execute { isReleased.wait() }
        let isImported = Mutex(false)
        async let refused = {
            let answer = await bench.ask("POST", "/installations", "{}")
            isImported.withLock { $0 = true }
            return answer.json["refused"]
        }()
        for _ in 0..<10 { #expect(await bench.ask("GET", "/installations").status == 200) }
        #expect(!isImported.withLock { $0 })
        isReleased.signal()
        #expect(await refused == 1)
        await bench.stop()
    }

    @Test func `a page waits for the pages of the caller's other imports`() async throws {
        let bench = try await EnrollmentBench()
        let pages = await bench.relay.relay.context.importPages
        await pages.begin(of: "installer")
        let isImported = Mutex(false)
        async let added = {
            let answer = await bench.ask("POST", "/installations", #"{"user":"anna","tokens":{"device":"ab12"}}"#)
            isImported.withLock { $0 = true }
            return answer.json["added"]
        }()
        let path = "/v1/apps/rides/installations"
        let line = #"{"user":"bert","tokens":{"device":"cd34"}}"#
        for result in ["added", "unchanged"] {
            #expect(await bench.relay.ask("POST", path, line, key: "mrt_rides").json[result] == 1)
        }
        #expect(!isImported.withLock { $0 })
        pages.end(of: "installer")
        #expect(await added == 1)
        await bench.stop()
    }

    @Test func `listed installations are imported by another relay`() async throws {
        let first = try await EnrollmentBench()
        let second = try await EnrollmentBench()
        let report = #","tokens":{"device":"ab12","controls":{"lamp":"0304"}},"model":"iPhone17,1""#
        _ = try await first.enroll("anna", report)
        _ = await first.ask("POST", "/installations", #"{"user":"bert","tokens":{"device":"cd34"},"tags":["vip"]}"#)
        let listed = await first.installations()
        let body = listed.map { String(decoding: $0.encoded(), as: UTF8.self) }.joined(separator: "\n")
        let answer = await second.ask("POST", "/installations", body)
        #expect(answer.json["added"] == 2, "\(answer.text)")
        func content(_ installations: [JSONValue]) -> [[JSONValue.Member]] {
            installations.map { ($0.members ?? []).filter { !$0.name.hasSuffix("-at") } }
        }
        let imported = await second.installations()
        #expect(content(imported) == content(listed))
        await first.stop()
        await second.stop()
    }

    @Test func `a key without the scope cannot import`() async throws {
        let bench = try await EnrollmentBench()
        let answer = await bench.relay.ask("POST", "/v1/apps/orders/installations", "{}")
        #expect(answer.status == 403, "\(answer.text)")
        let other = await bench.relay.ask("POST", "/v1/apps/orders/installations", "{}", key: "mrt_rides")
        #expect(other.status == 403, "\(other.text)")
        await bench.stop()
    }
}
