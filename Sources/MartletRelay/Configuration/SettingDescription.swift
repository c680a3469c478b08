/// A setting of the configuration file: its name, type, default, help, and whether a reload changes it.
///
/// The configuration file can contain no other settings, and the article <doc:RelaySettings> lists them.
struct SettingDescription: Sendable {
    /// The way to change a setting of a running relay.
    enum Change: String, Sendable {
        /// SIGHUP, or `systemctl reload`.
        case reload
        /// A restart; a reload logs a warning.
        case restart
    }

    /// The object that has the setting, such as `apps[].webhook`; empty for the file itself.
    let parent: String
    /// The name in that object.
    let name: String
    /// The type and the values that it may have.
    let type: String
    /// The value when the setting is missing; nil for a setting that must be there.
    let standard: String?
    /// The way to change it while the relay runs.
    let change: Change
    /// The purpose, in a sentence without the final stop.
    let help: String

    /// The path, with `[]` for the elements of a list and `{environment}` for `production` and `development`.
    var path: String { parent.isEmpty ? name : parent + "." + name }

    /// Returns the names of the settings of an object.
    static func names(in parent: String) -> [String] { all.filter { $0.parent == parent }.map(\.name) }

    /// The rows of the article's table.
    static var table: String {
        let rows = all.map { setting in
            let standard = setting.standard ?? "required"
            return
                "| `\(setting.path)` | \(setting.type) | \(standard) | \(setting.change.rawValue) | \(setting.help) |\n"
        }
        return "| Setting | Type | Default | Changed by | Purpose |\n| --- | --- | --- | --- | --- |\n" + rows.joined()
    }

    init(
        _ parent: String,
        _ name: String,
        _ type: String,
        _ standard: String?,
        _ change: Change,
        _ help: String
    ) {
        self.parent = parent
        self.name = name
        self.type = type
        self.standard = standard
        self.change = change
        self.help = help
    }
}
