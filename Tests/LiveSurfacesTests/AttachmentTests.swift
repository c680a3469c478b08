// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import MartletCore
import Testing

/// Tests of the rules for the attachments of a snapshot.
@Suite struct AttachmentTests {
    private static func text(_ attachments: String) -> String {
        #"{"schemaVersion":"5","id":"a@1","surfaceId":"a","kind":"notification","updatedAt":"2026-05-12T18:31Z","#
            + #""state":"active","notification":{"title":"T","body":"","deepLink":"a://","#
            + #""attachments":\#(attachments)}}"#
    }

    private static let photo = #"{"id":"a","url":"https://example.com/a.jpg","type":"public.jpeg"MORE}"#

    @Test(arguments: [
        "[\(photo.replacing("MORE", with: ""))]",
        "[\(photo.replacing("MORE", with: #","byteCount":10000000,"thumbnail":{"hidden":true}"#))]",
        #"[{"id":"a","url":"appgroup:///a/b.gif","type":"com.compuserve.gif","thumbnail":{"time":3}}]"#,
        #"[{"id":"a","url":"https://h/..a/b..","type":"public.mpeg-4","#
            + #""thumbnail":{"clip":{"x":0.5,"y":0,"width":0.5,"height":1}}}]"#,
    ]) func `a valid attachment is read and written back`(attachments: String) throws {
        let bytes = Array(Self.text(attachments).utf8)
        let snapshot = try SurfaceSnapshot(parsing: bytes)
        #expect(snapshot.json.encoded() == bytes)
        #expect(try snapshot.asNotification().payload["aps"]?["mutable-content"] == 1)
    }

    @Test(arguments: [
        ("[]", "", SurfaceIssue.Code.tooSmall),
        (#"[{"id":"a","url":"https://h/a","type":"public.heic"}]"#, ".0.type", .invalidValue),
        (#"[{"id":"a","url":"http://h/a.jpg","type":"public.jpeg"}]"#, ".0.url", .invalidFormat),
        (#"[{"id":"a","url":"https:///a.jpg","type":"public.jpeg"}]"#, ".0.url", .invalidFormat),
        (#"[{"id":"a","url":"https://h/a b.jpg","type":"public.jpeg"}]"#, ".0.url", .invalidFormat),
        (#"[{"id":"a","url":"appgroup:///../a.jpg","type":"public.jpeg"}]"#, ".0.url", .invalidFormat),
        (#"[{"id":"a","url":"appgroup:////a.jpg","type":"public.jpeg"}]"#, ".0.url", .invalidFormat),
        ("[\(photo.replacing("MORE", with: #","byteCount":10000001"#))]", ".0.byteCount", .tooBig),
        ("[\(photo.replacing("MORE", with: #","thumbnail":{"time":1}"#))]", ".0.thumbnail", .invalidValue),
        (
            "[\(photo.replacing("MORE", with: #","thumbnail":{"clip":{"x":0.6,"y":0,"width":0.5,"height":1}}"#))]",
            ".0.thumbnail.clip", .tooBig
        ),
        (
            #"[{"id":"a","url":"https://h/a.mp3","type":"public.mp3","thumbnail":{"hidden":true}}]"#, ".0.thumbnail",
            .invalidValue
        ),
        ("[\(photo.replacing("MORE", with: "")),\(photo.replacing("MORE", with: ""))]", "", .invalidValue),
        ("[\(photo.replacing("MORE", with: #","size":1"#))]", ".0", .unrecognizedKeys),
    ]) func `an invalid attachment is refused with its path`(attachments: String, path: String, code: SurfaceIssue.Code)
        throws
    {
        let error = try #require(throws: SurfaceError.self) {
            try SurfaceSnapshot(parsing: Array(Self.text(attachments).utf8))
        }
        #expect(error.issues.map { $0.path.joined(separator: ".") } == ["notification.attachments" + path], "\(error)")
        #expect(error.issues.map(\.code) == [code])
    }

    @Test func `an example with attachments has no findings`() throws {
        let attachments = "[\(Self.photo.replacing("MORE", with: ""))]"
        let snapshot = try SurfaceSnapshot(parsing: Array(Self.text(attachments).utf8))
        let headers = PushHeaders(pushType: "alert", priority: "10", topic: "com.example.app")
        let payload = try snapshot.asNotification().payload.encoded()
        #expect(PushLint.check(headers: headers, payload: payload).isEmpty)
    }
}
