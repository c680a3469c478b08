/// The decision when freed memory is returned to the system: a value without I/O.
///
/// The C library keeps what thousands of connections have used. Returning it takes milliseconds, so it is done once the
/// memory has grown much and grows no more.
struct MemoryReturn {
    /// The growth in bytes since the last return that makes another worth its time.
    static let growth = 64 << 20

    private var base: Int
    private var last: Int

    /// Creates a decision for a process that has this many resident bytes.
    init(residentBytes: Int) {
        base = residentBytes
        last = residentBytes
    }

    /// Returns whether to return memory now; called at regular intervals with the resident bytes.
    mutating func isDue(at residentBytes: Int) -> Bool {
        defer { last = residentBytes }
        base = min(base, residentBytes)
        return residentBytes - base > MemoryReturn.growth && residentBytes <= last
    }

    /// Records the resident bytes after memory has been returned.
    mutating func finished(at residentBytes: Int) {
        base = residentBytes
        last = residentBytes
    }
}
