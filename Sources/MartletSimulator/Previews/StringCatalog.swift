// SPDX-License-Identifier: Apache-2.0

internal import LiveSurfaces

/// Reads string catalogs (`.xcstrings`), with all their languages.
enum StringCatalog {
    /// Reads a catalog.
    ///
    /// - Returns: The strings by key, for each language.
    /// - Throws: ``SimulatorError`` with the place of the first error.
    static func read(_ bytes: [UInt8]) throws(SimulatorError) -> [String: [String: LocalizedString]] {
        do throws(SurfaceError) {
            return try SurfaceStrings(parsing: bytes).tables
        } catch {
            throw SimulatorError(error.issues.first?.message ?? "\(error)")
        }
    }
}
