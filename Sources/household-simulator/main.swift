import Foundation
import HouseholdSimulation

exit(SimulatorTool.run(Array(CommandLine.arguments.dropFirst())))
