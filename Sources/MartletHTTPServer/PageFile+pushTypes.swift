// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

extension PageFile {
    /// The script from which the inbox's other scripts import the properties of push types, generated from
    /// `PushType.descriptors`.
    package static let pushTypes = PageFile(
        path: "/page/push-types.js",
        type: "text/javascript; charset=utf-8",
        bytes: Array(
            """
            // Generated from PushType.descriptors.

            /** The known push types by name, with the suffix of the topic and the maximum size of the payload. */
            export const pushTypes = \(String(decoding: descriptors.encoded(), as: UTF8.self))
            /** The maximum number of bytes in the payload of a push without a known type. */
            export const payloadByteLimit = \(PushLimits.payloadByteCount)
            /** The maximum number of bytes in the payload of a broadcast. */
            export const broadcastByteLimit = \(PushLimits.broadcastPayloadByteCount)

            """.utf8
        )
    )

    private static let descriptors = JSONValue.object(
        PushType.descriptors.map { descriptor in
            JSONValue.Member(
                descriptor.type.rawValue,
                [
                    "topicSuffix": .string(descriptor.topicSuffix),
                    "payloadByteLimit": .integer(descriptor.payloadByteLimit),
                ]
            )
        }
    )
}
