// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import Testing

/// Audience expressions as values.
@Suite struct AudienceExpressionTests {
    private func installation(
        _ tags: Set<String> = [],
        locale: String? = nil,
        app: String? = nil,
        system: String? = nil
    ) -> Installation {
        var installation = Installation.numbered(1)
        installation.tags = tags
        installation.attributes[.locale] = locale
        installation.attributes[.appVersion] = app
        installation.attributes[.systemVersion] = system
        return installation
    }

    private func matches(_ text: String, _ installation: Installation) throws -> Bool {
        try AudienceExpression(text).matches(installation)
    }

    // MARK: Meaning

    @Test(
        arguments: [
            ("vip", ["vip"], true), ("vip", ["VIP"], false), ("'city:zurich'", ["city:zurich"], true),
            (#"tag:"city:zurich""#, ["city:zurich"], true), ("tag:all", ["all"], true), ("'all'", [], false),
            ("all", [], true), ("vip && !trial", ["vip"], true), ("vip && !trial", ["vip", "trial"], false),
            ("a || b && c", ["a"], true), ("(a || b) && c", ["a"], false), ("a&&b||c", ["c"], true),
            ("!(a || b) && all", ["c"], true), ("!!a", ["a"], true), (" a\n&&\tb ", ["a", "b"], true),
        ] as [(String, Set<String>, Bool)]
    )
    func `tags are combined with the precedence of C`(text: String, tags: Set<String>, expected: Bool) throws {
        #expect(try matches(text, installation(tags)) == expected, "\(text)")
    }

    @Test(
        arguments: [
            ("de", "de", true), ("de", "de-CH", true), ("de", "de_CH", true), ("DE", "de-ch", true),
            ("de", "den", false), ("de-CH", "de", false), ("de_ch", "de-CH-1996", true), ("de-CH", "de-CHX", false),
            ("zh-Hans", "zh-Hans-CN", true), ("de", nil, false),
        ] as [(String, String?, Bool)]
    )
    func `a language matches its regions`(range: String, locale: String?, expected: Bool) throws {
        #expect(try matches("locale:\(range)", installation(locale: locale)) == expected)
    }

    @Test(
        arguments: [
            (">=2.10", "2.9", false), (">=2.10", "2.10", true), (">2.9", "2.10", true), ("=2", "2.0.0", true),
            ("==2.1", "2.1", true), ("<2", "1.99.99", true), ("<=2", "2.0.1", false), ("=2.1", "2.1-beta (45)", true),
            (">1", "beta 3", false), (">=0", nil, false), ("<99", "99999999999999999999999", false),
            (">2", "2..5", false), ("=2", "002", true),
        ] as [(String, String?, Bool)]
    )
    func `versions are compared by their numbers`(comparison: String, version: String?, expected: Bool) throws {
        #expect(try matches("app-version\(comparison)", installation(app: version)) == expected)
        #expect(try matches("system-version \(comparison)", installation(system: version)) == expected)
        #expect(try matches("all && !app-version\(comparison)", installation(app: version)) != expected)
    }

    @Test func `the environment is compared`() throws {
        #expect(try matches("environment:production", installation()))
        #expect(try !matches("environment:development", installation()))
    }

    // MARK: Rules

    @Test(
        arguments: [
            ("", "at character 1: expected a term (found the end)"), ("  ", "a term"),
            ("vip &&", "a term (found the end)"),
            ("vip trial", #"at character 5: expected && or || (found "trial")"#),
            ("vip and trial", #"(found "and"): write && for and"#), ("vip OR a", "write || for or"),
            ("vip & trial", #"at character 5: unexpected "&": write &&"#), ("-trial", "write ! to exclude"),
            ("(vip", "at character 5: expected &&, || or ) (found the end)"), ("vip)", #"found ")""#),
            ("'vip", "at character 1: a quotation mark is not closed"), ("été", "unexpected"),
            ("'two words'", "a tag must be 1 to 120 ASCII letters, digits or characters of _-.:@"),
            ("''", "a tag must be"), ("'\u{0}'", "a tag must be"),
            ("locael:de", #"unknown name "locael"; did you mean locale?"#),
            ("city:zurich", "a tag with a colon must be in quotation marks"),
            ("locale=de", #"at character 7: expected : after locale (found "=")"#),
            ("locale:", "expected a value (found the end)"), ("locale:de-", "locale must be a language"),
            ("locale:'*'", "locale must be a language"),
            ("app-version:2", "expected <, <=, =, >= or > after app-version"),
            ("app-version>=2.x", "app-version must be numbers that are separated by dots"),
            ("app-version>=.1", "separated by dots"), ("app-version>=", "a value"), ("app-version!=2", "found \"!\""),
            ("environment:test", #"environment must be"#), ("!trial", "only excludes installations"),
            ("a || !b", "only excludes"), ("!(a && b)", "only excludes"), ("!all", "only excludes"),
            ("a, b", #"at character 2: unexpected ",": expected a tag, a condition such as locale:de, or one of &&"#),
            ("vip {", #"at character 5: unexpected "{": expected a tag"#),
            ("a\u{0}", "at character 2: unexpected U+0: expected a tag"), ("\u{301}", "unexpected U+301: expected"),
        ] as [(String, String)]
    )
    func `an error names the place and the rule`(text: String, message: String) {
        let error = #expect(throws: AudienceExpressionError.self) { try AudienceExpression(text) }
        #expect(error?.description.contains(message) ?? false, "\(text): \(String(describing: error))")
    }

    @Test func `the size of an expression is limited`() throws {
        let terms = (1...20).map { "t\($0)" }.joined(separator: " || ")
        #expect(try matches(terms, installation(["t20"])))
        #expect(try matches("(((((vip)))))", installation(["vip"])))
        #expect(try matches("vip\(String(repeating: " ", count: 4_093))", installation(["vip"])))
        for (text, message) in [
            (terms + " || t21", "must have at most 20 terms"), ("((((((vip))))))", "at most 5 parentheses and !"),
            (String(repeating: "!", count: 4_000), "at most 5 parentheses and !"),
            (String(repeating: "(", count: 4_096), "at character 6"),
            ("vip\(String(repeating: " ", count: 4_094))", "must have at most 4096 bytes (found 4097)"),
        ] as [(String, String)] {
            let error = #expect(throws: AudienceExpressionError.self) { try AudienceExpression(text) }
            #expect(error?.description.contains(message) ?? false, "\(String(describing: error))")
        }
    }

    // MARK: Properties

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `the text of a condition is parsed as the condition`(seed: UInt64) throws {
        var random = RandomConditions(seed: seed)
        for _ in 0..<200 {
            let condition = AudienceExpression.Condition.and([.all, random.next()])
            let expression = try AudienceExpression(condition.description)
            #expect(expression.condition == condition, "\(condition)")
            #expect(expression.description == condition.description)
        }
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `a negation matches what its condition does not match`(seed: UInt64) throws {
        var random = RandomConditions(seed: seed)
        for _ in 0..<200 {
            let condition = random.next(depth: 3)
            let installation = random.installation()
            let isMatch = try AudienceExpression("all && (\(condition))").matches(installation)
            #expect(try AudienceExpression("all && !(\(condition))").matches(installation) == !isMatch, "\(condition)")
        }
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `any text is parsed or refused`(seed: UInt64) {
        let pieces = [
            "vip", "all", "'", "\"", "&&", "||", "!", "(", ")", ":", "locale:de", "app-version", ">=", "<", "2.1", " ",
            "&", "é", "\u{301}", "\0", "-", "environment:production", "tag:",
        ]
        var generator = SplitMix64(state: seed)
        for _ in 0..<500 {
            let count = Int.random(in: 0...40, using: &generator)
            let text = (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            guard let expression = try? AudienceExpression(text) else { continue }
            #expect((try? AudienceExpression(expression.description)) == expression, "\(text)")
        }
    }
}

/// Random conditions within the limits, and installations that they may match.
struct RandomConditions {
    static let tags = ["vip", "trial", "all", "city:zurich", "-x", "a.b@c"]
    private static let locales = ["de", "de-CH", "en_US", "zh-Hans"]
    private static let versions = ["2.1", "2.10", "3", "0.9.9"]

    var random: SplitMix64

    init(seed: UInt64) { random = SplitMix64(state: seed) }

    /// Returns a condition of at most 19 terms, with at most `depth` parentheses and negations inside each other.
    mutating func next(depth: Int = AudienceExpression.depthLimit) -> AudienceExpression.Condition {
        while true {
            let condition = condition(depth: depth)
            if condition.terms < AudienceExpression.termLimit { return condition }
        }
    }

    private mutating func condition(depth: Int) -> AudienceExpression.Condition {
        switch Int.random(in: 0..<(depth > 0 ? 10 : 5), using: &random) {
        case 0..<3: return .tag(pick(Self.tags))
        case 3: return .locale(pick(Self.locales))
        case 4:
            guard let version = VersionNumber(pick(Self.versions)) else { return .all }
            let comparison = pick(AudienceExpression.Comparison.allCases)
            return Bool.random(using: &random) ? .appVersion(comparison, version) : .systemVersion(comparison, version)
        case 5: return .environment(pick(PushEnvironment.allCases))
        case 6: return .not(condition(depth: depth - 1))
        case 7..<9: return .and(several(depth: depth - 1))
        default: return .or(several(depth: depth - 1))
        }
    }

    private mutating func several(depth: Int) -> [AudienceExpression.Condition] {
        var conditions: [AudienceExpression.Condition] = []
        for _ in 0..<Int.random(in: 2...3, using: &random) { conditions.append(condition(depth: depth)) }
        return conditions
    }

    /// Returns the next installation.
    mutating func installation() -> Installation {
        var new = Installation.numbered(random.next())
        new.environment = pick(PushEnvironment.allCases)
        new.tags = Set(Self.tags.filter { _ in Bool.random(using: &random) })
        if Bool.random(using: &random) { new.attributes[.locale] = pick(Self.locales) }
        if Bool.random(using: &random) { new.attributes[.appVersion] = pick(Self.versions) }
        if Bool.random(using: &random) { new.attributes[.systemVersion] = pick(Self.versions + ["beta"]) }
        return new
    }

    private mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &random)]
    }
}

extension AudienceExpression.Condition {
    /// The number of terms.
    fileprivate var terms: Int {
        switch self {
        case .not(let condition): condition.terms
        case .and(let conditions), .or(let conditions): conditions.reduce(0) { $0 + $1.terms }
        default: 1
        }
    }
}
