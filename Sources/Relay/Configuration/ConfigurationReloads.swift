/// The times that the configuration was read while the relay runs.
struct ConfigurationReloads {
    private(set) var succeeded = 0
    private(set) var failed = 0
    /// Whether the last one failed.
    private(set) var didLastFail = false
    /// The time at which the configuration in use was read, in milliseconds since 1970.
    private(set) var lastSuccess: Int64

    init(startedAt: Int64) {
        lastSuccess = startedAt
    }

    /// Notes that the configuration was read again.
    mutating func note(succeeds: Bool, at now: Int64) {
        didLastFail = !succeeds
        guard succeeds else {
            failed += 1
            return
        }
        succeeded += 1
        lastSuccess = now
    }
}
