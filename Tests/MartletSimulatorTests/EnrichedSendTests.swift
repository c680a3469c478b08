// SPDX-License-Identifier: Apache-2.0

import Foundation
import LiveSurfaces
import Martlet
import TestSupport
import Testing

@testable import MartletSimulator

/// A localized notification with an attachment, from its snapshot through the client and the simulator to the code of
/// the app's service extension.
///
/// `Tests/Peers/inbox/walk_enriched.py` sends the same snapshot, and looks at its previews.
@Suite(.timeLimit(.minutes(10))) struct EnrichedSendTests {
    private static let documents = "Examples/OrderTracker/Documents/"
    private static let topic: Topic = "com.example.app"

    /// A download on the phone, with the expected problem.
    enum Download: CaseIterable {
        case succeeds, fails, hasAnotherType, isTooLarge, takesTooLong

        var problem: String? {
            switch self {
            case .succeeds: nil
            case .fails: "photo: cannot be fetched: the server answered 404"
            case .hasAnotherType: "photo: the file is not of the type public.png"
            case .isTooLarge: "photo: has 10000001 bytes; the maximum for the kind image is 10000000"
            case .takesTooLong: "photo: was not fetched within 0.1 seconds"
            }
        }
    }

    @Test(arguments: Download.allCases) func `a push is enriched in each language, or shown as it was sent`(
        _ download: Download
    ) async throws {
        let bench = try await InboxBench()
        let payload = try await sentPayload(with: bench)
        #expect(payload["aps"]?["mutable-content"] == 1)
        let sidecar = try SurfaceSidecar(parsing: #require(payload["liveSurface"]).encoded())
        let files = try ScratchDirectory()
        for (language, expected) in [
            "en": ["Order 17 is ready", "It is on shelf 4", "Pick it up until 18:00 at Main Street 5."],
            "de": ["Bestellung 17 ist fertig", "Sie steht in Regal 4", "Abholung in Main Street 5 bis 18:00 Uhr."],
        ] {
            let table = try await bench.json("GET", "/api/v1/strings/\(Self.topic)/\(language)")
            let texts = try localized(#require(payload["aps"]?["alert"]), table)
            #expect([texts.title, texts.subtitle, texts.body] == expected)
            let enricher = NotificationEnricher(budget: download == .takesTooLong ? .milliseconds(100) : .seconds(25))
            let enrichment = await enricher.enrich(texts, with: sidecar) { attachment in
                try await file(for: attachment, download, in: files)
            }
            #expect(enrichment.texts == texts)
            #expect(enrichment.problems.map(\.description) == (download.problem.map { [$0] } ?? []))
            #expect(enrichment.attachments.map(\.attachment.id) == (download == .succeeds ? ["photo"] : []))
            // The content extension reads the record that the service extension has stored.
            #expect(NotificationEnrichment(stored: enrichment.text, for: sidecar) == enrichment)
        }
        await bench.apns.stop()
    }

    /// Sends the snapshot and uploads the strings, and returns the payload that the simulator has received.
    private func sentPayload(with bench: InboxBench) async throws -> JSONValue {
        let client = try PushClient(
            await bench.apns.endpoint,
            authentication: .token(.ephemeral()),
            configuration: bench.apns.clientConfiguration
        )
        let json = try Data(contentsOf: URL(filePath: Self.documents + "order-ready.json"))
        let snapshot = try SurfaceSnapshot(parsing: Array(json))
        try await client.send(snapshot, to: .device(DeviceToken(hex: "5d3a6a1c8f9a42d6")), topic: Self.topic)
        await client.close()
        let catalog = try String(contentsOfFile: Self.documents + "Localizable.xcstrings", encoding: .utf8)
        #expect(try await bench.send("PUT", "/api/v1/strings/\(Self.topic)", catalog).status == "204")
        #expect(try await bench.json("GET", "/api/v1/pushes/1/context")["strings"] == nil)
        return try await bench.json("GET", "/api/v1/pushes/1/payload")
    }

    /// Returns the texts of an alert in the language of a table, as iOS shows them.
    private func localized(_ alert: JSONValue, _ table: JSONValue) throws -> NotificationTexts {
        let texts = try ["title-", "subtitle-", ""].map { prefix in
            let key = try #require(alert[prefix + "loc-key"]?.stringValue)
            let arguments = alert[prefix + "loc-args"]?.elements?.compactMap(\.stringValue) ?? []
            var text = try #require(table[key]?.stringValue)
            for (index, argument) in arguments.enumerated() {
                text = text.replacing("%\(index + 1)$@", with: argument).replacing("%@", with: argument)
            }
            return text
        }
        return NotificationTexts(title: texts[0], subtitle: texts[1], body: texts[2])
    }

    /// Returns the file that a download on the phone leaves in a directory.
    private func file(
        for attachment: SurfaceAttachment,
        _ download: Download,
        in directory: ScratchDirectory
    ) async throws -> NotificationEnricher.File {
        struct Refused: Error, CustomStringConvertible {
            let description = "the server answered 404"
        }
        let url = try #require(URL(string: attachment.url))
        let picture = try Data(contentsOf: URL(filePath: Self.documents + url.lastPathComponent))
        #expect(picture.count == attachment.byteCount)
        let content: Data
        switch download {
        case .succeeds: content = picture
        case .fails: throw Refused()
        case .hasAnotherType: content = Data("<!doctype html><title>Sign in</title>".utf8)
        case .isTooLarge: content = picture + Data(count: 10_000_001 - picture.count)
        case .takesTooLong:
            // The download never ends, and does not notice that it is cancelled.
            await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            content = picture
        }
        let path = try directory.write(content, to: UUID().uuidString + "." + attachment.type.fileExtension)
        let start = try Data(contentsOf: URL(filePath: path)).prefix(12)
        return NotificationEnricher.File(path: path, byteCount: content.count, start: Array(start))
    }
}
