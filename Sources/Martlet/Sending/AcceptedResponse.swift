// SPDX-License-Identifier: Apache-2.0

package import MartletTransport

/// A response of APNs that accepts a request.
package struct AcceptedResponse: Sendable {
    let receipt: PushReceipt
    /// All fields, including `:status`.
    package let fields: HTTPFields
    /// The body.
    package let body: [UInt8]

    init(_ receipt: PushReceipt, _ answer: HTTP2Stream?) {
        self.receipt = receipt
        fields = answer?.fields ?? HTTPFields()
        body = answer?.body ?? []
    }
}
