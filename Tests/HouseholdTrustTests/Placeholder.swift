// Tests of HouseholdTrust.
