/// Gathers pieces of work while one lot of them is under way, so that many share one commit.
struct Gathering<Piece> {
    private var pieces: [Piece] = []
    private var isUnderWay = false

    /// Adds a piece; true when nothing is under way, and somebody has to begin.
    mutating func add(_ piece: Piece) -> Bool {
        pieces.append(piece)
        return !isUnderWay && pieces.count == 1
    }

    /// The next lot, which is under way from now on; nil when nothing waits.
    mutating func next() -> [Piece]? {
        isUnderWay = !pieces.isEmpty
        guard isUnderWay else { return nil }
        defer { pieces = [] }
        return pieces
    }
}
