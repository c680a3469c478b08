// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

extension OutboxPush {
    /// Makes an alert count towards the limit of its user; other pushes do not count.
    ///
    /// - Parameter limit: The limit; nil for none.
    mutating func count(towards limit: AlertLimit?) {
        if headers.pushType == PushType.alert.rawValue { alertLimit = limit }
    }
}
