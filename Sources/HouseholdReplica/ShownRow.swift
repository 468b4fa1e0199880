package import HouseholdRecords

/// The row at which a question stands, read without making values that nobody asks for; good until the next row.
///
/// Column 0 is the id, the fields that were asked for follow in their order. What is of another type than asked for, or
/// null, is nil.
package struct ShownRow {
  let statement: Statement

  package func isNull(_ column: Int) -> Bool { statement.isNull(Int32(column)) }
  package func text(_ column: Int) -> String? { statement.textIfText(Int32(column)) }
  package func integer(_ column: Int) -> Int64? { statement.integerIfInteger(Int32(column)) }

  /// The moment that a text of the form `YYYY-MM-DDThh:mm:ss.mmmZ` says; nil for whatever else, which may be one too.
  package func instant(_ column: Int) -> Instant? { statement.instant(Int32(column)) }

  package func value(_ column: Int) -> FieldValue { statement.value(Int32(column)) }
}
