internal import Glibc

/// Converts texts of older encodings into UTF-8 by the system's own iconv: the one place of this module that sees C.
enum TextConversion {
  /// The encodings that a file or a person may name, by their usual spellings in lower case.
  ///
  /// A closed list: what a file says about itself never chooses which modules of the system are loaded.
  private static let names: [String: String] = {
    var names: [String: String] = [
      "usascii": "windows-1252", "us-ascii": "windows-1252", "ascii": "windows-1252", "ansi": "windows-1252",
      "latin1": "iso-8859-1", "latin-1": "iso-8859-1", "latin2": "iso-8859-2", "latin-2": "iso-8859-2",
      "gb2312": "gb18030", "gbk": "gb18030", "gb18030": "gb18030", "cp936": "gb18030", "big5": "big5",
      "shift_jis": "shift_jis", "sjis": "shift_jis", "euc-jp": "euc-jp", "euc-kr": "euc-kr", "cp949": "cp949",
      "koi8-r": "koi8-r", "koi8-u": "koi8-u", "macintosh": "macintosh", "macroman": "macintosh",
      "ibm437": "ibm437", "cp437": "ibm437", "437": "ibm437", "ibm850": "ibm850", "cp850": "ibm850", "850": "ibm850",
      "ibm852": "ibm852", "cp852": "ibm852", "852": "ibm852",
    ]
    for page in 1250...1258 {
      for spelling in ["windows-\(page)", "cp\(page)", "\(page)"] { names[spelling] = "windows-\(page)" }
    }
    for part in Array(1...11) + Array(13...16) {
      for spelling in ["iso-8859-\(part)", "8859-\(part)", "iso8859-\(part)"] { names[spelling] = "iso-8859-\(part)" }
    }
    return names
  }()

  /// The usual name of an encoding that somebody named; nil for one that is not known here.
  static func name(_ word: String) -> String? { names[word.lowercased()] }

  /// The text as UTF-8; nil if the bytes are none of that encoding, or the system does not have it.
  ///
  /// - Parameter encoding: one that `name` gave.
  static func utf8(_ bytes: [UInt8], from encoding: String) -> [UInt8]? {
    let system = encoding.hasPrefix("windows-") ? "CP\(encoding.dropFirst("windows-".count))" : encoding
    let converter = unsafe iconv_open("UTF-8", system)
    guard unsafe converter != iconv_t(bitPattern: -1) else { return nil }
    defer { unsafe iconv_close(converter) }
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count + bytes.count / 2)
    var input = unsafe bytes.withUnsafeBytes { unsafe Array($0.bindMemory(to: CChar.self)) }
    var buffer = [CChar](repeating: 0, count: 64 << 10)
    let isDone = unsafe input.withUnsafeMutableBufferPointer { input in
      var from = input.baseAddress
      var left = input.count
      while left > 0 {
        let (code, written) = unsafe buffer.withUnsafeMutableBufferPointer { buffer -> (Int, Int) in
          var to = buffer.baseAddress
          var room = buffer.count
          let code = unsafe iconv(converter, &from, &left, &to, &room)
          // What was converted before the buffer was full counts; a wrong byte ends the conversion.
          return (code == -1 && errno != E2BIG ? -1 : 0, buffer.count - room)
        }
        guard code == 0 else { return false }
        result.append(contentsOf: buffer.prefix(written).lazy.map(UInt8.init(bitPattern:)))
      }
      return true
    }
    return isDone ? result : nil
  }
}
