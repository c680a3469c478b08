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
}
