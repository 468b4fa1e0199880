// The room HouseholdTrust is furnished next.
