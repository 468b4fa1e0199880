// The room HouseholdReplica is furnished next.
