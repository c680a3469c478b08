// SPDX-License-Identifier: Apache-2.0

/// An example of a snapshot in one situation, for previews, tests and experiments.
///
/// The examples are about order 17 of a shop. Each is valid with ``NotificationCategories/standard``.
///
/// ```swift
/// let snapshot = SurfaceExample.activityPaused.snapshot
/// ```
public struct SurfaceExample: Sendable, Hashable, CustomStringConvertible {
    /// The name in lower case, with the kind of surface first, such as `activity-paused`.
    public let name: String
    /// The situation in one line.
    public let summary: String
    /// The snapshot.
    public let snapshot: SurfaceSnapshot

    /// All examples, by kind.
    public static let all: [SurfaceExample] =
        activities + widgets + controls + accessories + standByViews + notifications

    /// Creates the example with a name; nil if no example has it.
    ///
    /// - Parameter name: The name, such as `activity-paused`.
    public init?(named name: String) {
        guard let example = SurfaceExample.all.first(where: { $0.name == name }) else { return nil }
        self = example
    }

    private init(_ name: String, _ summary: String, _ snapshot: SurfaceSnapshot) {
        self.name = name
        self.summary = summary
        self.snapshot = snapshot
    }

    /// The name.
    public var description: String { name }

    /// The link that a tap opens in the examples.
    static let link = "shop://orders/17"

    /// Creates an example.
    ///
    /// - Parameters:
    ///   - name: The name, from which the identifiers of the snapshot are made.
    ///   - summary: The situation in one line.
    ///   - state: The state of the order.
    ///   - content: The content of the surface.
    ///   - wrap: The case of ``SurfaceSnapshot`` for the content.
    init<Content: Surface>(
        _ name: String,
        _ summary: String,
        state: SurfaceState = .active,
        _ content: Content,
        as wrap: (Snapshot<Content>) -> SurfaceSnapshot
    ) {
        let snapshot = Snapshot(
            id: "order-17-\(name)@1",
            surfaceID: "order-17-\(name)",
            updatedAt: "2026-05-12T18:31:00.000Z",
            state: state,
            surface: content
        )
        self.init(name, summary, wrap(snapshot))
    }
}
