import type { Migration } from "../migration.ts"

/** The first table of a workspace, and the calls that were applied to it. */
export const tasks: Migration = {
  name: "002_tasks",
  statements: ({ clustered }) => [
    `CREATE TABLE task (
      id TEXT NOT NULL PRIMARY KEY,
      person TEXT NOT NULL,
      title TEXT NOT NULL,
      description TEXT,
      status TEXT NOT NULL,
      priority TEXT NOT NULL,
      project_id TEXT,
      assignee TEXT,
      due_date BIGINT,
      is_ai_suggested BIGINT NOT NULL DEFAULT 0,
      is_approved BIGINT NOT NULL DEFAULT 1,
      created_at BIGINT NOT NULL) ${clustered}`,
    "CREATE INDEX task_person ON task (person, id)",
    // Written in the same transaction as the effect of a call: whoever asks later learns whether it happened.
    `CREATE TABLE applied_call (
      call_id TEXT NOT NULL PRIMARY KEY,
      answer TEXT NOT NULL,
      at BIGINT NOT NULL) ${clustered}`,
  ],
}
