// The room HouseholdKit is furnished next.
