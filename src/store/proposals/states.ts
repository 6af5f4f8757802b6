/**
 * The states of a proposal as its indexes divide them. In these very words: an index of some rows is used for a statement
 * that repeats its condition, and otherwise all proposals that were ever made are read.
 */
export const IS_OPEN = "status IN ('pending', 'applying', 'in_doubt')"
export const HAS_EXPIRED = "status = 'expired'"
export const IS_OVER = "status NOT IN ('pending', 'applying', 'in_doubt', 'expired')"

/** Every proposal is in one of them. */
export const PROPOSAL_STATES = [IS_OPEN, HAS_EXPIRED, IS_OVER] as const
