// Tests of HouseholdRecords.
