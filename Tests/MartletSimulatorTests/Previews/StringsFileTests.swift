// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import Testing

@testable import MartletSimulator

@Suite struct StringsFileTests {
    static let file = """
        /* Titles
           of orders */
        "ORDER_READY" = "%1$@, your order is ready"; // said twice a day
        ORDER.late-2 = "Late\\t\\"again\\"\\n\\U00e9\\351";
        "emoji" = "\\Ud83d\\Ude80 🚕";
        """
    static let strings: [String: LocalizedString] = [
        "ORDER_READY": .plain("%1$@, your order is ready"), "ORDER.late-2": .plain("Late\t\"again\"\néé"),
        "emoji": .plain("🚀 🚕"),
    ]

    private static let knownEscapes = #"known: \a \b \f \n \r \t \v \" \' \\, octal digits, and \U with four digits"#

    @Test func `a file is read in every encoding that Xcode writes`() throws {
        let units = Array(Self.file.utf16)
        let little = units.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        let big = units.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        let utf8 = Array(Self.file.utf8)
        for bytes in [utf8, [0xEF, 0xBB, 0xBF] + utf8, little, [0xFF, 0xFE] + little, big, [0xFE, 0xFF] + big] {
            #expect(try StringsFile.read(bytes) == Self.strings)
        }
        #expect(try StringsFile.read([]).isEmpty)
        #expect(try StringsFile.read(Array("// nothing".utf8)).isEmpty)
    }

    @Test(arguments: [
        (#""a" = "b""#, 1, "expected ; after the value"),
        ("\n\"a\" \"b\";", 2, "expected = after the key"),
        (#""a" = b;"#, 1, "expected a quoted value"),
        (#"= "b";"#, 1, "expected a key"),
        ("\"a\" =\n\"b\n\n", 2, "the quoted string is not closed"),
        ("\n/* a\n", 2, "the comment is not closed"),
        (#""a" = "\q";"#, 1, "unknown escape \\q; " + Self.knownEscapes),
        (#""a" = "\U12";"#, 1, "unknown escape \\U; " + Self.knownEscapes),
        (#""a" = "\Ud83d";"#, 1, "the escapes are not valid UTF-16"),
        ("\"a\" = \"1\";\n\n\"a\" = \"2\";", 3, "duplicate key a, first used on line 1"),
        (
            #""mri_short" = "1"; "mri_short" = "2";"#, 1,
            "duplicate key text of 9 characters (not shown, as it may be a secret), first used on line 1"
        ),
        (#""a" = "\"#, 1, "the quoted string is not closed"),
    ])
    func `an error has its line`(text: String, line: Int, problem: String) {
        #expect(throws: SimulatorError("line \(line): \(problem)")) { try StringsFile.read(Array(text.utf8)) }
    }

    @Test func `invalid encodings and long files are refused`() {
        #expect(throws: SimulatorError("line 1: the file is neither UTF-8 nor UTF-16")) {
            try StringsFile.read([0xC3, 0x28, 0xC3])
        }
        #expect(throws: SimulatorError("line 1: the file is neither UTF-8 nor UTF-16")) {
            try StringsFile.read([0xFF, 0xFE, 0x22])
        }
        #expect(throws: SimulatorError("line 1: the file is neither UTF-8 nor UTF-16")) {
            try StringsFile.read([0xFF, 0xFE, 0x3D, 0xD8])
        }
        let long = [UInt8](repeating: 0x20, count: StringsFile.maximumByteCount + 1)
        #expect(throws: SimulatorError("line 1: the file is longer than 1048576 bytes")) { try StringsFile.read(long) }
    }

    @Test func `damaged files do not trap`() {
        let bytes = Array(Self.file.utf8)
        for index in bytes.indices {
            _ = try? StringsFile.read(Array(bytes[..<index]))
            for byte: UInt8 in [0, 0x22, 0x5C, 0x2A, 0x2F, 0xFF] {
                var damaged = bytes
                damaged[index] = byte
                _ = try? StringsFile.read(damaged)
            }
        }
    }
}

@Suite struct StringCatalogTests {
    private func read(_ text: String) throws(SimulatorError) -> [String: [String: LocalizedString]] {
        try StringCatalog.read(Array(text.utf8))
    }

    @Test func `a catalog has all its languages, and plurals by their categories`() throws {
        let tables = try read(
            """
            {"sourceLanguage": "en", "version": "1.0", "strings": {
                "Order ready": {"localizations": {"de": {"stringUnit": {"state": "translated", "value": "Fertig"}}}},
                "STOPS": {"localizations": {"en": {"variations": {"plural": {
                    "one": {"stringUnit": {"state": "translated", "value": "%@ stop"}},
                    "other": {"stringUnit": {"state": "translated", "value": "%@ stops"}}}}},
                    "fr": {"stringUnit": {"state": "new", "value": ""}}}},
                "TAP": {"localizations": {"en": {"variations": {"device": {
                    "mac": {"stringUnit": {"value": "Click"}}, "iphone": {"stringUnit": {"value": "Tap"}}}}}}}
            }}
            """
        )
        #expect(
            tables == [
                "en": [
                    "Order ready": .plain("Order ready"), "STOPS": .plural([.one: "%@ stop", .other: "%@ stops"]),
                    "TAP": .plain("Tap"),
                ],
                "de": ["Order ready": .plain("Fertig")],
            ]
        )
    }

    @Test(arguments: [
        ("{", "line 1, column 2: the JSON ends too early"),
        (#"{"strings": {}}"#, "sourceLanguage must be a language tag"),
        (#"{"sourceLanguage": "en", "strings": []}"#, "strings must be an object"),
        (#"{"sourceLanguage": "en", "strings": {"A": 1}}"#, "strings.A must be an object"),
        (
            #"{"sourceLanguage": "en", "strings": {"A": {"localizations": {"../x": {}}}}}"#,
            "strings.A.localizations.../x is not a language tag"
        ),
        (
            #"{"sourceLanguage": "en", "strings": {"A": {"localizations": {"de": {}}}}}"#,
            "strings.A.localizations.de has neither stringUnit nor variations"
        ),
        (
            #"{"sourceLanguage": "en", "strings": {"A": {"localizations": {"de": {"stringUnit": {"value": 1}}}}}}"#,
            "strings.A.localizations.de.stringUnit.value must be a string"
        ),
        (
            #"{"sourceLanguage": "en", "strings": {"A": {"localizations": {"de": {"variations": {"#
                + #""plural": {"1": {}}}}}}}}"#,
            "strings.A.localizations.de.variations.plural.1 must be one of zero, one, two, few, many, other"
        ),
        (
            #"{"sourceLanguage": "en", "strings": {"A": {"localizations": {"de": {"variations": {"plural": {}}}}}}}"#,
            "strings.A.localizations.de.variations.plural must have the category other"
        ),
    ])
    func `an error has its place`(text: String, message: String) {
        let error = #expect(throws: SimulatorError.self) { try read(text) }
        #expect(error?.description == message)
    }
}
