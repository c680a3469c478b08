package import APNs
package import LiveSurfaces

/// What an app would have brought along, for previews.
extension SimulatedAPNs {
    /// Takes a `.strings` file of an app in a language.
    ///
    /// - Throws: ``SimulatorError`` when it cannot be read.
    package func setStrings(_ file: String, _ language: String, of app: Topic) throws(SimulatorError) {
        do {
            let table = try StringsFile.read(Array(file.utf8))
            try changePreviews { (previews) throws(PreviewsFull) in
                try previews.strings.set(table, language, of: app.rawValue)
            }
        } catch {
            throw SimulatorError("the strings of \(app) cannot be used: \(error)")
        }
    }

    /// Lays out the Live Activities of an app's type.
    ///
    /// - Throws: ``SimulatorError`` when the template is none.
    package func setTemplate(_ json: JSONValue, for type: String, of app: Topic) throws(SimulatorError) {
        do {
            let template = try PreviewTemplate(json: json)
            let name = PreviewMaterial.TemplateName(app: app.rawValue, attributesType: type)
            try changePreviews { (previews) throws(PreviewsFull) in try previews.set(template, name) }
        } catch {
            throw SimulatorError("the template for \(type) cannot be used: \(error)")
        }
    }

    /// Has an app have stored a snapshot for its surface.
    ///
    /// - Throws: ``SimulatorError`` when it breaks a rule of the contract.
    package func setSurface(_ snapshot: SurfaceSnapshot, of app: Topic) throws(SimulatorError) {
        do {
            let surface = try StoredSurface(snapshot.json.encoded(), kind: snapshot.kind)
            try changePreviews { (previews) throws(PreviewsFull) in try previews.set(surface, of: app.rawValue) }
        } catch {
            throw SimulatorError("the snapshot \(snapshot.id) cannot be used: \(error)")
        }
    }
}
