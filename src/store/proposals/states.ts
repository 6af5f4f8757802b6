/**
 * The states of a proposal as its indexes divide them. In these very words: an index of some rows is used for a statement
 * that repeats its condition, and otherwise all proposals that were ever made are read.
 */
export const IS_OPEN = "status IN ('pending', 'applying', 'in_doubt')"
export const HAS_EXPIRED = "status = 'expired'"
