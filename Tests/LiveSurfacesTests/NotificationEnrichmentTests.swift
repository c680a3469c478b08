// SPDX-License-Identifier: Apache-2.0

import Foundation
import LiveSurfaces
import MartletCore
import Synchronization
import Testing

/// Tests of the enrichment of notifications by a service extension.
@Suite(.timeLimit(.minutes(10))) struct NotificationEnrichmentTests {
    private typealias File = NotificationEnricher.File

    private static let general = NotificationTexts(title: "Order ready", body: "Tap to open.")
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]
    private static let photo = SurfaceAttachment(id: "photo", url: "https://example.com/17.png", type: .png)
    private static let clip = SurfaceAttachment(
        id: "clip",
        url: "appgroup:///clips/17.mp4",
        type: .mpeg4,
        thumbnail: .init(clip: .init(x: 0, y: 0.25, width: 1, height: 0.5), time: 2.5)
    )

    /// Returns the sidecar of a push, as the phone decodes it.
    private static func sidecar(
        _ attachments: [SurfaceAttachment] = [],
        _ personalized: PersonalizedText? = nil
    ) throws -> SurfaceSidecar {
        let snapshot = NotificationSnapshot(
            id: "order-17@4",
            surfaceID: "order-17",
            updatedAt: "2026-05-12T18:31:00.000Z",
            state: .attention,
            surface: NotificationSurface(
                title: .plain(general.title),
                body: .plain(general.body),
                deepLink: "shop://orders/17",
                attachments: attachments,
                personalized: personalized
            )
        )
        let payload = snapshot.payload
        #expect(payload["aps"]?["mutable-content"] == (snapshot.surface.isEnriched ? 1 : nil))
        return try SurfaceSidecar(parsing: #require(payload["liveSurface"]).encoded())
    }

    @Test func `a sidecar carries attachments and personalized texts to the phone`() throws {
        let texts = PersonalizedText(title: "{name}, your order is ready")
        let sidecar = try Self.sidecar([Self.photo, Self.clip], texts)
        #expect(sidecar.attachments == [Self.photo, Self.clip])
        #expect(sidecar.personalized == texts)
        #expect(sidecar.attachments?.last?.appGroupPath == "clips/17.mp4")
        #expect(try Self.sidecar().attachments == nil)
    }

    @Test func `a sidecar of another version or kind is refused`() throws {
        let kind = #""kind":"surface_snapshot""#
        for text in [
            #"{"schemaVersion":"6",\#(kind)}"#, #"{"schemaVersion":"5"}"#, #"{"schemaVersion":"5",\#(kind)}"#, "x",
        ] {
            #expect(throws: SurfaceError.self) { try SurfaceSidecar(parsing: Array(text.utf8)) }
        }
    }

    @Test func `files that suit their types are attached, in the order of the push`() async throws {
        let mpeg4: [UInt8] = [0, 0, 0, 24] + Array("ftypmp42".utf8)
        let enrichment = await NotificationEnricher().enrich(
            Self.general,
            with: try Self.sidecar([Self.photo, Self.clip])
        ) { attachment in
            File(path: "/tmp/\(attachment.id)", byteCount: 99, start: attachment.type == .png ? Self.png : mpeg4)
        }
        #expect(enrichment.attachments.map(\.path) == ["/tmp/photo", "/tmp/clip"])
        #expect(enrichment.attachments.map(\.attachment) == [Self.photo, Self.clip])
        #expect(enrichment.problems.isEmpty)
        #expect(enrichment.texts == Self.general)
    }

    @Test func `a failed download, a wrong type and a large file are left out, each with its reason`() async throws {
        struct Offline: Error, CustomStringConvertible {
            let description = "the network is down"
        }
        let attachments = ["failed", "wrong", "large", "good"].map { name in
            SurfaceAttachment(id: name, url: "https://example.com/\(name)", type: .png)
        }
        let enrichment = await NotificationEnricher().enrich(
            Self.general,
            with: try Self.sidecar(attachments)
        ) { attachment in
            switch attachment.id {
            case "failed": throw Offline()
            case "wrong": File(path: "/tmp/wrong", byteCount: 9, start: Array("<html>".utf8))
            case "large": File(path: "/tmp/large", byteCount: 10_000_001, start: Self.png)
            default: File(path: "/tmp/good", byteCount: 10_000_000, start: Self.png)
            }
        }
        #expect(enrichment.attachments.map(\.path) == ["/tmp/good"])
        #expect(
            enrichment.problems.map(\.description) == [
                "failed: cannot be fetched: the network is down", "wrong: the file is not of the type public.png",
                "large: has 10000001 bytes; the maximum for the kind image is 10000000",
            ]
        )
    }

    @Test func `a file that cannot be attached is not fetched`() async throws {
        let json =
            #"{"schemaVersion":"5","kind":"surface_snapshot","snapshotId":"a@1","surfaceId":"a","#
            + #""state":"active","deepLink":"a://","attachments":["#
            + #"{"id":"new","url":"https://example.com/a","type":"public.heic"},"#
            + #"{"id":"large","url":"https://example.com/b","type":"public.mp3","byteCount":5000001}]}"#
        let fetched = Mutex<[String]>([])
        let enrichment = await NotificationEnricher().enrich(
            Self.general,
            with: try SurfaceSidecar(parsing: Array(json.utf8))
        ) { attachment in
            fetched.withLock { $0.append(attachment.id) }
            return File(path: "", byteCount: 0, start: [])
        }
        #expect(fetched.withLock { $0 } == [])
        #expect(
            enrichment.problems.map(\.description) == [
                "new: the type public.heic is not supported",
                "large: has 5000001 bytes; the maximum for the kind audio is 5000000",
            ]
        )
    }

    @Test func `when the budget is spent, the files that are there are attached`() async throws {
        let slow = SurfaceAttachment(id: "slow", url: "https://example.com/slow.png", type: .png)
        let enricher = NotificationEnricher(budget: .milliseconds(200))
        let enrichment = await enricher.enrich(Self.general, with: try Self.sidecar([slow, Self.photo])) { attachment in
            // The download never ends, and does not notice that it is cancelled.
            if attachment.id == "slow" { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
            return File(path: "/tmp/photo", byteCount: 9, start: Self.png)
        }
        #expect(enrichment.attachments.map(\.path) == ["/tmp/photo"])
        #expect(enrichment.problems.map(\.description) == ["slow: was not fetched within 0.2 seconds"])
    }

    @Test func `when the system ends the extension, the notification is delivered as it was sent`() async throws {
        let sidecar = try Self.sidecar([Self.photo], PersonalizedText(body: "Hello {name}"))
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            await NotificationEnricher(values: ["name": "Anna"]).enrich(Self.general, with: sidecar) { _ in
                start.yield()
                // The download ends only when it is cancelled.
                for await _ in AsyncStream.makeStream(of: Void.self).stream {}
                return File(path: "", byteCount: 0, start: [])
            }
        }
        for await _ in started { break }
        task.cancel()
        let enrichment = await task.value
        #expect(enrichment.attachments.isEmpty)
        #expect(enrichment.texts.body == "Hello Anna")
        #expect(
            enrichment.problems.map(\.description) == [
                "photo: was not fetched before the system ended the extension"
            ]
        )
    }

    @Test func `a text with a value for each placeholder is personalized, another stays general`() async throws {
        let texts = PersonalizedText(title: "{name}, it is ready {}", subtitle: "{street} 5", body: "{ {name} }")
        let enricher = NotificationEnricher(values: ["name": "Anna"])
        let enrichment = await enricher.enrich(Self.general, with: try Self.sidecar([], texts)) { _ in
            File(path: "", byteCount: 0, start: [])
        }
        #expect(enrichment.texts == NotificationTexts(title: "Anna, it is ready {}", subtitle: "", body: "{ Anna }"))
        #expect(enrichment.problems.map(\.description) == ["subtitle: the phone has no value for street"])
    }

    @Test func `the content extension reads the record of the snapshot that it shows`() async throws {
        let sidecar = try Self.sidecar([Self.photo])
        let enrichment = await NotificationEnricher().enrich(Self.general, with: sidecar) { _ in
            File(path: "/tmp/photo", byteCount: 9, start: Self.png)
        }
        #expect(NotificationEnrichment(stored: enrichment.text, for: sidecar) == enrichment)
        #expect(NotificationEnrichment(stored: nil, for: sidecar) == nil)
        #expect(NotificationEnrichment(stored: "{}", for: sidecar) == nil)
        let other = enrichment.text.replacing("order-17@4", with: "order-17@3")
        #expect(NotificationEnrichment(stored: other, for: sidecar) == nil)
        #expect(SurfaceStorage.enrichmentKey(for: "order-17") == "surface.enrichment.order-17")
    }

    @Test(arguments: NotificationAttachmentType.supported) func `the first bytes of a file tell its type`(
        type: NotificationAttachmentType
    ) throws {
        let starts: [NotificationAttachmentType: [UInt8]] = [
            .jpeg: [0xFF, 0xD8, 0xFF, 0xE0], .png: Self.png, .gif: Array("GIF89a".utf8),
            .aiff: Array("FORM....AIFF".utf8), .wave: Array("RIFF....WAVE".utf8), .mp3: Array("ID3".utf8),
            .mpeg4Audio: Array("....ftypM4A ".utf8), .mpeg: [0, 0, 1, 0xBA], .mpeg2: [0, 0, 1, 0xB3],
            .mpeg4: Array("....ftypmp42".utf8), .avi: Array("RIFF....AVI ".utf8),
        ]
        #expect(type.matches(try #require(starts[type])))
        #expect(!type.matches(Array("<html>".utf8)) && !type.matches([]))
        #expect(type.kind != nil && !type.fileExtension.isEmpty)
    }
}
