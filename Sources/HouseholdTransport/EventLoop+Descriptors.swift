/// Descriptors that are no links: a control socket, a directory that is watched, a signal.
extension EventLoop {
  /// Calls the body whenever the descriptor may be read, until `unwatchReading`; on the loop only.
  ///
  /// Edge-triggered: the body reads until there is no more.
  package func watchReading(_ descriptor: Int32, _ body: @escaping () -> Void) throws(SocketFault) {
    try watch(descriptor) { readiness in
      if readiness.intersects(.reading) { body() }
    }
  }

  /// Forgets the descriptor, which must still be open; on the loop only.
  package func unwatchReading(_ descriptor: Int32) { unwatch(descriptor) }
}
