// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// Returns the result of `body`, and converts its error to an ``APNsError``.
func writing<Value>(for id: APNsID? = nil, _ body: () throws(PayloadError) -> Value) throws(APNsError) -> Value {
    do throws(PayloadError) {
        return try body()
    } catch {
        throw APNsError(.invalid, id: id, description: "the payload cannot be encoded: \(error)")
    }
}
