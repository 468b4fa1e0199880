/// How many decimal places a currency has (ISO 4217); two where nothing else is listed.
package enum Currency {
  private static let places: [String: Int] = [
    "BIF": 0, "CLP": 0, "DJF": 0, "GNF": 0, "ISK": 0, "JPY": 0, "KMF": 0, "KRW": 0, "PYG": 0, "RWF": 0, "UGX": 0,
    "UYI": 0, "VND": 0, "VUV": 0, "XAF": 0, "XOF": 0, "XPF": 0,
    "BHD": 3, "IQD": 3, "JOD": 3, "KWD": 3, "LYD": 3, "OMR": 3, "TND": 3,
    "CLF": 4, "UYW": 4,
  ]

  /// The decimal places of a currency's code.
  package static func decimalPlaces(_ code: String?) -> Int {
    guard let code else { return 2 }
    return places[code] ?? 2
  }

  /// A code as it stands in a file, without blanks and in capitals; nil for nothing.
  static func code(_ text: String?) -> String? {
    guard let text else { return nil }
    if text.utf8.count == 3, text.utf8.allSatisfy({ (0x41...0x5A).contains($0) }) { return text }
    let code = text.filter { !$0.isWhitespace }.uppercased()
    return code.isEmpty ? nil : code
  }

  /// The amount in major units: plain digits with a point, the same in every locale.
  package static func text(_ minor: some BinaryInteger, _ code: String?) -> String {
    let places = decimalPlaces(code)
    let digits = String(minor.magnitude)
    let padded = String(repeating: "0", count: max(0, places + 1 - digits.utf8.count)) + digits
    let sign = minor < 0 ? "-" : ""
    return places == 0 ? sign + padded : "\(sign)\(padded.dropLast(places)).\(padded.suffix(places))"
  }
}
