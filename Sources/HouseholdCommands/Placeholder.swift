// The room HouseholdCommands is furnished next.
