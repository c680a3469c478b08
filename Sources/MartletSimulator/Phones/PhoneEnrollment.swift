// SPDX-License-Identifier: Apache-2.0

package import MartletCore

/// The enrollment of the app on a simulated phone at a relay: the reports that the relay has not confirmed, and the
/// decision about the next request, without I/O or a clock.
package struct PhoneEnrollment: Sendable {
    /// A request to the relay.
    package enum Request: Sendable, Hashable {
        /// The back end asks for a ticket for the user of the phone.
        case ticket
        /// The app enrolls with a ticket.
        case enrollment(ticket: String)
        /// The app reports a change, which contains this number of reports, with the secret of its installation.
        case report(JSONValue, count: Int, secret: String)
    }

    private var ticket: String?
    private var secret: String?
    /// All that the app has reported.
    private var reported: JSONValue = [:]
    /// The changes that the relay has not confirmed, oldest first.
    private var unconfirmed: [JSONValue] = []

    /// Creates the enrollment of a phone that has reported nothing.
    package init() {}

    /// Adds a report.
    package mutating func add(_ report: PhoneReport) {
        reported = reported.merging(report.change)
        unconfirmed.append(report.change)
    }

    /// The next request; nil when the relay has confirmed all reports.
    package var nextRequest: Request? {
        guard !unconfirmed.isEmpty else { return nil }
        guard let secret else { return ticket.map(Request.enrollment) ?? .ticket }
        return .report(unconfirmed.reduce([:]) { $0.merging($1) }, count: unconfirmed.count, secret: secret)
    }

    /// Processes the relay's answer to a request.
    ///
    /// - Returns: The reason to wait before the next request; nil for none.
    package mutating func receive(_ status: Int, _ body: JSONValue, to request: Request) -> String? {
        switch (request, status) {
        case (.ticket, 201):
            ticket = body["ticket"]?.stringValue
            return ticket == nil ? "the relay's answer has no ticket" : nil
        case (.enrollment, 201):
            ticket = nil
            secret = body["secret"]?.stringValue
            return secret == nil ? "the relay's answer has no secret" : nil
        case (.report(_, let count, _), 200):
            unconfirmed.removeFirst(min(count, unconfirmed.count))
            return nil
        case (.enrollment, 401): ticket = nil
        case (.report, 401):
            // The installation was removed with all that the app has reported.
            secret = nil
            unconfirmed = [reported]
        case (.report(_, let count, _), 400), (.report(_, let count, _), 413), (.report(_, let count, _), 422):
            // The relay would refuse the same change again.
            unconfirmed.removeFirst(min(count, unconfirmed.count))
        default: break
        }
        return "the relay answers \(status)" + (body["detail"]?.stringValue.map { ": \($0)" } ?? "")
    }
}
