// SPDX-License-Identifier: Apache-2.0

import MartletOutbox
import Testing

@testable import MartletRelay

@Suite struct ReloadedSettingsTests {
    @Test func `settings that need a restart keep their values, and are named`() {
        let old = RelayConfiguration(
            data: .file("/a"),
            apps: [],
            listeners: [.production: RelayConfiguration.Address(port: 1)]
        )
        var new = old
        #expect(new.settingsThatNeedRestart(since: old) == [])
        new.data = .file("/b")
        new.listeners = [:]
        new.http = RelayConfiguration.Address(port: 2)
        new.retention = 5
        #expect(new.settingsThatNeedRestart(since: old) == ["data", "listen", "http"])
        let merged = new.keepingFixedSettings(of: old)
        #expect(merged.data == old.data && merged.listeners == old.listeners && merged.http == nil)
        #expect(merged.retention == 5)
    }

    @Test func `a reload does not add or remove the outbox's encryption`() throws {
        let plain = RelayConfiguration(data: .file("/a"), apps: [], listeners: [:])
        var sealed = plain
        sealed.sealingKeys = try SealingKeys("1 \(String(repeating: "A", count: 43))=")
        #expect(sealed.settingsThatNeedRestart(since: plain) == ["sealing-keys"])
        #expect(plain.settingsThatNeedRestart(since: sealed) == ["sealing-keys"])
        #expect(sealed.keepingFixedSettings(of: plain).sealingKeys == nil)
        #expect(plain.keepingFixedSettings(of: sealed).sealingKeys == sealed.sealingKeys)
        var other = sealed
        other.sealingKeys = try SealingKeys("2 B\(String(repeating: "A", count: 42))=")
        #expect(other.settingsThatNeedRestart(since: sealed) == [])
        #expect(other.keepingFixedSettings(of: sealed).sealingKeys == other.sealingKeys)
    }
}
