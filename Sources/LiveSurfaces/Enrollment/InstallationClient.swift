// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The installation of the app at a relay: enrolls the signed-in user, and reports the push tokens and everything else
/// that has changed.
///
/// Create one client when the app launches, and call ``signIn(_:)`` or ``signOut()`` at each launch, because the stored
/// state may be older or newer than the app's own. The client sends one request at a time, always with the newest
/// values, and repeats it until the relay has answered.
public actor InstallationClient {
    /// The environment of the app's push tokens, which belongs to the build.
    ///
    /// Source: "APS Environment Entitlement".
    public enum Environment: String, Sendable, Hashable {
        /// The environment of TestFlight and the App Store.
        case production
        /// The environment of a build that Xcode has installed.
        case development
    }

    /// A function that sends a request to its path at the relay, and returns the answer with any status; it throws an
    /// error if there is no answer.
    public typealias Send = @Sendable (InstallationRequest) async throws -> InstallationAnswer

    /// The delay after which a storage that failed is used again.
    private static let storageDelay = Duration.seconds(60)

    private let environment: Environment
    private let bundleID: String?
    private let storage: any InstallationStorage
    private let gathering: Duration
    private let ticket: @Sendable (String) async throws -> String
    private let send: Send

    private var state = InstallationState()
    /// The state as it is stored; nil before it has been loaded.
    private var stored: InstallationState?
    /// The changes that are not applied to ``state`` yet.
    private var changes: [(inout InstallationState) -> Void] = []
    private var storageProblem: String?
    private var isRunning = false
    private var pause: Task<Void, Never>?

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - environment: The environment of the build.
    ///   - bundleID: The bundle identifier; that of the relay's configuration by default.
    ///   - storage: The storage of the state.
    ///   - gathering: The time in which changes are collected before a request; half a second by default.
    ///   - ticket: Asks the app's back end for a ticket for the signed-in user; it must respond to cancellation.
    ///   - send: Sends a request; it must respond to cancellation. The ticket and the answer must each arrive within
    ///     60 seconds.
    public init(
        environment: Environment,
        bundleID: String? = nil,
        storage: any InstallationStorage,
        gathering: Duration = .milliseconds(500),
        ticket: @escaping @Sendable (_ user: String) async throws -> String,
        send: @escaping Send
    ) {
        self.environment = environment
        self.bundleID = bundleID
        self.storage = storage
        self.gathering = gathering
        self.ticket = ticket
        self.send = send
    }

    // MARK: Users

    /// Sets the signed-in user.
    ///
    /// The installation of another user is removed first.
    ///
    /// - Parameter user: The app's identifier of the user, which the ticket function gets.
    public func signIn(_ user: String) {
        change { $0.setUser(user) }
    }

    /// Removes the installation of the user, as soon as the relay can be reached.
    ///
    /// The tokens stay known, for the next user. Do not call it because the app cannot read its user, as before the
    /// first unlock of the phone.
    public func signOut() {
        change { $0.setUser(nil) }
    }

    // MARK: Reports

    /// Reports a token; one that is not 1 to 512 bytes is ignored.
    ///
    /// Report a token each time the system provides it, even if it is the same.
    ///
    /// - Parameters:
    ///   - token: The bytes of the token.
    ///   - slot: The place of the token.
    public func report(_ token: some Sequence<UInt8>, for slot: PushTokenSlot) {
        guard let token = try? DeviceToken(bytes: token) else { return }
        change { $0.set(.text(token.hex), at: slot.path) }
    }

    /// Removes a token, as when the app has no Live Activities of a type any more.
    ///
    /// - Parameter slot: The place of the token.
    public func removeToken(for slot: PushTokenSlot) {
        change { $0.set(nil, at: slot.path) }
    }

    /// Removes the tokens of all other controls, which the user has removed.
    ///
    /// - Parameter kinds: The kinds of the controls that exist.
    public func removeControls(except kinds: Set<String>) {
        change { $0.removeControls(except: kinds) }
    }

    /// Reports texts about the app and the phone; others stay as they are.
    ///
    /// - Parameter attributes: The texts, of which the relay refuses those that break its rules.
    public func report(_ attributes: [PhoneAttribute: String]) {
        change { for (name, text) in attributes { $0.set(.text(text), at: MemberPath(name.rawValue)) } }
    }

    /// Reports permissions of the user; others stay as they are.
    ///
    /// - Parameter permissions: Whether the user permits each.
    public func report(_ permissions: [PhonePermission: Bool]) {
        change { for (name, flag) in permissions { $0.set(.flag(flag), at: MemberPath("permissions", name.rawValue)) } }
    }

    /// Reports tokens from an extension of the app, which has no client: the system passes the tokens of widgets and
    /// controls to an extension.
    ///
    /// The state is not changed, and a request that fails is not repeated, because the app reports the tokens, too. The
    /// call does nothing if no user is signed in.
    ///
    /// - Parameters:
    ///   - tokens: The tokens.
    ///   - storage: The storage of the app, which the extension shares.
    ///   - send: Sends a request.
    /// - Throws: An error of the storage or of `send`.
    public static func reportFromExtension(
        _ tokens: [PushTokenSlot: some Sequence<UInt8>],
        storage: any InstallationStorage,
        send: Send
    ) async throws {
        let tokens = tokens.compactMapValues { try? DeviceToken(bytes: $0) }
        guard let state = try storage.state(), let request = state.report(of: tokens) else { return }
        _ = try await send(request)
    }

    // MARK: Surfaces

    /// Returns the snapshots that the phone shall show, those of the surfaces that changed last first.
    ///
    /// The app stores their entries for its extensions, and reloads the widgets and the controls that show them. Call
    /// it when the app comes to the foreground: pushes to widgets and controls have no content, and the system does not
    /// deliver all background pushes.
    ///
    /// - Returns: The snapshots of at most 50 surfaces, without those of unknown kinds and newer versions; empty if no
    ///   user is signed in, another user has signed in meanwhile, or the app has not enrolled yet.
    /// - Throws: ``RefusedInstallationRequest`` for an answer with another status than 200, or an error of the storage
    ///   or of ``Send``.
    public func snapshots() async throws -> [SurfaceSnapshot] {
        let current = try currentState
        let snapshots = try await current.surfacesRequest?.snapshots(through: send) ?? []
        // After a sign-out during the request, the snapshots of the former user must not be shown.
        return try currentState.user == current.user ? snapshots : []
    }

    /// The state with the changes that are not applied yet.
    private var currentState: InstallationState {
        get throws {
            var current = state
            if stored == nil, let loaded = try storage.state() { current = loaded }
            for change in changes { change(&current) }
            return current
        }
    }

    /// Returns the snapshots that the phone shall show, in an extension of the app, which has no client: the system
    /// asks an extension for the timeline of a widget, and for the value of a control, after a push that reloads them.
    ///
    /// - Parameters:
    ///   - storage: The storage of the app, which the extension shares.
    ///   - send: Sends a request.
    /// - Returns: The snapshots, as by ``snapshots()``.
    /// - Throws: ``RefusedInstallationRequest`` for an answer with another status than 200, or an error of the storage
    ///   or of `send`.
    public static func snapshotsForExtension(
        storage: any InstallationStorage,
        send: @escaping Send
    ) async throws -> [SurfaceSnapshot] {
        guard let state = try storage.state() else { return [] }
        let snapshots = try await state.surfacesRequest?.snapshots(through: send) ?? []
        return try storage.state()?.user == state.user ? snapshots : []
    }

    // MARK: Progress

    /// The problem that delays the next request, or the values that the relay refused; nil after a success.
    public var problem: String? { storageProblem ?? state.problem }

    /// Whether the relay has confirmed everything that was reported.
    public var isSettled: Bool { changes.isEmpty && stored != nil && state.isSettled }

    /// Ends the wait after a failure, also one that the relay has asked for.
    ///
    /// Call it when the user opens the app, not on a timer.
    public func retryNow() {
        pause?.cancel()
        start()
    }

    // MARK: Requests

    /// Changes the state, and starts to report the change.
    func change(_ change: @escaping (inout InstallationState) -> Void) {
        changes.append(change)
        start()
    }

    private func start() {
        guard !isRunning else { return }
        isRunning = true
        Task { await run() }
    }

    private func run() async {
        await wait(gathering)
        while let delay = await step() { await wait(delay) }
        isRunning = false
        if !changes.isEmpty { start() }
    }

    private func wait(_ delay: Duration) async {
        guard delay > .zero else { return }
        let pause = Task { _ = try? await Task.sleep(for: delay) }
        self.pause = pause
        await pause.value
        self.pause = nil
    }

    /// Performs the next step and returns the delay before the one after it; nil if there is nothing to do.
    private func step() async -> Duration? {
        guard applyAndSave() else { return Self.storageDelay }
        guard let step = state.nextStep else { return nil }
        let jitter = Double.random(in: 0.5...1)
        let request: InstallationRequest
        switch step {
        case .send(let next): request = next
        case .enroll(let user):
            do {
                let ticket = ticket
                let text = try await RequestTimeout.bounded { try await ticket(user) }
                request = state.enrollment(of: user, with: text)
            } catch {
                return state.retry(because: "the back end issued no ticket: \(error)", jitter: jitter)
            }
        }
        // Before the request, because the app may be killed before the answer arrives.
        state.begin(request)
        guard applyAndSave() else { return Self.storageDelay }
        // The user may have signed out while the back end issued the ticket.
        if case .enroll = step, state.nextStep != step { return .zero }
        do {
            let send = send
            let answer = try await RequestTimeout.bounded { try await send(request) }
            let delay = state.receive(answer, to: request, jitter: jitter)
            // A failure is reported by the next step.
            _ = applyAndSave()
            return delay
        } catch {
            return state.retry(because: "the relay did not answer: \(error)", jitter: jitter)
        }
    }

    // MARK: Storage

    /// Applies all changes to the state and stores it; returns whether that succeeded.
    private func applyAndSave() -> Bool {
        do {
            if stored == nil {
                state = try storage.state() ?? InstallationState()
                stored = state
                state.configure(environment, bundleID: bundleID)
            }
            for change in changes { change(&state) }
            changes = []
            if state != stored {
                try storage.save(Array(JSONEncoder().encode(state)))
                stored = state
            }
            storageProblem = nil
            return true
        } catch {
            storageProblem = "the state cannot be stored: \(error)"
            return false
        }
    }
}

extension InstallationStorage {
    /// Returns the stored state; nil if there is none, or it was stored by an incompatible version.
    fileprivate func state() throws -> InstallationState? {
        try load().flatMap { try? JSONDecoder().decode(InstallationState.self, from: Data($0)) }
    }
}
