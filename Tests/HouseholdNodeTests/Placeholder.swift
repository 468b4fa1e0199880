// Tests of HouseholdNode.
