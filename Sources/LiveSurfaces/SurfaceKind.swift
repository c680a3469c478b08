// SPDX-License-Identifier: Apache-2.0

/// The six kinds of surfaces; the raw values are those in JSON.
public enum SurfaceKind: String, Sendable, Hashable, CaseIterable, Codable {
    /// A Live Activity on the Lock Screen and in the Dynamic Island.
    case liveActivity
    /// A widget on the Home Screen.
    case widget
    /// A control in Control Center, on the Lock Screen or the Action button.
    case control
    /// An accessory on the Lock Screen.
    case lockAccessory
    /// A view in StandBy.
    case standBy = "standby"
    /// A notification.
    case notification
}

/// The state of the subject that a surface shows.
public enum SurfaceState: String, Sendable, Hashable, CaseIterable, Codable {
    /// It has not started.
    case queued
    /// It is in progress.
    case active
    /// It is paused.
    case paused
    /// It needs the user's attention.
    case attention
    /// It should not interrupt the user now.
    case badTiming = "bad_timing"
    /// It is completed.
    case completed
}
