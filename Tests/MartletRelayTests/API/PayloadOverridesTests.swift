// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletHTTPServer
import MartletOutbox
import Testing

@testable import MartletRelay

/// The languages of a push request, without a relay.
@Suite struct PayloadOverridesTests {
    private static func request(
        _ locales: String,
        to audience: String = #"{"user":"anna"}"#,
        _ content: String = #""payload":{"aps":{"alert":"Ready","sound":"a"}}"#
    ) throws -> PushRequest {
        let text = #"{"to":\#(audience),\#(content),"locales":\#(locales)}"#
        return try PushRequest(try JSONReader.read(Array(text.utf8)))
    }

    @Test(
        arguments: [
            ("de", "de"), ("de-AT", "de"), ("de_AT", "de"), ("de-CH", "de-ch"), ("DE-ch", "de-ch"),
            ("de-CH-1996", "de-ch"), ("den", nil), ("zh-Hant-TW", "ZH-HANT"), ("zh-Hant_TW", "zh-hant"), ("zh", nil),
            ("zh-TW", nil), ("en-a-bbb-x-y", "en"), ("en-a", "en"), ("fr", nil), ("", nil), ("-", nil), ("de--", "de"),
            (nil, nil),
        ] as [(String?, String?)]
    )
    func `a phone gets the override of the longest matching tag`(locale: String?, expected: String?) throws {
        let request = try Self.request(#"{"de":{},"de-CH":{},"zh-Hant":{},"en":{}}"#)
        let overrides = try #require(request.overrides)
        #expect(overrides.tag(for: locale) == expected.map { LanguageTag($0) })
    }

    @Test(
        arguments: [
            ("de", #"{"aps":{"alert":"Bereit","sound":"a"}}"#), ("de-CH", #"{"aps":{"alert":"Parat"},"n":1}"#),
            ("fr", #"{"aps":{"alert":"Ready","sound":"a"}}"#), (nil, #"{"aps":{"alert":"Ready","sound":"a"}}"#),
        ] as [(String?, String)]
    )
    func `an override is merged into the payload`(locale: String?, expected: String) throws {
        let locales = #"{"de":{"aps":{"alert":"Bereit"}},"de-CH":{"aps":{"alert":"Parat","sound":null},"n":1}}"#
        var requests = PersonalRequests(try Self.request(locales))
        for _ in 0..<2 {
            guard case .payload(let payload)? = requests.request(for: .of("anna", locale: locale))?.content else {
                Issue.record("the content is no payload")
                return
            }
            #expect(String(decoding: payload, as: UTF8.self) == expected)
        }
    }

    @Test(
        arguments: [
            ("[]", "/locales", "locales must be an object"),
            (#"{"de":"Hi"}"#, "/locales/de", "locales.de must be an object, which is merged"),
            (#"{"de":null}"#, "/locales/de", "(found null)"),
            (#"{"de":{},"d e":{}}"#, "/locales", #"language tags, such as de, de-CH or zh-Hant (found "d e")"#),
            (#"{"":{}}"#, "/locales", "language tags"), (#"{"*":{}}"#, "/locales", "language tags"),
            (#"{"germanlanguage":{}}"#, "/locales", "language tags"),
            (#"{"de-CH":{},"DE_ch":{}}"#, "/locales/DE_ch", "has the language of another member"),
        ] as [(String, String, String)]
    )
    func `a mistake in the languages is named with its rule`(
        locales: String,
        pointer: String,
        message: String
    ) throws {
        let error = #expect(throws: APIProblem.self) { try Self.request(locales) }
        #expect(error?.pointer == pointer && error?.detail.contains(message) == true, "\(error?.detail ?? "")")
    }

    @Test func `a request has at most 50 languages`() throws {
        let members = (0...PayloadOverrides.limit).map { #""a\#($0)":{}"# }
        #expect(throws: Never.self) {
            try Self.request("{" + members.dropLast().joined(separator: ",") + "}")
        }
        let error = #expect(throws: APIProblem.self) { try Self.request("{" + members.joined(separator: ",") + "}") }
        #expect(error?.detail == "locales must have at most 50 languages (found 51)")
    }

    @Test(
        arguments: [
            (#""ab12""#, #""payload":{}"#, "must be left out of a push to tokens or a channel"),
            (#"["ab12"]"#, #""payload":{}"#, "must be left out of a push to tokens or a channel"),
            (#"{"user":"anna"}"#, #""payload-base64":"e30=""#, "must be left out of a push without payload"),
            (#"{"all":true}"#, #""snapshot":\#(SurfaceExample.json(of: "widget"))"#, "of a push without payload"),
        ] as [(String, String, String)]
    )
    func `only a payload for phones has languages`(audience: String, content: String, message: String) throws {
        let error = #expect(throws: APIProblem.self) { try Self.request("{}", to: audience, content) }
        #expect(error?.pointer == "/locales" && error?.detail.contains(message) == true, "\(error?.detail ?? "")")
    }
}
