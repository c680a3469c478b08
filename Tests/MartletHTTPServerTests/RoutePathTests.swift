// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletHTTPServer

@Suite struct RoutePathTests {
    private func arguments(_ pattern: String, _ path: String) -> [String: String]? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(\.utf8)
        return RoutePath(pattern).arguments(of: parts)
    }

    @Test func `the placeholders are listed in their order`() {
        let path = RoutePath("/v1/{app}/tokens/{token}")
        #expect(path.placeholders == ["app", "token"] && path.text == "/v1/{app}/tokens/{token}")
        #expect(RoutePath("/v1").placeholders == [])
    }

    @Test func `a matching path gives the values of the placeholders`() {
        #expect(arguments("/v1/{app}/{token}", "/v1/é/a%2Fb") == ["app": "é", "token": "a%2Fb"])
        #expect(arguments("/v1", "/v1") == [:])
    }

    @Test(arguments: ["/v1/", "/v1", "/v2/a", "/v1/a/", "v1/a", "", "/V1/a"])
    func `another number of parts, other text and an empty value do not match`(path: String) {
        #expect(arguments("/v1/{app}", path) == nil)
    }
}
