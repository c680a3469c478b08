// SPDX-License-Identifier: Apache-2.0

import MartletTransport
import Testing

@Suite(.timeLimit(.minutes(10))) struct SubjectNameTests {
    @Test(arguments: [
        ("localhost", true), ("api.push.apple.com", true), ("apns_1", true), ("127.0.0.1", true), ("::1", true),
        ("", false), ("a b", false), ("a..b", false), ("*.example.com", false), ("a,b", false), ("a:1", false),
        ("https://a", false), ("[::1]", false), (String(repeating: "a", count: 64), false),
    ])
    func `a host is a host name or an address`(text: String, isHost: Bool) {
        #expect(SubjectName.isHost(text) == isHost)
    }
}
