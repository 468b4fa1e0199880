import HouseholdKit
import HouseholdNode
import HouseholdRecords

/// `members`: who belongs.
struct MembersCommand: Command {
  let description = CommandDescription(
    "members", group: .household, summary: "Show members, their devices and roles.")

  private struct Shown: Encodable {
    var name: String
    var role: String
    var isSelf: Bool
    var devices: [ShownDevice]

    enum CodingKeys: String, CodingKey {
      case name, role, devices
      case isSelf = "self"
    }
  }

  private struct ShownDevice: Encodable {
    var name: String
    var id: String
    var isSelf: Bool
    @Nullable var lastSeen: String?
    var state: String

    enum CodingKeys: String, CodingKey {
      case name, id, lastSeen, state
      case isSelf = "self"
    }
  }

  func run(_ invocation: Invocation, output: Output) async throws -> ExitCode {
    let (state, own, lastSeen) = try HouseholdStatus.membership(invocation.directory())
    let ownMember = state.devices[own]?.member
    let members = state.members.values.filter { $0.state == .active }.sorted { ($0.name, $0.id) < ($1.name, $1.id) }
      .map { member in
        let devices = state.devices.values.filter {
          $0.member == member.id && $0.state != .removed && $0.state != .left
        }
        .sorted { ($0.name, $0.id) < ($1.name, $1.id) }
        return Shown(
          name: member.name, role: member.role.rawValue, isSelf: member.id == ownMember,
          devices: devices.map { device in
            ShownDevice(
              name: device.name, id: device.id.description, isSelf: device.id == own,
              lastSeen: lastSeen[device.id]?.rfc3339, state: device.state.rawValue)
          })
      }
      .filter { !$0.devices.isEmpty }
    try output.result(["members": members]) {
      var table = TableOutput([.text("MEMBER"), .text("ROLE"), .text("DEVICE"), .text("STATE"), .text("LAST SEEN")])
      for member in members {
        for device in member.devices {
          table.add([
            member.name + (member.isSelf ? " (you)" : ""), member.role, device.name, device.state,
            device.isSelf ? "this device" : device.lastSeen ?? "never",
          ])
        }
      }
      try output.table(table)
    }
    return .done
  }
}
