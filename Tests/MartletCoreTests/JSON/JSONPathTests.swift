// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletCore

@Suite struct JSONPathTests {
    private let root = JSONPath(root: "the body")

    @Test func `the whole document has its name, and an empty pointer`() {
        #expect(root.description == "the body")
        #expect(root.pointer.isEmpty)
    }

    @Test func `members and elements are named in both notations`() {
        let path = root.appending("apps").appending(0).appending("rate")
        #expect(path.description == "apps[0].rate")
        #expect(path.pointer == "/apps/0/rate")
    }

    @Test func `a name that may be a secret is described`() {
        let path = root.appending("apps").appending("mrt_short")
        #expect(path.description == "apps.text of 9 characters (not shown, as it may be a secret)")
        #expect(JSONPointer.shownPath(["apps", "mrt_short", "a"]) == "/apps")
        #expect(JSONPointer.shownPath(["apps", "a/b"]) == "/apps/a~1b")
    }

    @Test func `a pointer escapes tildes and slashes`() {
        #expect(root.appending("a/b~c").pointer == "/a~1b~0c")
        #expect(JSONPointer.path(["~1", "/"]) == "/~01/~1")
    }
}
