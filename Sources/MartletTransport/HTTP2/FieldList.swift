// SPDX-License-Identifier: Apache-2.0

internal import CMartletNghttp2

/// Converts the fields of a server's responses to nghttp2's representation.
final class FieldList {
    private static let inPlace = UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue)
    private static let unindexed = UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue)

    @exclusivity(unchecked) private var hasSentFields = false

    /// Calls `body` with the fields in nghttp2's representation, which points into their memory.
    ///
    /// The fields must exist unchanged until their frame has been written.
    ///
    /// The first message adds its unindexed fields to the peer's table, so that later messages send only their values
    /// and refer to the names.
    func withNameValues(of fields: HTTPFields, _ body: (UnsafeBufferPointer<nghttp2_nv>) -> CInt) -> CInt {
        let isFirst = !hasSentFields
        hasSentFields = true
        return withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: fields.count) { list in
            fields.withFields { fields in
                for (index, field) in fields.enumerated() {
                    let mayIndex = field.isIndexed || isFirst
                    list.initializeElement(
                        at: index,
                        to: nghttp2_nv(
                            name: UnsafeMutablePointer(mutating: field.name.baseAddress),
                            value: UnsafeMutablePointer(mutating: field.value.baseAddress),
                            namelen: field.name.count,
                            valuelen: field.value.count,
                            flags: mayIndex ? FieldList.inPlace : FieldList.inPlace | FieldList.unindexed
                        )
                    )
                }
                return body(UnsafeBufferPointer(list))
            }
        }
    }
}
