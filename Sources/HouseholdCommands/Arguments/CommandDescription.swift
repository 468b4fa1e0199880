/// What one command is called, takes and does: the parser, the help and the completions all read this table.
package struct CommandDescription: Sendable {
  /// The word that is typed.
  package let name: String
  /// Where the overall help lists it.
  package let group: CommandGroup
  /// One line for the list of commands.
  package let summary: String
  /// What a reader of its own help needs beyond that; paragraphs are separated by blank lines.
  package let discussion: String
  /// The words after the name, in order.
  package let operands: [Operand]
  /// The options of this command; the global ones come on top.
  package let options: [CommandOption]

  package init(
    _ name: String, group: CommandGroup, summary: String, discussion: String = "", operands: [Operand] = [],
    options: [CommandOption] = []
  ) {
    self.name = name
    self.group = group
    self.summary = summary
    self.discussion = discussion
    self.operands = operands
    self.options = options
  }
}

/// The headings of the overall help, in its order.
package enum CommandGroup: String, CaseIterable, Sendable {
  case household = "Household and members"
  case records = "Records"
  case sync = "Sync and its health"
  case files = "Files and totals"
  case program = "This program"
}

/// What a word must look like; a word that does not is a usage error before the command runs.
package enum WordKind: Hashable, Sendable {
  /// Any text.
  case text
  /// One of a closed set.
  case choice([String])
  /// `500ms 2s 10m 3h 5d`.
  case duration
  /// A whole number within bounds.
  case integer(ClosedRange<Int>)
  /// A calendar day `YYYY-MM-DD`.
  case day
  /// A month `YYYY-MM`.
  case month
  /// `HOST:PORT`, an IPv6 host in brackets.
  case address
  /// A path of a file; completed as such.
  case file
  /// A path of a directory; completed as such.
  case directory
  /// `FIELD=TEXT`, `FIELD=` or `FIELD:=JSON`; an optional operand before it never takes such a word.
  case fieldWord
}

/// A word that a command takes by its place.
package struct Operand: Sendable {
  /// How many words an operand takes.
  package enum Count: Sendable { case one, optional, any, oneOrMore }

  /// Its name in capitals, such as `TYPE`; the key of `Invocation.operand`.
  package let name: String
  /// How many words it takes.
  package let count: Count
  /// What they must look like.
  package let kind: WordKind
  /// One sentence for the help.
  package let help: String

  package init(_ name: String, _ count: Count = .one, kind: WordKind = .text, help: String) {
    self.name = name
    self.count = count
    self.kind = kind
    self.help = help
  }

  /// How it stands in the usage line.
  package var synopsis: String {
    switch count {
    case .one: name
    case .optional: "[\(name)]"
    case .any: "[\(name)]..."
    case .oneOrMore: "\(name)..."
    }
  }
}

/// An option by its long name: a flag, or with a value.
package struct CommandOption: Sendable {
  /// The long name without its hyphens; the key of `Invocation.value`.
  package let name: String
  /// One letter, if it has one.
  package let short: Character?
  /// The name of the value in the help; nil for a flag.
  package let placeholder: String?
  /// What the value must look like.
  package let kind: WordKind
  /// Whether it may stand more than once.
  package let isRepeatable: Bool
  /// One sentence for the help.
  package let help: String

  /// An option that is there or not.
  package static func flag(_ name: String, short: Character? = nil, help: String) -> Self {
    Self(name: name, short: short, placeholder: nil, kind: .text, isRepeatable: true, help: help)
  }

  /// An option with a value.
  package static func value(
    _ name: String, short: Character? = nil, _ placeholder: String, kind: WordKind = .text, repeatable: Bool = false,
    help: String
  ) -> Self {
    Self(name: name, short: short, placeholder: placeholder, kind: kind, isRepeatable: repeatable, help: help)
  }

  /// An option whose value is one of a closed set.
  package static func choice(_ name: String, _ values: [String], help: String) -> Self {
    Self(
      name: name, short: nil, placeholder: values.joined(separator: "|"), kind: .choice(values), isRepeatable: false,
      help: help)
  }

  /// Whether it takes no value.
  package var isFlag: Bool { placeholder == nil }

  /// How it stands in help, such as `-w, --watch` or `--peer P`.
  package var synopsis: String {
    (short.map { "-\($0), " } ?? "") + "--\(name)" + (placeholder.map { " \($0)" } ?? "")
  }
}
