import type { Migration } from "../migration.ts"

/** Keys that people bring, what model calls have cost, and what is set aside for those under way. */
export const secretsAndUsage: Migration = {
  name: "005_secrets_and_usage",
  statements: ({ clustered }) => [
    // One row. Whoever writes a secret holds it still, so that none can slip in under a key that was just given up.
    `CREATE TABLE master_key (
      name TEXT NOT NULL PRIMARY KEY,
      key_id TEXT NOT NULL,
      changed_at BIGINT NOT NULL) ${clustered}`,
    `CREATE TABLE provider_key (
      id TEXT NOT NULL PRIMARY KEY,
      person TEXT NOT NULL,
      provider TEXT NOT NULL,
      key_id TEXT NOT NULL,
      sealed TEXT NOT NULL,
      updated_at BIGINT NOT NULL) ${clustered}`,
    "CREATE INDEX provider_key_person ON provider_key (person)",
    // One row a model call; `id` is the message it brought, or the reservation of one that brought none. Money is in
    // millionths of a dollar, null where the price is not known.
    `CREATE TABLE usage (
      run TEXT NOT NULL,
      id TEXT NOT NULL,
      conversation TEXT NOT NULL,
      person TEXT NOT NULL,
      model TEXT NOT NULL,
      provider TEXT NOT NULL,
      paid_by TEXT NOT NULL,
      day TEXT NOT NULL,
      input_tokens BIGINT,
      output_tokens BIGINT,
      cached_tokens BIGINT,
      cost BIGINT,
      PRIMARY KEY (run, id)) ${clustered}`,
    "CREATE INDEX usage_person ON usage (person, day)",
    // A row a person: where reservations that come at once stand in line.
    "CREATE TABLE budget (person TEXT NOT NULL PRIMARY KEY)",
    // At most one a conversation, which has one writer that asks one model at a time.
    `CREATE TABLE reservation (
      conversation TEXT NOT NULL PRIMARY KEY,
      id TEXT NOT NULL,
      person TEXT NOT NULL,
      cost BIGINT NOT NULL,
      expires_at BIGINT NOT NULL) ${clustered}`,
    "CREATE INDEX reservation_person ON reservation (person)",
  ],
}
