/// The slot of one batch among the open batches of its caller, freed when the object is released.
final class OpenBatch: Sendable {
    /// The maximum number of open batches of one caller.
    static let limitPerCaller = 20

    private let onClose: @Sendable () -> Void

    init(onClose: @escaping @Sendable () -> Void) {
        self.onClose = onClose
    }

    deinit {
        onClose()
    }
}
