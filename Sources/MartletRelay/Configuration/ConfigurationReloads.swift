/// The reloads of the configuration since the relay started.
struct ConfigurationReloads {
    private(set) var succeeded = 0
    private(set) var failed = 0
    /// Whether the last reload failed.
    private(set) var didLastFail = false
    /// The time at which the configuration in use was read, in milliseconds since 1970.
    private(set) var lastSuccess: Int64

    init(startedAt: Int64) {
        lastSuccess = startedAt
    }

    /// Records the result of a reload.
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
