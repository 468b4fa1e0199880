import Glibc
import HouseholdCommands

exit(await CommandLineTool.main())
