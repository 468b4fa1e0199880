// The room HouseholdNode is furnished next.
