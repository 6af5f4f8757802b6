import type { Migration } from "../migration.ts"

/** The tables of a workspace beside its tasks. Times are milliseconds, flags 0 or 1, as they are on a device. */
export const workspace: Migration = {
  name: "010_workspace",
  statements: ({ clustered }) => [
    // Counts a person's writes. Each takes the number it has read one further or does not happen: what it was planned
    // on has not changed then, on whichever node, and nothing is orphaned by two who did not see each other.
    // sample: the rows of the sample workspace as they were loaded, for as long as it is.
    `CREATE TABLE workspace (
      person TEXT NOT NULL PRIMARY KEY,
      version BIGINT NOT NULL,
      sample TEXT) ${clustered}`,
    `CREATE TABLE client (
      id TEXT NOT NULL PRIMARY KEY,
      person TEXT NOT NULL,
      parent_id TEXT,
      name TEXT NOT NULL,
      industry TEXT,
      created_at BIGINT NOT NULL) ${clustered}`,
    "CREATE INDEX client_person ON client (person, parent_id)",
    `CREATE TABLE project (
      id TEXT NOT NULL PRIMARY KEY,
      person TEXT NOT NULL,
      client_id TEXT,
      name TEXT NOT NULL,
      status TEXT NOT NULL,
      ai_summary TEXT,
      created_at BIGINT NOT NULL) ${clustered}`,
    "CREATE INDEX project_person ON project (person, client_id)",
    `CREATE TABLE checkpoint (
      id TEXT NOT NULL PRIMARY KEY,
      person TEXT NOT NULL,
      project_id TEXT NOT NULL,
      title TEXT NOT NULL,
      date BIGINT NOT NULL,
      is_ai_suggested BIGINT NOT NULL,
      is_approved BIGINT NOT NULL,
      created_at BIGINT NOT NULL) ${clustered}`,
    "CREATE INDEX checkpoint_person ON checkpoint (person, project_id)",
    `CREATE TABLE note (
      id TEXT NOT NULL PRIMARY KEY,
      person TEXT NOT NULL,
      project_id TEXT,
      title TEXT NOT NULL,
      content TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      updated_at BIGINT NOT NULL) ${clustered}`,
    "CREATE INDEX note_person ON note (person, project_id)",
    `CREATE TABLE task_comment (
      id TEXT NOT NULL PRIMARY KEY,
      person TEXT NOT NULL,
      task_id TEXT NOT NULL,
      author TEXT NOT NULL,
      content TEXT NOT NULL,
      created_at BIGINT NOT NULL) ${clustered}`,
    "CREATE INDEX task_comment_person ON task_comment (person, task_id)",
    "DROP INDEX task_person",
    "CREATE INDEX task_person ON task (person, project_id)",
    // There were no projects that a task could have been in: what stands there names nothing.
    "UPDATE task SET project_id = NULL WHERE project_id IS NOT NULL",
  ],
}
