// The room HouseholdSync is furnished next.
