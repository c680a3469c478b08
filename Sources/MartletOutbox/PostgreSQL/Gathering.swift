/// A batcher that collects work while a batch is being processed, so that many pieces share one commit.
struct Gathering<Piece> {
    private var pieces: [Piece] = []
    private var isUnderWay = false

    /// Adds a piece; returns true when no batch is being processed and the caller must start one.
    mutating func add(_ piece: Piece) -> Bool {
        pieces.append(piece)
        return !isUnderWay && pieces.count == 1
    }

    /// Returns the next batch and marks it as being processed; nil when no work waits.
    mutating func next() -> [Piece]? {
        isUnderWay = !pieces.isEmpty
        guard isUnderWay else { return nil }
        defer { pieces = [] }
        return pieces
    }
}
