// Tests of HouseholdReplica.
