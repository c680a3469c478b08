// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import MartletSimulator
import Testing

@testable import MartletRelay

/// Tests of the article, the options and the schema that derive from the declarations of settings.
@Suite struct SettingDeclarationTests {
    @Test func `the article has the table of the settings`() throws {
        let article = try String(
            contentsOfFile: "Sources/MartletRelay/Documentation.docc/RelaySettings.md",
            encoding: .utf8
        )
        let table = SettingTable.markdown
        #expect(article.contains(table), "put this into RelaySettings.md:\n\(table)")
    }

    @Test func `paths are unique`() {
        let paths = SettingTable.rows.map(\.path)
        #expect(Set(paths).count == paths.count)
        #expect(paths.contains("apps[].webhook.url") && paths.contains("apple.{environment}.port"))
    }

    @Test func `the defaults are those of the types`() {
        let defaults = Dictionary(uniqueKeysWithValues: SettingTable.rows.map { ($0.path, $0.setting.fallback) })
        #expect(defaults["limit"] == "10000000" && defaults["retention-days"] == "7")
        #expect(defaults["durability"] == "`full`" && defaults["apps[].environments"] == "`[\"production\"]`")
        #expect(defaults["data"] == .some(nil), "required")
    }

    @Test func `options have the names and the choices of settings`() {
        let names = SettingOption.all.map(\.name)
        #expect(names == ["data", "listen-production", "listen-development", "http", "log-level", "log-format"])
        #expect(SettingOption.all.map(\.variable) == ["MARTLET_RELAY_DATA", nil, nil, nil, nil, nil])
        #expect(SettingOption.all[1].help == "Address for APNs clients of production, HTTP/2")
        #expect(SettingOption.all[4].choices == ["debug", "info", "warning", "error"])
        #expect(throws: RelayError.self) { try SettingOption.all[3].check("localhost") }
        #expect(throws: Never.self) { try SettingOption.all[3].check("127.0.0.1:1") }
    }

    // MARK: Schema

    @Test func `the schema accepts a valid configuration`() throws {
        let schema = try JSONSchema(ConfigurationSchema.document)
        let json = try JSONReader.read(Array(ConfigurationFile.good.utf8))
        #expect(schema.violations(of: json).isEmpty, "\(schema.violations(of: json))")
    }

    @Test(arguments: [
        ("\"data\"", "\"date\""), ("\"rate\": 100", "\"rate\": 0"), ("\"rate\": 100", "\"rates\": 1"),
        ("\"sen", "\"san"), ("\"production\"", "\"sandbox\""), ("\"key-sha256\"", "\"key\""),
        ("\"http\": \"127.0.0.1:0\"", "\"http\": 1"), ("\"apps\": [\"orders\"]", "\"apps\": []"),
    ])
    func `the schema rejects what the relay rejects`(change: (String, String)) throws {
        let text = ConfigurationFile.good(change)
        #expect(text != ConfigurationFile.good)
        let schema = try JSONSchema(ConfigurationSchema.document)
        let json = try JSONReader.read(Array(text.utf8))
        #expect(!schema.violations(of: json).isEmpty)
        let file = try ConfigurationFile(text)
        #expect(throws: RelayError.self) { try RelayConfiguration(file: file.path) }
    }

    @Test func `the schema describes every setting`() throws {
        let text = String(decoding: ConfigurationSchema.document.encoded(), as: UTF8.self)
        for (path, setting) in SettingTable.rows where setting.name != "{environment}" {
            #expect(text.contains("\"\(setting.name)\":{"), "\(path)")
        }
    }
}
