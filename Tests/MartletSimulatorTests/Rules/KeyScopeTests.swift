// SPDX-License-Identifier: Apache-2.0

import MartletCore
import Testing

@testable import MartletSimulator

@Suite struct KeyScopeTests {
    @Test func `a key of a team covers all topics, in one environment or both`() {
        #expect(KeyScope.team().covers(topic: "com.example.app"))
        #expect(KeyScope.team().covers(.development) && KeyScope.team().covers(.production))
        #expect(KeyScope.team(.production).covers(.production) && !KeyScope.team(.production).covers(.development))
    }

    @Test func `a key of topics covers these with the suffixes of push types`() {
        let scope = KeyScope.topics(["com.example.app"], .production)
        #expect(scope.covers(.production) && !scope.covers(.development))
        #expect(scope.covers(topic: "com.example.app") && scope.covers(topic: "com.example.app.voip"))
        #expect(!scope.covers(topic: "com.example.other") && !scope.covers(topic: "com.example.app.other"))
    }
}
