// Tests of HouseholdBudget.
