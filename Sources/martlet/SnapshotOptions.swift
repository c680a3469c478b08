import APNsClient
import Commands
import LiveSurfaces

/// The options that send a snapshot.
struct SnapshotOptions: Sendable {
    fileprivate var file: InputFile?
    fileprivate var role: Role?
    fileprivate var categories: InputFile?

    static let declared = Group(
        Option<InputFile?>("--snapshot", "A snapshot of a surface, JSON; - for standard input"),
        Option<Role?>("--as", "What the snapshot does: alert a device, or start, update or end a Live Activity"),
        Option<InputFile?>("--categories", "The app's notification categories, JSON; for --snapshot")
    ) { SnapshotOptions(file: $0, role: $1, categories: $2) }

    /// What a snapshot does where it arrives.
    enum Role: String, ArgumentValue, CaseIterable {
        case device
        case start
        case update
        case end

        /// One of the cases.
        init(argument: String) throws(UsageError) {
            guard let role = Role(rawValue: argument) else {
                throw UsageError("\"\(argument)\" is none of \(Role.valueName)")
            }
            self = role
        }

        /// Part of `ArgumentValue`.
        static var valueName: String { allCases.map(\.rawValue).joined(separator: "|") }

        func destination(_ token: DeviceToken) -> SurfaceDestination {
            switch self {
            case .device: .device(token)
            case .start: .activityStart(token)
            case .update: .activity(token)
            case .end: .activityEnd(token)
            }
        }
    }

    /// A snapshot with what it is to do.
    struct Snapshot: Sendable {
        var content: SurfaceSnapshot
        var role: Role
        var categories: NotificationCategories
    }

    /// The snapshot that the options name; nil without one.
    func snapshot() throws -> Snapshot? {
        guard let file else {
            guard role == nil, categories == nil else { throw UsageError("--as and --categories go with --snapshot") }
            return nil
        }
        let bytes = try file.bytes()
        let given = try categories?.bytes()
        do throws(SurfaceError) {
            let categories = try given.map { (bytes) throws(SurfaceError) in
                try NotificationCategories(parsing: bytes)
            }
            return Snapshot(
                content: try SurfaceSnapshot(parsing: bytes, categories: categories ?? .standard),
                role: role ?? .device,
                categories: categories ?? .standard
            )
        } catch {
            throw FileProblem(description: "\(file.path): \(error)")
        }
    }
}
