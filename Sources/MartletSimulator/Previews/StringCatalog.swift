// SPDX-License-Identifier: Apache-2.0

internal import LiveSurfaces
internal import MartletCore

/// Reads string catalogs (`.xcstrings`), with all their languages.
enum StringCatalog {
    /// Reads a catalog.
    ///
    /// - Returns: The strings by key, for each language.
    /// - Throws: ``SimulatorError`` with the place of the first error.
    static func read(_ bytes: [UInt8]) throws(SimulatorError) -> [String: [String: LocalizedString]] {
        let json: JSONValue
        do throws(JSONError) {
            json = try JSONReader.read(bytes)
        } catch {
            throw SimulatorError("\(error)")
        }
        do throws(SurfaceError) {
            return try SurfaceStrings(catalog: json).tables
        } catch {
            throw SimulatorError(error.issues.first?.message ?? "\(error)")
        }
    }
}
