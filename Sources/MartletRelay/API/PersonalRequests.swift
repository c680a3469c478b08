// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox

/// The requests from which the pushes to the phones of an audience are built, with the payload in the language of the
/// phone and the values of its user.
///
/// The payload of a language is made for the first phone that needs it.
struct PersonalRequests {
    /// The request for phones of a language.
    private struct Language {
        let request: PushRequest
        let template: PayloadTemplate?

        /// Returns the request with texts in place of the placeholders.
        func filled(with texts: [String: [UInt8]]) -> PushRequest {
            guard let template else { return request }
            var personal = request
            personal.content = .payload(template.filled(with: texts))
            return personal
        }
    }

    private let original: PushRequest
    /// By language tag; nil for the payload as it is.
    private var languages: [LanguageTag?: Language] = [:]

    init(_ request: PushRequest) {
        original = request
    }

    /// Returns the request for a phone; nil for one whose user has no values for the placeholders.
    mutating func request(for member: AudienceMember) -> PushRequest? {
        guard original.isPersonal else { return original }
        let language = language(original.overrides?.tag(for: member.locale))
        guard let values = original.values else { return language.request }
        return values.texts(of: member.user).map { language.filled(with: $0) }
    }

    /// Returns the request in a language, with the placeholders of the payload.
    mutating func request(in tag: LanguageTag) -> PushRequest { language(tag).request }

    /// Returns the request in a language with the values that make the payload longest, and their member of the
    /// request; nil without values.
    mutating func longestRequest(in tag: LanguageTag?) -> (request: PushRequest, field: JSONField<APIProblem>)? {
        let language = language(tag)
        guard let template = language.template, let longest = original.values?.longest(in: template) else {
            return nil
        }
        return (language.filled(with: longest.texts), longest.field)
    }

    private mutating func language(_ tag: LanguageTag?) -> Language {
        if let known = languages[tag] { return known }
        var localized = original
        if let tag, let overrides = original.overrides { localized.content = .payload(overrides.payload(for: tag)) }
        var template: PayloadTemplate?
        if original.values != nil, case .payload(let payload) = localized.content {
            template = PayloadTemplate(payload)
        }
        let language = Language(request: localized, template: template)
        languages[tag] = language
        return language
    }
}

extension PushRequest {
    /// Whether phones may get different payloads.
    var isPersonal: Bool { overrides != nil || values != nil }

    /// Reads the member `locales`; nil for a push without.
    static func overrides(
        _ request: JSONField<APIProblem>,
        for audience: AudienceRequest?
    ) throws(APIProblem) -> PayloadOverrides? {
        guard let field = request["locales"].ifPresent else { return nil }
        guard audience != nil else {
            throw field.error("must be left out of a push to tokens or a channel: only enrolled phones have a locale")
        }
        guard let payload = request["payload"].value else {
            throw field.error("must be left out of a push without payload, which it changes")
        }
        return try PayloadOverrides(field, of: payload)
    }

    /// Reads the members `values` and `default-values`; nil for a push without.
    static func values(
        _ request: JSONField<APIProblem>,
        for audience: AudienceRequest?
    ) throws(APIProblem) -> PersonalValues? {
        guard let field = request["values"].ifPresent ?? request["default-values"].ifPresent else { return nil }
        let users: [String]?
        switch audience?.target {
        case .audience(.users(let named))?: users = named
        case .matching?: users = nil
        default:
            throw field.error("must be left out unless to has user, users, tag, where or all")
        }
        guard request["payload"].isPresent else {
            throw field.error("must be left out of a push without payload, which has the placeholders")
        }
        return try PersonalValues(field, of: request, for: users)
    }
}

extension PushRequestBuilder {
    /// Builds pushes that are not sent, of every payload that may break a rule, so that a mistake is reported also when
    /// no phone gets the payload.
    ///
    /// These are the payloads of all languages with their placeholders, and with the values that make them longest.
    mutating func checkPayloads(of request: PushRequest, in app: RelayConfiguration.App) throws(APIProblem) {
        try checkPush(of: request, in: app)
        guard request.isPersonal, let audience = request.audience else { return }
        let slot = try audience.need(of: request).slot
        var requests = PersonalRequests(request)
        if let overrides = request.overrides {
            for tag in overrides.tags {
                try checkPush(of: requests.request(in: tag), for: slot, from: overrides.field(of: tag), in: app)
            }
        }
        guard request.values != nil else { return }
        let tags: [LanguageTag?] = [nil] + (request.overrides?.tags ?? []).map(Optional.some)
        for tag in tags {
            guard let (longest, field) = requests.longestRequest(in: tag) else { continue }
            try checkPush(of: longest, for: slot, from: field, in: app)
        }
    }

    /// Builds a push whose payload a member of the request has changed; the error is about the member.
    private mutating func checkPush(
        of request: PushRequest,
        for slot: Installation.TokenSlot,
        from field: JSONField<APIProblem>,
        in app: RelayConfiguration.App
    ) throws(APIProblem) {
        do throws(APIProblem) {
            try checkPush(of: request, in: app)
        } catch {
            throw field.error("makes a payload that breaks a rule: \(error.detail)")
        }
        guard (try? request.audience?.need(of: request))?.slot == slot else {
            throw field.error(
                "must not change aps.event or aps.attributes-type: they decide to which token the push is sent"
            )
        }
    }
}
