// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox

/// The changes of a push request's payload for phones in some languages, by language tag.
///
/// ```json
/// {"de": {"aps": {"alert": "Bestellung abholbereit"}}, "de-CH": {"aps": {"sound": "glocke.caf"}}}
/// ```
///
/// Each is a JSON Merge Patch (RFC 7396). A phone gets the payload with one of them at most, whose tag the lookup of
/// RFC 4647 section 3.4 finds for the locale of the phone.
struct PayloadOverrides {
    /// The maximum number of languages.
    static let limit = 50

    /// The tags in the order of the request.
    let tags: [LanguageTag]
    /// The payload without an override.
    private let payload: JSONValue
    private let field: JSONField<APIProblem>
    private let overrides: [LanguageTag: JSONField<APIProblem>]

    /// Reads the member `locales` of a push; the error has the place of the first mistake.
    init(_ field: JSONField<APIProblem>, of payload: JSONValue) throws(APIProblem) {
        guard let members = field.members else { throw field.mismatch("an object") }
        guard members.count <= Self.limit else {
            throw field.error("must have at most \(Self.limit) languages (found \(members.count))")
        }
        var tags: [LanguageTag] = []
        var overrides: [LanguageTag: JSONField<APIProblem>] = [:]
        for (name, override) in members {
            let tag = LanguageTag(name)
            guard tag.isWellFormed else {
                throw field.error(
                    "must have names that are language tags, such as de, de-CH or zh-Hant"
                        + " (found \(ShownValue.quoted(name)))"
                )
            }
            guard override.value?.members != nil else {
                throw override.mismatch("an object, which is merged into the payload")
            }
            guard overrides.updateValue(override, forKey: tag) == nil else {
                throw override.error("has the language of another member: tags are compared without case")
            }
            tags.append(tag)
        }
        self.tags = tags
        self.overrides = overrides
        self.field = field
        self.payload = payload
    }

    /// Returns the tag whose override a phone with a locale gets; nil for the payload as it is.
    func tag(for locale: String?) -> LanguageTag? {
        var tag = locale.map { LanguageTag($0) }
        while let candidate = tag, overrides[candidate] == nil { tag = candidate.shortened }
        return tag
    }

    /// Returns the payload with the override of a tag.
    func payload(for tag: LanguageTag) -> [UInt8] {
        payload.merging(overrides[tag]?.value ?? .object([])).encoded()
    }

    /// Returns an error about the override of a tag.
    func error(_ rule: String, for tag: LanguageTag) -> APIProblem { (overrides[tag] ?? field).error(rule) }

    /// The payload with the overrides, for the fingerprint of a request.
    var json: JSONValue { .members(["payload": payload, "locales": field.value]) }
}

extension PushRequest {
    /// Reads the member `locales`; nil for a push without.
    static func overrides(
        _ request: JSONField<APIProblem>,
        isForAudience: Bool
    ) throws(APIProblem) -> PayloadOverrides? {
        guard let field = request["locales"].ifPresent else { return nil }
        guard isForAudience else {
            throw field.error("must be left out of a push to tokens or a channel: only enrolled phones have a locale")
        }
        guard let payload = request["payload"].value else {
            throw field.error("must be left out of a push without payload, which it changes")
        }
        return try PayloadOverrides(field, of: payload)
    }

    /// Returns the request with the payload for phones of a language, and no other.
    func localized(for tag: LanguageTag) -> PushRequest {
        guard let overrides else { return self }
        var localized = self
        localized.content = .payload(overrides.payload(for: tag))
        localized.overrides = nil
        return localized
    }
}

/// The requests from which the pushes to the phones of an audience are built: one for each language, which is made for
/// the first phone of the language.
struct LocalizedRequests {
    private let request: PushRequest
    private var localized: [LanguageTag: PushRequest] = [:]

    init(_ request: PushRequest) {
        self.request = request
    }

    /// Returns the request for a phone with a locale.
    mutating func request(for locale: String?) -> PushRequest {
        guard let tag = request.overrides?.tag(for: locale) else { return request }
        if let known = localized[tag] { return known }
        let new = request.localized(for: tag)
        localized[tag] = new
        return new
    }
}
