// Tests of HouseholdTransport.
