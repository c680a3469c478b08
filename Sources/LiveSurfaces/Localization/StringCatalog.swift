// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// Reads string catalogs (`.xcstrings`), with all their languages.
///
/// Of strings that vary by device, the iPhone's are used; of strings that vary by number, all forms are read.
/// Substitutions are left unchanged.
enum StringCatalog {
    /// Reads a catalog.
    ///
    /// - Returns: The strings by key, for each language.
    /// - Throws: ``SurfaceError`` with the place of the first error.
    static func read(_ json: JSONValue) throws(SurfaceError) -> [String: [String: LocalizedString]] {
        guard let source = json["sourceLanguage"]?.stringValue, LocalizedString.isLanguage(source) else {
            throw SurfaceError(.invalidValue, "sourceLanguage must be a language tag")
        }
        guard let strings = json["strings"]?.members else {
            throw SurfaceError(.invalidValue, "strings must be an object")
        }
        var tables: [String: [String: LocalizedString]] = [source: [:]]
        for entry in strings {
            let place = "strings.\(entry.name)"
            guard entry.value.members != nil else { throw SurfaceError(.invalidValue, "\(place) must be an object") }
            // A key without a localization in the source language is its own string.
            tables[source]?[entry.name] = .plain(entry.name)
            for localization in entry.value["localizations"]?.members ?? [] {
                let place = "\(place).localizations.\(localization.name)"
                guard LocalizedString.isLanguage(localization.name) else {
                    throw SurfaceError(.invalidValue, "\(place) is not a language tag")
                }
                if let string = try string(localization.value, place) {
                    tables[localization.name, default: [:]][entry.name] = string
                }
            }
        }
        return tables
    }

    /// Returns the string of a localization; nil when it is new and empty.
    private static func string(_ json: JSONValue, _ place: String) throws(SurfaceError) -> LocalizedString? {
        if let unit = json["stringUnit"] {
            guard let value = unit["value"]?.stringValue else {
                throw SurfaceError(.invalidValue, "\(place).stringUnit.value must be a string")
            }
            return value.isEmpty && unit["state"] == "new" ? nil : .plain(value)
        }
        guard let variations = json["variations"] else {
            throw SurfaceError(.invalidValue, "\(place) has neither stringUnit nor variations")
        }
        if let plural = variations["plural"]?.members { return try plurals(plural, place + ".variations.plural") }
        guard let device = variations["device"], let one = device["iphone"] ?? device["other"] else {
            throw SurfaceError(.invalidValue, "\(place).variations has neither plural nor device with iphone or other")
        }
        return try string(one, place + ".variations.device")
    }

    private static func plurals(
        _ members: [JSONValue.Member],
        _ place: String
    ) throws(SurfaceError) -> LocalizedString {
        var forms: [LocalizedString.PluralCategory: String] = [:]
        for member in members {
            guard let category = LocalizedString.PluralCategory(rawValue: member.name) else {
                let known = LocalizedString.PluralCategory.allCases.map(\.rawValue).joined(separator: ", ")
                throw SurfaceError(.invalidValue, "\(place).\(member.name) must be one of \(known)")
            }
            guard let text = member.value["stringUnit"]?["value"]?.stringValue else {
                throw SurfaceError(.invalidValue, "\(place).\(member.name).stringUnit.value must be a string")
            }
            forms[category] = text
        }
        guard forms[.other] != nil else { throw SurfaceError(.invalidValue, "\(place) must have the category other") }
        return .plural(forms)
    }
}
