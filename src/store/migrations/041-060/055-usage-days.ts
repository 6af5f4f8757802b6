import type { Migration } from "../migration.ts"

/**
 * What model calls have used, added up for days that are over: one row for each conversation and model of a day, made when
 * somebody asks for that day first. The rows of the calls stay what is true; these are made from them.
 */
export const usageDays: Migration = {
  name: "055_usage_days",
  statements: ({ clustered }) => [
    `CREATE TABLE usage_day (
      person TEXT NOT NULL,
      day TEXT NOT NULL,
      conversation TEXT NOT NULL,
      model TEXT NOT NULL,
      provider TEXT NOT NULL,
      paid_by TEXT NOT NULL,
      calls BIGINT NOT NULL,
      input_tokens BIGINT NOT NULL,
      output_tokens BIGINT NOT NULL,
      cached_tokens BIGINT NOT NULL,
      cost BIGINT NOT NULL,
      unpriced BIGINT NOT NULL,
      PRIMARY KEY (person, day, conversation, model, provider, paid_by)) ${clustered}`,
    `CREATE TABLE usage_summed (
      person TEXT NOT NULL,
      day TEXT NOT NULL,
      PRIMARY KEY (person, day)) ${clustered}`,
  ],
}
