// SPDX-License-Identifier: Apache-2.0

package import LiveSurfaces
package import MartletCore

/// Preview data that an app would bring along.
extension SimulatedAPNs {
    /// Adds the strings of a `.strings` file for an app in one language.
    ///
    /// - Throws: ``SimulatorError`` when the file cannot be read.
    package func setStrings(_ file: String, _ language: String, of app: Topic) async throws(SimulatorError) {
        do {
            let table = try StringsFile.read(Array(file.utf8))
            try await previews.update { (data) throws(SimulatorError) in
                try data.strings.set(table, language, of: app.rawValue)
            }
        } catch {
            throw SimulatorError("the strings of \(ShownValue(app.rawValue)) cannot be used: \(error)")
        }
    }

    /// Sets the template of the Live Activities with this type of attributes.
    ///
    /// - Throws: ``SimulatorError`` when the template is invalid.
    package func setTemplate(_ json: JSONValue, for type: String, of app: Topic) async throws(SimulatorError) {
        do {
            let template = try PreviewTemplate(json: json)
            let name = PreviewData.TemplateName(app: app.rawValue, attributesType: type)
            try await previews.update { (data) throws(SimulatorError) in try data.set(template, name) }
        } catch {
            throw SimulatorError("the template for \(ShownValue(type)) cannot be used: \(error)")
        }
    }

    /// Stores a snapshot for a surface of an app, as the app itself would.
    ///
    /// - Throws: ``SimulatorError`` when the snapshot breaks a rule of the contract.
    package func setSurface(_ snapshot: SurfaceSnapshot, of app: Topic) async throws(SimulatorError) {
        do {
            let surface = try StoredSurface(snapshot.json.encoded(), kind: snapshot.kind)
            try await previews.update { (data) throws(SimulatorError) in
                try data.set(surface, of: app.rawValue)
            }
        } catch {
            throw SimulatorError("the snapshot \(snapshot.id) cannot be used: \(error)")
        }
    }
}
