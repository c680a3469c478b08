/// The place of one batch among the open batches of its caller; the place is free again when the object is released.
final class OpenBatch: Sendable {
    /// The open batches that one caller may have.
    static let limitPerCaller = 20

    private let onClose: @Sendable () -> Void

    init(onClose: @escaping @Sendable () -> Void) {
        self.onClose = onClose
    }

    deinit {
        onClose()
    }
}
