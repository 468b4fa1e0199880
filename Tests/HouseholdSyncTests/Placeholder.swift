// Tests of HouseholdSync.
