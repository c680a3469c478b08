// SPDX-License-Identifier: Apache-2.0

@testable import MartletRelay

/// The table of all settings in the article <doc:RelaySettings>.
enum SettingTable {
    /// The table in Markdown.
    static var markdown: String {
        "| Setting | Type | Default | Changed by | Purpose |\n| --- | --- | --- | --- | --- |\n"
            + rows.map { path, setting in
                "| `\(path)` | \(setting.type.summary) | \(setting.fallback ?? "required") | \(setting.change.rawValue)"
                    + " | \(setting.help) |\n"
            }.joined()
    }

    /// All settings with their paths, with `[]` for the elements of a list: those of the file, then those in each of
    /// its objects.
    static var rows: [(path: String, setting: SettingDeclaration)] {
        let file = RelayConfiguration.settings.map(\.declaration)
        return file.map { ($0.name, $0) } + file.flatMap { nested(in: $0, at: $0.name) }
    }

    private static func nested(
        in setting: SettingDeclaration,
        at path: String
    ) -> [(path: String, setting: SettingDeclaration)] {
        let path = setting.type.nesting == .list ? path + "[]" : path
        let members = setting.type.members.map { ("\(path).\($0.name)", $0) }
        return members + members.flatMap { nested(in: $1, at: $0) }
    }
}
