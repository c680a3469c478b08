// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCommands
import MartletCore
import MartletSimulator
import MartletTransport

/// The relay at which simulated phones enroll.
struct PhoneRelay: Sendable {
    let address: InterfaceAddress
    /// The name of the app in the configuration of the relay.
    let app: String
    /// The file with an API key of the scope `installations`.
    let keyFile: InputFile
}

/// The enrollments of simulated phones at a relay, and their requests.
///
/// A request that fails is repeated after some seconds, with the reports that have arrived since.
actor PhoneReporter {
    /// The maximum number of requests at the same time.
    private static let requestLimit = 32
    private static let timeout = Duration.seconds(30)
    /// The time between a request that failed and the next one of the phone.
    private static let pause = Duration.seconds(5)

    private let relay: PhoneRelay
    private let key: String
    private let call: HTTP1Call
    private let loop: EventLoop
    /// The body of an enrollment.
    private let enrollment: JSONValue
    private var enrollments: [Int: PhoneEnrollment] = [:]
    /// The phones with a next request, each once.
    private var queue: [Int] = []
    /// The phones that are in the queue, send a request, or wait after one that failed.
    private var busy: Set<Int> = []
    private var requestCount = 0
    private var printedProblem: String?
    /// Whether the last request had no answer.
    private var isUnreachable = false

    /// Creates the enrollments at a relay.
    ///
    /// - Throws: ``UsageError`` if the key cannot be read, and `TransportError` if the system provides no event loop.
    init(_ relay: PhoneRelay, app: SimulatedPhone.App, in environment: SimulatedAPNs.Environment) throws {
        self.relay = relay
        key = try relay.keyFile.firstLine()
        guard !key.isEmpty else {
            throw UsageError("\(relay.keyFile.label): the first line must be an API key (found nothing)")
        }
        let server = relay.address.server
        let tls = server.isEncrypted ? try TLSContext.http1Client(authorities: nil) : nil
        call = HTTP1Call(host: server.host, port: server.port, tls: tls)
        enrollment = ["environment": .string(environment.rawValue), "bundle-id": .string(app.topic.rawValue)]
        loop = try EventLoop()
    }

    deinit {
        loop.shutdown()
    }

    /// Sends a report of a phone as soon as the relay takes it.
    func add(_ report: PhoneReport) {
        enrollments[report.phone, default: PhoneEnrollment()].add(report)
        if busy.insert(report.phone).inserted { queue.append(report.phone) }
        startRequests()
    }

    private func startRequests() {
        while requestCount < PhoneReporter.requestLimit, !queue.isEmpty {
            let phone = queue.removeFirst()
            guard let request = enrollments[phone]?.nextRequest else {
                busy.remove(phone)
                continue
            }
            requestCount += 1
            Task { await send(request, of: phone) }
        }
    }

    private func send(_ request: PhoneEnrollment.Request, of phone: Int) async {
        let problem = await result(of: request, of: phone)
        requestCount -= 1
        if let problem, problem != printedProblem {
            printedProblem = problem
            print(problem)
        }
        startRequests()
        if problem != nil { try? await Task.sleep(for: PhoneReporter.pause) }
        queue.append(phone)
        startRequests()
    }

    /// Sends a request, and returns the reason to wait before the next one; nil for none.
    private func result(of request: PhoneEnrollment.Request, of phone: Int) async -> String? {
        let (method, path, body, credential): (String, String, JSONValue, String) =
            switch request {
            case .ticket:
                (
                    "POST", "/v1/apps/\(relay.app)/tickets", ["user": .string(PhoneReport.user(of: phone))],
                    key
                )
            case .enrollment(let ticket): ("POST", "/v1/installation", enrollment, ticket)
            case .report(let change, let secret): ("PATCH", "/v1/installation", change, secret)
            }
        do throws(TransportError) {
            let answer = try await call.send(
                method,
                relay.address.path + path,
                fields: ["authorization": "Bearer " + credential, "content-type": "application/json"],
                body: body.encoded(),
                within: PhoneReporter.timeout,
                on: loop
            )
            if isUnreachable {
                isUnreachable = false
                printedProblem = nil
                print("the relay answers again")
            }
            let json = (try? JSONReader.read(answer.body)) ?? .null
            return enrollments[phone]?.receive(answer.status, json, to: request)
        } catch {
            isUnreachable = true
            return "\(error)"
        }
    }

    private func print(_ message: String) {
        Terminal.errors.write("martlet: phones: \(message)\n")
    }
}
