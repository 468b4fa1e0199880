// Tests of HouseholdCommands.
