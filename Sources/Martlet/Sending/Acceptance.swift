internal import MartletTransport

/// A response of APNs that accepts a request.
struct Acceptance: Sendable {
    let receipt: PushReceipt
    let fields: HTTPFields
    let body: [UInt8]

    init(_ receipt: PushReceipt, _ answer: HTTP2Stream?) {
        self.receipt = receipt
        fields = answer?.fields ?? HTTPFields()
        body = answer?.body ?? []
    }
}
