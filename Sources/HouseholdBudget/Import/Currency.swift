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
}
