// SPDX-License-Identifier: Apache-2.0

import MartletCore
import Testing

@testable import MartletSimulator

@Suite struct KeyScopeTests {
    @Test func `a key of a team covers all topics, in one environment or both`() {
        #expect(SimulatedAPNs.KeyScope.team().covers(topic: "com.example.app"))
        #expect(SimulatedAPNs.KeyScope.team().covers(.development) && SimulatedAPNs.KeyScope.team().covers(.production))
        #expect(
            SimulatedAPNs.KeyScope.team(.production).covers(.production)
                && !SimulatedAPNs.KeyScope.team(.production).covers(.development)
        )
    }

    @Test func `a key of topics covers these with the suffixes of push types`() {
        let scope = SimulatedAPNs.KeyScope.topics(["com.example.app"], .production)
        #expect(scope.covers(.production) && !scope.covers(.development))
        #expect(scope.covers(topic: "com.example.app") && scope.covers(topic: "com.example.app.voip"))
        #expect(!scope.covers(topic: "com.example.other") && !scope.covers(topic: "com.example.app.other"))
    }
}
