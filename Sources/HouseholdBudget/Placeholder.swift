// The room HouseholdBudget is furnished next.
