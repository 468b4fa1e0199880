// The room HouseholdTransport is furnished next.
