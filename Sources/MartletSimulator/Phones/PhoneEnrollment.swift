// SPDX-License-Identifier: Apache-2.0

package import MartletCore

/// The enrollment of the app on a simulated phone at a relay: the reports that the relay has not confirmed, and the
/// decision about the next request, without I/O or a clock.
///
/// Reports that wait are merged, so that their memory stays bounded while the relay does not answer.
package struct PhoneEnrollment: Sendable {
    /// A request to the relay.
    package enum Request: Sendable, Hashable {
        /// The back end asks for a ticket for the user of the phone.
        case ticket
        /// The app enrolls with a ticket.
        case enrollment(ticket: String)
        /// The app reports a change with the secret of its installation.
        case report(JSONValue, secret: String)
    }

    private var ticket: String?
    private var secret: String?
    /// All that the app has reported, without the activities that have ended.
    private var reported: JSONValue = [:]
    /// The change that the relay has not confirmed; nil for none.
    private var unconfirmed: JSONValue?

    /// Creates the enrollment of a phone that has reported nothing.
    package init() {}

    /// Adds a report.
    package mutating func add(_ report: PhoneReport) {
        let activities = report.change["activities"]?.members ?? []
        let ended = activities.filter { $0.value["ended"] != nil }.map { JSONValue.Member($0.name, .null) }
        reported = reported.merging(report.change).merging(ended.isEmpty ? [:] : ["activities": .object(ended)])
        unconfirmed = unconfirmed?.merging(report.change) ?? report.change
    }

    /// The next request; nil when the relay has confirmed all reports.
    package var nextRequest: Request? {
        guard let unconfirmed else { return nil }
        guard let secret else { return ticket.map(Request.enrollment) ?? .ticket }
        return .report(unconfirmed, secret: secret)
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
        case (.report(let change, _), 200):
            settle(change)
            return nil
        case (.enrollment, 401): ticket = nil
        case (.report, 401):
            // The relay has removed the installation with all that the app has reported.
            secret = nil
            unconfirmed = reported
        case (.report(let change, _), 400), (.report(let change, _), 413), (.report(let change, _), 422):
            // The relay would refuse the same change again.
            settle(change)
        default: break
        }
        return "the relay answers \(status)" + (body["detail"]?.stringValue.map { ": \($0)" } ?? "")
    }

    /// Removes a change that need not be sent again.
    ///
    /// If a report has arrived since, both are sent: the relay accepts what it knows already.
    private mutating func settle(_ change: JSONValue) {
        if unconfirmed == change { unconfirmed = nil }
    }
}
