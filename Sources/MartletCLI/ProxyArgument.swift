// SPDX-License-Identifier: Apache-2.0

package import Martlet
package import MartletCommands
import MartletTransport

extension PushClient.Proxy: ArgumentValue {
    /// Parses the URL of an HTTP proxy; the error does not contain it, because it may contain a password.
    package init(argument: String) throws(UsageError) {
        do throws(ProxyError) {
            self.init(try HTTPProxy(url: argument))
        } catch {
            throw UsageError("\(error)")
        }
    }

    package static var valueName: String { "url" }
}

extension APNsEndpoint {
    /// Returns the proxy that environment variables select for the server; nil to connect directly.
    ///
    /// - Throws: ``UsageError`` if a variable does not have the URL of an HTTP proxy.
    func proxy(in environment: [String: String]) throws(UsageError) -> PushClient.Proxy? {
        do throws(ProxyError) {
            return try proxy(in: HTTPProxies(environment: environment))
        } catch {
            throw UsageError("\(error)")
        }
    }
}
