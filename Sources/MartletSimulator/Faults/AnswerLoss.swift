// SPDX-License-Identifier: Apache-2.0

/// The reason an answer was not written to the connection.
enum AnswerLoss {
    /// The client reset the stream, or closed the connection.
    case client
    /// A fault that affected the request itself.
    case fault(FaultInjection)
    /// A fault that affected another request of the connection and ended the connection.
    case connection(FaultInjection)

    /// The fault; nil when the client is the cause.
    var fault: FaultInjection? {
        switch self {
        case .client: nil
        case .fault(let injection), .connection(let injection): injection
        }
    }
}
