import CSQLite
import Glibc

/// SQLite's memory while one thread alone uses it: lists of free pieces by size, without a lock and without a count.
///
/// Opening a file takes and gives back some ten thousand small pieces, as SQLite reads the whole schema; with the C
/// library's memory and a lock at each of them that was a fifth of a simulated run. What is given back is kept for the
/// next piece of its size until the process ends.
package enum SingleThreadMemory {
  /// Lets SQLite use it from now on, and leave out its own locks; false if SQLite runs already, and nothing changes.
  ///
  /// Only for a process in which no second thread ever uses SQLite.
  static func install() -> Bool {
    var methods = unsafe sqlite3_mem_methods()
    unsafe methods.xMalloc = { unsafe SingleThreadMemory.take($0) }
    unsafe methods.xFree = { unsafe SingleThreadMemory.giveBack($0) }
    unsafe methods.xRealloc = { unsafe SingleThreadMemory.resize($0, to: $1) }
    unsafe methods.xSize = { piece in unsafe piece.map { unsafe SingleThreadMemory.size(of: $0) } ?? 0 }
    unsafe methods.xRoundup = { SingleThreadMemory.rounded($0) }
    unsafe methods.xInit = { _ in SQLITE_OK }
    unsafe methods.xShutdown = { _ in }
    return unsafe household_sqlite_use_in_one_thread(&methods) == SQLITE_OK
  }

  /// Before each piece stands how long it is.
  private static let header = 8
  /// Pieces are, with their headers, multiples of this.
  private static let step = 16
  /// Longer ones, headers included, are few and come from the C library.
  private static let longest = 8192
  /// How much is taken from the C library at a time to be cut up.
  private static let supply = 1 << 18

  /// Free pieces of one length, the one that was given back last at the end. Their addresses lie beside each other: a
  /// piece that was free for long is in no cache of the processor, and waiting for it would be most of the work.
  @unsafe private struct FreePieces {
    var addresses: UnsafeMutablePointer<UnsafeMutableRawPointer>
    var count = 0
    var capacity = 16

    init() { unsafe addresses = .allocate(capacity: capacity) }

    mutating func append(_ block: UnsafeMutableRawPointer) {
      if unsafe count == capacity {
        let larger = unsafe UnsafeMutablePointer<UnsafeMutableRawPointer>.allocate(capacity: 2 * capacity)
        unsafe larger.moveInitialize(from: addresses, count: count)
        unsafe addresses.deallocate()
        unsafe (addresses, capacity) = unsafe (larger, 2 * capacity)
      }
      unsafe (addresses + count).initialize(to: block)
      unsafe count += 1
    }
  }

  /// By length, in steps.
  nonisolated(unsafe) private static let free: UnsafeMutablePointer<FreePieces> = {
    let count = longest / step + 1
    let lists = UnsafeMutablePointer<FreePieces>.allocate(capacity: count)
    for index in 0..<count { unsafe (lists + index).initialize(to: FreePieces()) }
    return unsafe lists
  }()

  /// What is not cut up yet: from where, and up to where.
  nonisolated(unsafe) private static let uncut: UnsafeMutablePointer<(start: Int, end: Int)> = {
    let uncut = UnsafeMutablePointer<(start: Int, end: Int)>.allocate(capacity: 1)
    unsafe uncut.initialize(to: (0, 0))
    return unsafe uncut
  }()

  private static func whole(_ wanted: Int32) -> Int { (Int(wanted) + header + step - 1) & ~(step - 1) }

  private static func rounded(_ wanted: Int32) -> Int32 { Int32(clamping: whole(wanted) - header) }

  private static func size(of piece: UnsafeMutableRawPointer) -> Int32 {
    unsafe Int32(truncatingIfNeeded: (piece - header).load(as: Int.self) - header)
  }

  /// A piece of at least this length; nil if there is none.
  package static func take(_ wanted: Int32) -> UnsafeMutableRawPointer? {
    let whole = whole(wanted)
    let block: UnsafeMutableRawPointer
    if whole > longest {
      guard let new = unsafe malloc(whole) else { return nil }
      unsafe block = unsafe new
    } else if unsafe free[whole / step].count > 0 {
      unsafe free[whole / step].count -= 1
      unsafe block = unsafe free[whole / step].addresses[free[whole / step].count]
    } else {
      guard let new = unsafe cut(whole) else { return nil }
      unsafe block = unsafe new
    }
    unsafe block.storeBytes(of: whole, as: Int.self)
    return unsafe block + header
  }

  private static func cut(_ whole: Int) -> UnsafeMutableRawPointer? {
    if unsafe uncut.pointee.end - uncut.pointee.start < whole {
      guard let new = unsafe malloc(supply) else { return nil }
      let start = Int(bitPattern: new)
      unsafe uncut.pointee = (start, start + supply)
    }
    let start = unsafe uncut.pointee.start
    unsafe uncut.pointee.start = start + whole
    return unsafe UnsafeMutableRawPointer(bitPattern: start)
  }

  /// Keeps the piece for the next of its length.
  package static func giveBack(_ piece: UnsafeMutableRawPointer?) {
    guard let piece = unsafe piece else { return }
    let block = unsafe piece - header
    let whole = unsafe block.load(as: Int.self)
    if whole > longest {
      unsafe Glibc.free(block)
      return
    }
    unsafe free[whole / step].append(block)
  }

  /// A piece of another length with the same bytes, as far as it goes.
  package static func resize(_ piece: UnsafeMutableRawPointer?, to wanted: Int32) -> UnsafeMutableRawPointer? {
    guard let piece = unsafe piece else { return unsafe take(wanted) }
    let size = unsafe size(of: piece)
    if rounded(wanted) == size { return unsafe piece }
    guard let new = unsafe take(wanted) else { return nil }
    unsafe new.copyMemory(from: piece, byteCount: Int(min(size, wanted)))
    unsafe giveBack(piece)
    return unsafe new
  }
}
