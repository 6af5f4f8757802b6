/** What can go wrong with a database of a person. Part of the one table in errors.ts. */
export const databaseErrors = {
  connection_failed: {
    status: 502,
    say: (d: { problem: string }) => `The database cannot be reached: ${d.problem}. Check the connection's settings.`,
  },
  superuser_refused: {
    status: 403,
    say: (d: { user: string }) =>
      `${d.user} is a superuser of that database. Connect as somebody who may only read, or have the operator set PAWL_ALLOW_SUPERUSER_CONNECTIONS.`,
  },
  // The same for a file that is missing, is none and lies elsewhere: a guess learns nothing about this machine.
  file_not_allowed: {
    status: 400,
    say: (d: { path: string }) =>
      `There is no SQLite database "${d.path}" for you: it has to be a plain file in your own folder or in "shared" under PAWL_SQLITE_ROOT.`,
  },
  csv_refused: { status: 400, say: (d: { problem: string }) => `The file was not taken: ${d.problem}.` },
  file_too_large: {
    status: 413,
    say: (d: { most: number }) => `The file is larger than ${d.most} bytes; send it in parts, as several files.`,
  },
  csv_full: {
    status: 409,
    say: (d: { most: number }) =>
      `Your uploaded files would take more than ${d.most} bytes; delete a connection that you no longer need.`,
  },
  query_refused: {
    status: 400,
    say: (d: { problem: string }) =>
      `Not run: ${d.problem}. One SELECT (or WITH, VALUES) that only reads can be run here.`,
  },
  change_refused: {
    status: 400,
    say: (d: { problem: string }) =>
      `Not run: ${d.problem}. One INSERT, UPDATE or DELETE without RETURNING can be proposed here; tables are not made, altered or dropped.`,
  },
  change_is_nothing: {
    status: 409,
    say: (d: { table: string; rows: number }) =>
      `Not proposed, and nobody was asked: it would change nothing. ${d.rows === 0 ? `No row of ${d.table} fits it` : `All ${d.rows} row(s) of ${d.table} that it would write are like that already`}.`,
  },
  no_connection: {
    status: 409,
    say: () => "No database is chosen: ask the person to choose one of their connections for this conversation.",
  },
  connection_read_only: {
    status: 409,
    say: (d: { name: string; id: string }) =>
      `"${d.name}" is connected for reading only. Its owner can allow changes in the connection's settings (PATCH /api/connections/${d.id} with {"writable": true}); each is still shown to them first.`,
  },
  query_failed: { status: 422, say: (d: { problem: string }) => `The database says: ${d.problem}` },
  query_timeout: {
    status: 504,
    say: (d: { seconds: number }) =>
      `The query had not ended after ${d.seconds} s and was stopped; ask for less, or for a sum of it.`,
  },
  result_too_large: {
    status: 422,
    say: (d: { most: string }) =>
      `One row of the result is larger than ${d.most}; leave out its long columns, or cut them.`,
  },
} as const
