// SPDX-License-Identifier: Apache-2.0

internal import LiveSurfaces
internal import MartletCore

/// The differences of this client's pushes to those of `@mobile-surfaces/push`, of which each can be turned off.
///
/// A service that moves from that package starts with ``mobileSurfaces``, so that its apps receive the pushes they
/// know, and removes an option when its apps are ready. The article <doc:WireCompatibility> has the reason for each
/// difference.
public struct SurfaceCompatibility: OptionSet, Sendable, Hashable {
    /// The options as bits.
    public let rawValue: Int

    /// Creates a set of options from bits.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Starts have priority 5 instead of 10.
    public static let powerAwareStart = SurfaceCompatibility(rawValue: 1 << 0)
    /// The alert that a start has from the snapshot has no sound.
    public static let silentStart = SurfaceCompatibility(rawValue: 1 << 1)
    /// The attributes type is `MobileSurfacesActivityAttributes`, unless ``SurfaceDelivery/attributesType`` is another
    /// than the default.
    public static let attributesType = SurfaceCompatibility(rawValue: 1 << 2)
    /// An immediate end has its own time as `dismissal-date`, instead of a time in 1970.
    public static let dismissalAtEnd = SurfaceCompatibility(rawValue: 1 << 3)
    /// The sidecar of a Live Activity's alert has no `schemaVersion`.
    public static let unversionedSidecar = SurfaceCompatibility(rawValue: 1 << 4)
    /// The interruption level is written as `timeSensitive`, which iOS does not know.
    public static let interruptionLevelSpelling = SurfaceCompatibility(rawValue: 1 << 5)
    /// A start has no alert unless ``SurfaceDelivery/alert`` is one; iOS does not show a start without an alert.
    public static let startWithoutAlert = SurfaceCompatibility(rawValue: 1 << 6)

    /// All options except ``startWithoutAlert``: the pushes of `@mobile-surfaces/push` 7.3.1.
    ///
    /// A start of that package has an alert only if its caller passes one.
    public static let mobileSurfaces: SurfaceCompatibility = [
        .powerAwareStart, .silentStart, .attributesType, .dismissalAtEnd, .unversionedSidecar,
        .interruptionLevelSpelling,
    ]
}

extension SurfaceCompatibility {
    /// The name of the attributes type in an app made with that package.
    static let originalAttributesType = "MobileSurfacesActivityAttributes"

    /// Returns the payload of an alert with the differences that are turned off.
    func alert(_ payload: JSONValue) -> JSONValue {
        guard let members = payload.members else { return payload }
        return .object(
            members.map { member in
                switch member.name {
                case "liveSurface" where contains(.unversionedSidecar) && payload["schemaVersion"] == nil:
                    JSONValue.Member(member.name, SurfaceCompatibility.unversioned(member.value))
                case "aps" where contains(.interruptionLevelSpelling):
                    JSONValue.Member(member.name, SurfaceCompatibility.respelled(member.value))
                default: member
                }
            }
        )
    }

    private static func unversioned(_ sidecar: JSONValue) -> JSONValue {
        .object((sidecar.members ?? []).filter { $0.name != "schemaVersion" })
    }

    private static func respelled(_ aps: JSONValue) -> JSONValue {
        .object(
            (aps.members ?? []).map { member in
                guard member.name == "interruption-level", member.value == "time-sensitive" else { return member }
                return JSONValue.Member(member.name, "timeSensitive")
            }
        )
    }
}
