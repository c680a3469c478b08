// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

extension InstallationReader {
    /// The members of an activity.
    static let activityMembers = ["surface", "token", "started-at", "started-by", "ended"]
    /// The members of the end of an activity.
    static let endMembers = ["cause", "at"]
    /// The maximum number of activities in one change, with those that null removes.
    static let activityLimit = nameLimit(of: .activity) + 2 * Installation.endedActivityLimit
    /// The range of times of phones, in milliseconds since 1970.
    static let phoneTimes: ClosedRange<Int64> = 0...99_999_999_999_999

    /// Reads the member `activities`, whose tokens are tokens of the installation.
    func readActivities(_ field: Field, into change: inout InstallationChange) throws(InstallationError) {
        guard field.value != .null else {
            change.removedKinds.insert(.activity)
            return
        }
        for (id, activity) in try members(of: field, limit: Self.activityLimit) {
            let slot = Installation.TokenSlot(.activity, id)
            guard activity.value != .null else {
                change.tokens.updateValue(nil, forKey: slot)
                change.activities.updateValue(nil, forKey: id)
                continue
            }
            try activity.checkMembers(Self.activityMembers)
            if let field = activity["token"].ifPresent { change.tokens.updateValue(try token(field), forKey: slot) }
            change.activities.updateValue(try activityChange(activity), forKey: id)
        }
    }

    private func activityChange(_ activity: Field) throws(InstallationError) -> ActivityChange {
        var change = ActivityChange()
        if let field = activity["surface"].ifPresent { change.surface = try TextRule.surface.text(of: field) }
        if let field = activity["started-at"].ifPresent {
            let time: Int64? = try field.value == .null ? nil : self.time(field)
            change.startedAt = .some(time)
        }
        if let field = activity["started-by"].ifPresent {
            let starter: Installation.Activity.Starter? = try field.value == .null ? nil : field.choice()
            change.startedBy = .some(starter)
        }
        if let field = activity["ended"].ifPresent {
            let end: Installation.Activity.End? = try field.value == .null ? nil : self.end(field)
            change.end = .some(end)
        }
        return change
    }

    /// Returns a time of the phone, in milliseconds since 1970.
    private func time(_ field: Field) throws(InstallationError) -> Int64 {
        let times = Self.phoneTimes
        guard let time = field.value?.integerValue, times.contains(time) else {
            throw field.mismatch(
                "a time in milliseconds since 1970: an integer from \(times.lowerBound) to \(times.upperBound)"
            )
        }
        return time
    }

    private func end(_ field: Field) throws(InstallationError) -> Installation.Activity.End {
        try field.checkMembers(Self.endMembers)
        let cause = try field["cause"].choice(of: Installation.Activity.End.Cause.self)
        return .init(cause, at: try time(field["at"]))
    }
}
