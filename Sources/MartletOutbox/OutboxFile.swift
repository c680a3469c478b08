// SPDX-License-Identifier: Apache-2.0

/// The file of a store that keeps its pushes in one.
package protocol OutboxFile: Sendable {
    /// Copies the file while it is in use.
    ///
    /// - Returns: The path of the copy.
    /// - Throws: ``OutboxError``; an earlier copy is unchanged then, unless only its directory cannot be written.
    func backUp() async throws(OutboxError) -> String

    /// Removes what was deleted before from the file and its log.
    ///
    /// - Throws: ``OutboxError``; the call can be repeated then.
    func discardRemovedContent() async throws(OutboxError)
}
