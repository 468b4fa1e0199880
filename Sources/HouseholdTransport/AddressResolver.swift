import Glibc
import HouseholdRecords

/// Asks the name service on short-lived threads, so that a slow one blocks nobody.
final class AddressResolver: Sendable {
  typealias Answer = Result<[NumericAddress], ResolutionFault>

  private struct Request: Sendable {
    let address: SocketAddress
    let answer: @Sendable (Answer) -> Void
  }

  private struct State: Sendable {
    var waiting: [Request] = []
    var threads = 0
  }

  private let state = Lock(State())

  /// Gives the numeric addresses, at once for a numeric host and else on a thread of the resolver's.
  func resolve(_ address: SocketAddress, answer: @escaping @Sendable (Answer) -> Void) {
    if case .success(let numeric) = Self.lookUp(address, flags: AI_NUMERICHOST) { return answer(.success(numeric)) }
    let mustStart = state.withLock { state in
      state.waiting.append(Request(address: address, answer: answer))
      guard state.threads < Limits.resolverThreads else { return false }
      state.threads += 1
      return true
    }
    if mustStart { startThread() }
  }

  /// Asks on the calling thread, which may take as long as the name service does.
  static func lookUp(_ address: SocketAddress, flags: Int32 = 0) -> Answer {
    var hints = unsafe addrinfo()
    unsafe hints.ai_family = AF_UNSPEC
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    unsafe hints.ai_flags = flags | AI_NUMERICSERV
    var list: UnsafeMutablePointer<addrinfo>?
    let result = unsafe getaddrinfo(address.host, String(address.port), &hints, &list)
    guard result == 0 else { return .failure(ResolutionFault(host: address.host, code: result)) }
    defer { unsafe freeaddrinfo(list) }
    var found: [NumericAddress] = []
    var cursor = unsafe list
    while let entry = unsafe cursor, found.count < Limits.dialCandidates {
      if let address = unsafe entry.pointee.ai_addr {
        unsafe found.append(NumericAddress(address, count: entry.pointee.ai_addrlen))
      }
      unsafe cursor = entry.pointee.ai_next
    }
    return .success(found)
  }

  private func startThread() {
    var attributes = pthread_attr_t()
    unsafe pthread_attr_init(&attributes)
    unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    defer { unsafe pthread_attr_destroy(&attributes) }
    let context = unsafe Unmanaged.passRetained(self).toOpaque()
    var thread = pthread_t()
    let result = unsafe pthread_create(
      &thread, &attributes,
      { context in
        guard let context = unsafe context else { return nil }
        unsafe Unmanaged<AddressResolver>.fromOpaque(context).takeRetainedValue().answerAll()
        return nil
      }, context)
    guard result != 0 else { return }
    unsafe Unmanaged<AddressResolver>.fromOpaque(context).release()
    let failed = state.withLock { state in
      state.threads -= 1
      guard state.threads == 0 else { return [Request]() }
      defer { state.waiting = [] }
      return state.waiting
    }
    for request in failed { request.answer(.failure(ResolutionFault(host: request.address.host, code: EAI_MEMORY))) }
  }

  private func answerAll() {
    while let request = next() { request.answer(Self.lookUp(request.address)) }
  }

  private func next() -> Request? {
    state.withLock { state in
      guard !state.waiting.isEmpty else {
        state.threads -= 1
        return nil
      }
      return state.waiting.removeFirst()
    }
  }
}

/// The name service knows no address for a name, or did not answer.
package struct ResolutionFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// The name that was asked for.
  package let host: String
  /// The code of `getaddrinfo`.
  package let code: Int32

  /// One sentence.
  package var description: String { unsafe "The name \(host) has no address: \(String(cString: gai_strerror(code)))." }
}
