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

    /// The member of the request.
    let field: JSONField<APIProblem>
    /// The tags in the order of the request.
    private(set) var tags: [LanguageTag] = []
    private let payload: JSONValue
    private var overrides: [LanguageTag: JSONField<APIProblem>] = [:]

    /// Reads the member `locales` of a push; the error has the place of the first mistake.
    init(_ field: JSONField<APIProblem>, of payload: JSONValue) throws(APIProblem) {
        self.field = field
        self.payload = payload
        guard let members = field.members else { throw field.mismatch("an object") }
        guard members.count <= Self.limit else {
            throw field.error("must have at most \(Self.limit) languages (found \(members.count))")
        }
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

    /// Returns the member with the override of a tag.
    func field(of tag: LanguageTag) -> JSONField<APIProblem> { overrides[tag] ?? field }
}
