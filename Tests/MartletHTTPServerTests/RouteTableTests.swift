// SPDX-License-Identifier: Apache-2.0

import MartletHTTPServer
import MartletTransport
import Testing

@Suite struct RouteTableTests {
    private func route(_ method: String, _ path: String) -> Route<Void> {
        Route(method: method, path: path, summary: "", access: .anyone) { _ in .whole(HTTPResponse(status: 200)) }
    }

    private func request(_ target: String) -> HTTPRequest {
        HTTPRequest(method: "GET", scheme: "http", authority: "localhost", target: target)
    }

    private var table: RouteTable<Void> {
        RouteTable(
            title: "",
            [route("GET", "/a/{id}"), route("GET", "/a/all"), route("POST", "/a/{id}/b"), route("GET", "/a/{id}/b")]
        )
    }

    @Test(arguments: [
        ("/a/x", "/a/{id}"), ("/a/all", "/a/all"), ("/a/é/b?c=/d", "/a/{id}/b"), ("/a/", nil), ("/a", nil),
        ("/a/x/", nil), ("a/x", nil), ("", nil), ("/a/all/", nil),
    ])
    func `a path matches the route with the fewest placeholders`(target: String, path: String?) {
        let request = request(target)
        #expect(table.match(of: request).path == path)
        #expect(table.match(of: request).isKnownPath == (path != nil))
    }

    @Test func `a path of more than 2048 bytes matches nothing`() async {
        for (count, status) in [(2_045, 200), (2_046, 404), (100_000, 404)] {
            let request = request("/a/" + String(repeating: "x", count: count))
            #expect(table.match(of: request).isKnownPath == (status == 200))
            guard case .whole(let response) = await table.answer(request, ()) else { continue }
            #expect(response.status == status)
        }
    }

    @Test(arguments: [("/a/%C3%A9", 200), ("/a/%ff", 400), ("/a/%C3", 400), ("/a/x?b=%FF", 400), ("/x/%ff", 404)])
    func `a target that is not UTF-8 is refused`(target: String, status: Int) async {
        guard case .whole(let response) = await table.answer(request(target), ()) else { return }
        #expect(response.status == status)
    }

    @Test(arguments: [("/a/%25", 200), ("/a/%", 400), ("/a/%zz", 400), ("/x/%zz", 404)])
    func `a path with a malformed escape is refused`(target: String, status: Int) async {
        guard case .whole(let response) = await table.answer(request(target), ()) else { return }
        #expect(response.status == status)
    }
}
