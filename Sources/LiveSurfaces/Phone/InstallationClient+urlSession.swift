// SPDX-License-Identifier: Apache-2.0

// A server needs no URLSession, which is a module of its own on Linux.
#if canImport(Security)
    // URLSession and Bundle are not in FoundationEssentials, also where canImport(FoundationEssentials) is true.
    internal import Foundation

    extension InstallationClient {
        /// Creates a client of an app, which sends its requests with `URLSession`.
        ///
        /// - Parameters:
        ///   - relay: The address at which phones reach the relay, such as `https://push.example.com`. If it is not
        ///     valid, ``problem`` describes that.
        ///   - environment: The environment of the build.
        ///   - storage: The storage of the state; the keychain by default.
        ///   - ticket: Asks the app's back end for a ticket for the user that is signed in.
        public init(
            relay: String,
            environment: Environment,
            storage: any InstallationStorage = KeychainStorage(),
            ticket: @escaping @Sendable (_ user: String) async throws -> String
        ) {
            self.init(
                environment: environment,
                bundleID: Bundle.main.bundleIdentifier,
                storage: storage,
                ticket: ticket,
                send: Self.urlSession(to: relay)
            )
        }

        /// Returns a function that sends requests with `URLSession`, and stores neither answers nor cookies.
        ///
        /// - Parameter relay: The address at which phones reach the relay.
        /// - Returns: The function; it throws `URLError` if there is no answer.
        public static func urlSession(to relay: String) -> Send {
            let session = URLSession(configuration: .ephemeral)
            return { request in
                guard let url = URL(string: relay)?.appending(path: String(request.path.dropFirst())) else {
                    throw URLError(.badURL)
                }
                var message = URLRequest(url: url)
                message.httpMethod = request.method
                message.setValue(request.authorization, forHTTPHeaderField: "authorization")
                if !request.body.isEmpty { message.httpBody = Data(request.body) }
                let (data, response) = try await session.data(for: message)
                guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
                return InstallationAnswer(
                    status: response.statusCode,
                    retryAfter: response.value(forHTTPHeaderField: "retry-after"),
                    body: Array(data)
                )
            }
        }
    }
#endif
