// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletHTTPServer
import Testing

@Suite struct PageFileTests {
    @Test func `the generated script has the suffix and the limit of each push type`() throws {
        let file = try #require(PageFile.inbox.first { $0.path == "/page/push-types.js" })
        let text = String(decoding: file.bytes, as: UTF8.self)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("export const pushTypes = ") })
        let types = try JSONReader.read(Array(line.dropFirst("export const pushTypes = ".count).utf8))
        #expect(types.members?.map(\.name) == PushType.all.map(\.rawValue))
        for type in PushType.all {
            #expect(types[type.rawValue]?["topicSuffix"]?.stringValue == type.topicSuffix)
            #expect(types[type.rawValue]?["payloadByteLimit"]?.integerValue == Int64(type.payloadByteLimit))
        }
        #expect(text.contains("payloadByteLimit = \(PushLimits.payloadByteCount)\n"))
        #expect(text.contains("broadcastByteLimit = \(PushLimits.broadcastPayloadByteCount)\n"))
    }

    @Test func `no other script states a limit or a suffix`() {
        let facts =
            ["\(PushLimits.payloadByteCount)", "\(PushLimits.broadcastPayloadByteCount)"]
            + PushType.all.map(\.topicSuffix).filter { !$0.isEmpty }.map { "\"" + $0 }
        for file in PageFile.inbox + PageFile.relay where file.path != "/page/push-types.js" {
            let text = String(decoding: file.bytes, as: UTF8.self)
            for fact in facts { #expect(!text.contains(fact), "\(file.path) contains \(fact)") }
        }
    }
}
