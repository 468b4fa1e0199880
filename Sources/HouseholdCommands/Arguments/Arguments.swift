/// What a command line asks for, once its words are understood.
package enum Arguments: Sendable {
  /// Help about one command, or about the program.
  case help(CommandDescription?)
  /// The version.
  case version
  /// A command with its words.
  case run(Invocation)

  /// Understands the words after the program's name, or says which one it does not understand.
  ///
  /// Options stand before or after operands, as `--name value`, `--name=value`, `-n value` or `-nvalue`; letters of
  /// flags may be joined; `--` ends the options. A negative number is an operand. `--help` wins over what is missing.
  package static func parse(
    _ words: [String], table: CommandTable, environment: [String: String] = [:]
  ) throws(CommandError) -> Arguments {
    var reader = WordReader(words: words[...], table: table)
    try reader.readAll()
    if reader.flags.contains("help") { return .help(reader.command) }
    if reader.flags.contains("version") { return .version }
    guard let command = reader.command else {
      throw .usage(
        "a command is missing.", remedy: "\"household --help\" lists the commands.", code: "commandMissing")
    }
    for option in command.options + CommandTable.globalOptions {
      for value in reader.values[option.name] ?? [] {
        try option.kind.check(value, as: "--\(option.name)")
      }
    }
    let operands = try assignOperands(reader.operands, of: command)
    return .run(
      Invocation(
        command: command, table: table, environment: environment, flags: reader.flags, values: reader.values,
        operands: operands))
  }

  /// Whether the words ask for JSON, also when they are not understood otherwise.
  package static func wantJSON(_ words: [String]) -> Bool {
    words.prefix { $0 != "--" }.contains("--json")
  }
}

/// Sorts words into options and operands.
private struct WordReader {
  var words: ArraySlice<String>
  let table: CommandTable
  var command: CommandDescription?
  var flags: Set<String> = []
  var values: [String: [String]] = [:]
  var operands: [String] = []

  private var options: [CommandOption] { (command?.options ?? []) + CommandTable.globalOptions }
  private var place: String { command.map { " of \($0.name)" } ?? "" }
  private var remedy: String { seeHelp(command) }

  mutating func readAll() throws(CommandError) {
    var optionsEnded = false
    while let word = words.popFirst() {
      if !optionsEnded, word == "--" {
        optionsEnded = true
      } else if !optionsEnded, word.utf8.starts(with: "--".utf8) {
        try readLong(word)
      } else if !optionsEnded, word.utf8.count > 1, word.utf8.first == UInt8(ascii: "-"), !isNegativeNumber(word) {
        try readShort(word)
      } else if command == nil {
        command = try commandNamed(word)
      } else {
        operands.append(word)
      }
    }
  }

  private func commandNamed(_ word: String) throws(CommandError) -> CommandDescription {
    if let command = table.command(named: word) { return command }
    throw .unknown("command", word, among: table.commands.map(\.name), remedy: seeHelp(nil))
  }

  private mutating func readLong(_ word: String) throws(CommandError) {
    let body = word.utf8.dropFirst(2)
    let sign = body.firstIndex(of: UInt8(ascii: "="))
    let name = String(decoding: body[..<(sign ?? body.endIndex)], as: UTF8.self)
    guard let option = options.first(where: { $0.name == name }) else {
      throw unknownOption("--\(name)")
    }
    let value = sign.map { String(decoding: body[body.index(after: $0)...], as: UTF8.self) }
    if option.isFlag {
      guard value == nil else {
        throw .usage("option \"--\(name)\"\(place) takes no value.", remedy: remedy, code: "unexpectedValue")
      }
      flags.insert(name)
    } else if let value {
      try add(value, to: option)
    } else {
      try add(nextValue(of: option), to: option)
    }
  }

  private mutating func readShort(_ word: String) throws(CommandError) {
    var letters = Substring(word.dropFirst())
    while let letter = letters.popFirst() {
      guard let option = options.first(where: { $0.short == letter }) else { throw unknownOption("-\(letter)") }
      if option.isFlag {
        flags.insert(option.name)
      } else {
        return try add(letters.isEmpty ? nextValue(of: option) : String(letters), to: option)
      }
    }
  }

  private func unknownOption(_ word: String) -> CommandError {
    let known = options.map { "--\($0.name)" }
    if command == nil, table.commands.contains(where: { $0.options.contains { "--\($0.name)" == word } }) {
      return .usage(
        "option \(quoted(word)) stands before the command.", remedy: "Put it after the name of the command.",
        code: "unknownOption")
    }
    return .unknown("option", word, among: known, place: place, remedy: remedy)
  }

  /// The next word as a value; a word that is itself an option is taken for a forgotten value.
  private mutating func nextValue(of option: CommandOption) throws(CommandError) -> String {
    let spelled = "--\(option.name)"
    guard let value = words.first else {
      throw .usage("option \"\(spelled)\"\(place) needs a value.", remedy: remedy, code: "valueMissing")
    }
    if value == "--" || options.contains(where: { value == "--\($0.name)" || value.hasPrefix("--\($0.name)=") }) {
      throw .usage(
        "option \"\(spelled)\"\(place) needs a value, and \(quoted(value)) follows.",
        remedy: "If that is the value, write \(spelled)=\(escapingControls(value)).", code: "valueMissing")
    }
    words.removeFirst()
    return value
  }

  private mutating func add(_ value: String, to option: CommandOption) throws(CommandError) {
    guard option.isRepeatable || values[option.name] == nil else {
      throw .usage(
        "option \"--\(option.name)\"\(place) stands twice.", remedy: "Leave one out.", code: "repeatedOption")
    }
    values[option.name, default: []].append(value)
  }
}

/// Gives each operand its words, from left to right, leaving to later ones what they must have.
private func assignOperands(
  _ words: [String], of command: CommandDescription
) throws(CommandError) -> [String: [String]] {
  var rest = words[...]
  var assigned: [String: [String]] = [:]
  for (index, operand) in command.operands.enumerated() {
    let later = command.operands[(index + 1)...]
    let spare = max(0, rest.count - later.count { $0.count == .one || $0.count == .oneOrMore })
    let taken: Int
    switch operand.count {
    case .one: taken = min(1, rest.count)
    case .optional:
      let belongsToFields = later.contains { $0.kind == .fieldWord } && rest.first.map(FieldWord.resembles) == true
      taken = belongsToFields ? 0 : min(1, spare)
    case .any: taken = spare
    case .oneOrMore: taken = min(max(1, spare), rest.count)
    }
    if taken == 0, operand.count == .one || operand.count == .oneOrMore {
      throw .usage(
        "\(command.name): \(operand.name) is missing.", remedy: "Usage: \(command.usageLine)", code: "operandMissing")
    }
    for word in rest.prefix(taken) { try operand.kind.check(word, as: operand.name) }
    assigned[operand.name] = Array(rest.prefix(taken))
    rest = rest.dropFirst(taken)
  }
  if let word = rest.first {
    throw .usage(
      "\(command.name): \(quoted(word)) is one word too many.", remedy: "Usage: \(command.usageLine)",
      code: "unexpectedOperand")
  }
  return assigned
}

private func isNegativeNumber(_ word: String) -> Bool {
  let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
  let body = word.utf8.dropFirst()
  guard let first = body.first else { return false }
  if first == UInt8(ascii: ".") { return body.dropFirst().first.map(digits.contains) == true }
  return digits.contains(first)
}

/// Where to read on: the remedy of most usage errors.
private func seeHelp(_ command: CommandDescription?) -> String {
  command.map { "See \"household \($0.name) --help\"." } ?? "See \"household --help\" for the commands."
}
