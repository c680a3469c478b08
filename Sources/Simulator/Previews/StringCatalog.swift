internal import APNs

/// Reads string catalogs (`.xcstrings`), with all their languages.
///
/// Of texts that vary by device, those of the iPhone are taken; of texts that vary by number, all. Substitutions are
/// left as they stand.
enum StringCatalog {
    /// Reads a catalog.
    ///
    /// - Parameter bytes: The whole file.
    /// - Returns: The values by their keys, by language.
    /// - Throws: ``StringCatalogError`` with the place of the first mistake.
    static func read(_ bytes: [UInt8]) throws(StringCatalogError) -> [String: [String: LocalizedString]] {
        let json: JSONValue
        do throws(JSONError) {
            json = try JSONReader.read(bytes)
        } catch {
            throw StringCatalogError(place: "", "\(error)")
        }
        guard let source = json["sourceLanguage"]?.stringValue, LocalizedTables.isLanguage(source) else {
            throw StringCatalogError(place: "sourceLanguage", "has to name a language")
        }
        guard let strings = json["strings"]?.members else {
            throw StringCatalogError(place: "strings", "has to be an object of keys")
        }
        var tables: [String: [String: LocalizedString]] = [source: [:]]
        for entry in strings {
            let place = "strings.\(entry.name)"
            guard entry.value.members != nil else { throw StringCatalogError(place: place, "has to be an object") }
            // What needs no translation stands for itself.
            tables[source]?[entry.name] = .plain(entry.name)
            for localization in entry.value["localizations"]?.members ?? [] {
                let place = "\(place).localizations.\(localization.name)"
                guard LocalizedTables.isLanguage(localization.name) else {
                    throw StringCatalogError(place: place, "is no language")
                }
                if let string = try string(localization.value, place) {
                    tables[localization.name, default: [:]][entry.name] = string
                }
            }
        }
        return tables
    }

    /// A text that a localization has; nil when it is still to be written.
    private static func string(_ json: JSONValue, _ place: String) throws(StringCatalogError) -> LocalizedString? {
        if let unit = json["stringUnit"] {
            guard let value = unit["value"]?.stringValue else {
                throw StringCatalogError(place: place + ".stringUnit.value", "has to be a text")
            }
            return value.isEmpty && unit["state"] == "new" ? nil : .plain(value)
        }
        guard let variations = json["variations"] else {
            throw StringCatalogError(place: place, "has neither stringUnit nor variations")
        }
        if let plural = variations["plural"]?.members { return try plurals(plural, place + ".variations.plural") }
        guard let device = variations["device"], let one = device["iphone"] ?? device["other"] else {
            throw StringCatalogError(place: place + ".variations", "has neither plural nor device with iphone or other")
        }
        return try string(one, place + ".variations.device")
    }

    private static func plurals(
        _ members: [JSONValue.Member],
        _ place: String
    ) throws(StringCatalogError) -> LocalizedString {
        var forms: [LocalizedString.PluralCategory: String] = [:]
        for member in members {
            guard let category = LocalizedString.PluralCategory(rawValue: member.name) else {
                let known = LocalizedString.PluralCategory.allCases.map(\.rawValue).joined(separator: ", ")
                throw StringCatalogError(place: "\(place).\(member.name)", "is none of \(known)")
            }
            guard let text = member.value["stringUnit"]?["value"]?.stringValue else {
                throw StringCatalogError(place: "\(place).\(member.name).stringUnit.value", "has to be a text")
            }
            forms[category] = text
        }
        guard forms[.other] != nil else { throw StringCatalogError(place: place, "has no other") }
        return .plural(forms)
    }
}

/// Why a string catalog cannot be read.
struct StringCatalogError: Error, Hashable, CustomStringConvertible {
    /// The names that lead to the place; empty for what is no JSON.
    let place: String
    /// What is wrong there.
    let problem: String

    init(place: String, _ problem: String) {
        self.place = place
        self.problem = problem
    }

    /// The place and what is wrong there.
    var description: String { place.isEmpty ? problem : "\(place) \(problem)" }
}
