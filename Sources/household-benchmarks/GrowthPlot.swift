import Glibc

/// Curves on two logarithmic axes, as an SVG that stands by itself: what grows with the size rises by a decade where the
/// size does, what does not stays level.
enum GrowthPlot {
  private static let (left, top, width, height) = (70.0, 40.0, 560.0, 360.0)
  private static let colors = ["#1b6ca8", "#d1495b", "#2e8b57", "#8e5ea2", "#b8860b", "#555555", "#008b8b"]

  static func svg(_ curves: [Growth.Curve], horizontal: String) -> String {
    let points = curves.flatMap(\.points)
    let sizes = decades(points.map { Double($0.size) })
    let times = decades(points.map(\.milliseconds))
    func x(_ size: Double) -> Double { left + width * (log(size) - sizes.low) / (sizes.high - sizes.low) }
    func y(_ time: Double) -> Double { top + height * (times.high - log(time)) / (times.high - times.low) }
    var parts: [String] = []
    for decade in Int(sizes.low)...Int(sizes.high) {
      let at = x(power(decade))
      parts.append(line(at, top, at, top + height, "#dddddd"))
      parts.append(text(at, top + height + 18, "middle", label(decade)))
    }
    for decade in Int(times.low)...Int(times.high) {
      let at = y(power(decade))
      parts.append(line(left, at, left + width, at, "#dddddd"))
      parts.append(text(left - 8, at + 4, "end", label(decade)))
    }
    for (index, curve) in curves.enumerated() {
      let color = colors[index % colors.count]
      let way = curve.points.map { "\(x(Double($0.size))),\(y($0.milliseconds))" }.joined(separator: " ")
      parts.append("<polyline points=\"\(way)\" fill=\"none\" stroke=\"\(color)\" stroke-width=\"2\"/>")
      for point in curve.points {
        parts.append(
          "<circle cx=\"\(x(Double(point.size)))\" cy=\"\(y(point.milliseconds))\" r=\"3\" fill=\"\(color)\"/>")
      }
      let at = top + 10 + Double(index) * 20
      parts.append(line(left + width + 16, at, left + width + 40, at, color))
      parts.append(text(left + width + 46, at + 4, "start", curve.name))
    }
    parts.append(text(left, top - 16, "start", "milliseconds"))
    parts.append(text(left + width, top + height + 38, "end", horizontal))
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 460" font-family="sans-serif" font-size="13">
      <rect width="900" height="460" fill="white"/>
      \(parts.joined(separator: "\n"))
      </svg>

      """
  }

  /// The powers of ten around the values, as exponents; at least one decade.
  private static func decades(_ values: [Double]) -> (low: Double, high: Double) {
    let low = log(max(values.min() ?? 1, 0.001)).rounded(.down)
    let high = log(max(values.max() ?? 10, 0.001)).rounded(.up)
    return (low, max(high, low + 1))
  }

  private static func log(_ value: Double) -> Double { log10(value) }

  private static func power(_ exponent: Int) -> Double { pow(10, Double(exponent)) }

  private static func label(_ exponent: Int) -> String {
    exponent >= 0
      ? "1" + String(repeating: "0", count: exponent) : "0." + String(repeating: "0", count: -exponent - 1) + "1"
  }

  private static func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ color: String) -> String {
    "<line x1=\"\(x1)\" y1=\"\(y1)\" x2=\"\(x2)\" y2=\"\(y2)\" stroke=\"\(color)\"/>"
  }

  private static func text(_ x: Double, _ y: Double, _ anchor: String, _ words: String) -> String {
    "<text x=\"\(x)\" y=\"\(y)\" text-anchor=\"\(anchor)\">\(words)</text>"
  }
}
