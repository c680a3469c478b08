// SPDX-License-Identifier: Apache-2.0

internal import MartletServer

extension APNsRequest {
    /// Whether the request is about an app's channels.
    var isAboutChannels: Bool {
        switch target {
        case .channels, .allChannels: true
        case .device, .broadcast, nil: false
        }
    }

    /// The device token as in the path; empty for a request without one.
    var deviceToken: String {
        if case .device(let token)? = target { token } else { "" }
    }
}
