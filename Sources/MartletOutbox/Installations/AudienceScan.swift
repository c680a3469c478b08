// SPDX-License-Identifier: Apache-2.0

/// A reading of the installations that match an expression, in the order of their enrollment, page after page.
package struct AudienceScan: Sendable, Hashable {
    package var expression: AudienceExpression
    package var app: String
    /// The slot of the token that a push needs.
    package var slot: Installation.TokenSlot
    /// The ``StoredInstallation/number`` after which the next page begins; 0 for the first page.
    package var cursor: Int64
    /// The last number of the scan, so that it ends although phones enroll meanwhile.
    package var highMark: Int64

    /// Creates a scan of all installations.
    package init(
        _ expression: AudienceExpression,
        of app: String,
        _ slot: Installation.TokenSlot,
        after cursor: Int64 = 0,
        through highMark: Int64 = .max
    ) {
        self.expression = expression
        self.app = app
        self.slot = slot
        self.cursor = cursor
        self.highMark = highMark
    }

    /// The tags that a store looks up for each installation.
    ///
    /// A store reads the installations of the rarest required tag. If there is only one, each installation has it.
    var lookedUpTags: [String] { expression.tags.subtracting(knownTags).sorted() }

    /// The tags that each installation has that the store reads.
    var knownTags: Set<String> {
        let required = expression.requiredTags
        return required.count == 1 ? required : []
    }
}

/// A page of an ``AudienceScan``.
package struct AudiencePage: Sendable, Hashable {
    /// The installations that match, also those without a token in the slot.
    package var members: [AudienceMember] = []
    /// The number of installations that were examined, whether or not they match.
    package var examined = 0
    /// The cursor of the next page; nil after the last one.
    package var next: Int64?

    /// Creates an empty last page.
    package init() {}
}
