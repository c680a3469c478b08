import APNsClient
import Simulator
import TestSupport
import Testing

/// The HTTP interface, as curl sees it.
@Suite(.timeLimit(.minutes(1))) struct InboxAPITests {
    private struct Bench {
        let apns: SimulatedAPNs
        let base: String

        init(pushes: Int = 0) async throws {
            apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(inboxPort: 0, keptPushes: 3))
            base = "http://127.0.0.1:\(try #require(await apns.inboxPort))"
            let client = try PushClient(
                await apns.endpoint,
                authentication: .token(.ephemeral()),
                configuration: apns.clientConfiguration
            )
            for number in 0..<pushes {
                let id = APNsID(randomBits: (1, UInt64(number)))
                try await client.send(
                    .alert(Alert(body: "push \(number)"), id: id),
                    to: DeviceToken(hex: "5d3a6a1c"),
                    topic: "com.example.app"
                )
            }
            await client.close()
        }

        func get(_ path: String, _ more: String...) async throws -> (status: String, body: String) {
            let run = try await ProgramRun.curl(more + ["--write-out", "\n%{http_code}", base + path])
            let parts = run.text.split(separator: "\n", omittingEmptySubsequences: false)
            return (String(parts.last ?? ""), parts.dropLast().joined(separator: "\n"))
        }
    }

    @Test func `pushes are listed newest first, as many as are kept`() async throws {
        let bench = try await Bench(pushes: 5)
        let (status, body) = try await bench.get("/api/v1/pushes")
        #expect(status == "200")
        let list = try JSONReader.read(Array(body.utf8))
        #expect(list["total"]?.integerValue == 5)
        let pushes = elements(of: list["pushes"])
        #expect(pushes.map { $0["number"]?.integerValue } == [5, 4, 3])
        let newest = try #require(pushes.first)
        #expect(newest["device-token"]?.stringValue == "5d3a6a1c")
        #expect(newest["status"]?.integerValue == 200)
        #expect(newest["headers"]?["apns-topic"]?.stringValue == "com.example.app")
        #expect(newest["payload"]?["aps"]?["alert"]?["body"]?.stringValue == "push 4")
        #expect(newest["apns-id"]?.stringValue == APNsID(randomBits: (1, 4)).description)
        await bench.apns.stop()
    }

    @Test func `a limit is kept to`() async throws {
        let bench = try await Bench(pushes: 3)
        let list = try JSONReader.read(Array(try await bench.get("/api/v1/pushes?limit=1").body.utf8))
        #expect(elements(of: list["pushes"]).map { $0["number"]?.integerValue } == [3])
        await bench.apns.stop()
    }

    @Test(arguments: [
        ("/api/v1/pushes?limit=0", "400", "limit must be a number from 1 to 1000, not 0"),
        ("/api/v1/pushes?limit=many", "400", "limit must be a number from 1 to 1000, not many"),
        ("/api/v1/pushes?page=2", "400", "unknown parameter page; known: limit"),
        ("/api/v2", "404", "there is nothing at /api/v2"),
    ])
    func `mistakes are explained`(path: String, status: String, detail: String) async throws {
        let bench = try await Bench()
        let answer = try await bench.get(path)
        #expect(answer.status == status)
        #expect(answer.body == #"{"status":\#(status),"detail":"\#(detail)"}"#)
        await bench.apns.stop()
    }

    @Test func `other methods and health are answered`() async throws {
        let bench = try await Bench()
        #expect(try await bench.get("/api/v1/pushes", "--request", "DELETE").status == "405")
        #expect(try await bench.get("/livez") == ("200", "ok\n"))
        #expect(try await bench.get("/", "--head").status == "200")
        await bench.apns.stop()
    }

    private func elements(of list: JSONValue?) -> [JSONValue] {
        if case .array(let elements)? = list { elements } else { [] }
    }
}
