// SPDX-License-Identifier: Apache-2.0

import MartletCore

extension Double {
    /// A number of seconds or a rate as text: without decimals from 10, with one from 1, otherwise with two.
    var shortText: String {
        // The bound is far above any duration or rate, and prevents the conversion below from trapping.
        let number = isNaN ? 0 : min(max(self, 0), 1e15)
        let places = number < 0.995 ? 2 : number < 9.95 ? 1 : 0
        let unit = [1, 10, 100][places]
        let (whole, rest) = Int((number * Double(unit)).rounded()).quotientAndRemainder(dividingBy: unit)
        guard rest > 0 else { return whole.grouped }
        var decimals = String(rest)
        while decimals.count < places { decimals = "0" + decimals }
        while decimals.hasSuffix("0") { decimals.removeLast() }
        return "\(whole).\(decimals)"
    }
}
