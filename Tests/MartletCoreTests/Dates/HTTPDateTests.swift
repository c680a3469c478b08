// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import MartletCore

@Suite struct HTTPDateTests {
    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
    ]) func `dates are read and written`(text: String, seconds: Int64) {
        #expect(HTTPDate.seconds(text) == seconds)
        #expect(HTTPDate.text(secondsSince1970: seconds) == text)
    }

    @Test func `dates of four hundred years agree with Foundation`() {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        for day in stride(from: Int64(0), to: 400 * 365, by: 17) {
            let seconds = day * 86_400 + 12_345
            let text = formatter.string(from: Date(timeIntervalSince1970: TimeInterval(seconds)))
            #expect(HTTPDate.seconds(text) == seconds, "\(text)")
            #expect(HTTPDate.text(secondsSince1970: seconds) == text)
        }
    }

    @Test(arguments: [
        "", "now", "Sun, 06 Nov 1994 08:49:37", "Sun, 6x Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov -1 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
    ]) func `other text is not a date`(text: String) {
        #expect(HTTPDate.seconds(text) == nil)
    }
}
