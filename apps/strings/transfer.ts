import { bytesText, plural } from "./plural.ts"

/** The commands that move people from one database to another. */

export const exportText = {
  help: `Usage: pawl export [--user NAME] FILE

Writes everything of one person, or of all people, to FILE as JSON lines, for "pawl import" on another server or database.
FILE must not exist, and can be read only by you. The server may run, but stop it first if nothing may change meanwhile.

  --user NAME   only this person, by name or id

The file contains conversations with their journals, the workspace, documents, attachments, databases made from uploads,
results of queries and usage. Provider keys, database passwords and MCP servers stay encrypted; the key that decrypts them
(master.key in the data folder, or MASTER_ENCRYPTION_KEY) is not part of the file. Tokens, sessions and everything else
that lets someone sign in are left out.

A database from before 0.1.0 can be exported too; it is not updated first.
`,
  missingFile: "Name the file to write the export to.",
  exists: (path: string) => `${path} already exists. An export does not overwrite files; choose another name.`,
  noFolder: (path: string) => `There is no folder ${path}. Create it first, or choose another file.`,
  noUser: (name: string) => `There is no person ${name}.`,
  failed: (path: string, reason: string) => `The export to ${path} failed: ${reason}.`,
  done: (path: string, bytes: number, lines: number) => `${path} (${plural(lines, "line")}, ${bytesText(bytes)})\n`,
  working: (conversations: number) =>
    `${plural(conversations, "conversation")} had a run in progress, a change waiting for approval, or messages that no server has read. An import cancels the run with its changes and leaves out the messages: finish them on this server, then export again.\n`,
  unreadable: (files: number) => `${plural(files, "attachment")} could not be exported: lost or damaged.\n`,
} as const

export const importText = {
  help: `Usage: pawl import FILE

Reads a file of "pawl export" into the database. IDs stay the same. Data that exists already is not changed, so you can repeat
an import that was interrupted. The whole file is checked first; if a line does not fit, nothing is imported.

Approvals are not imported: runs in progress are cancelled with their proposals, grants are revoked, and conversations in
automatic mode ask first. Allow the tools of MCP servers again. Encrypted keys and passwords are imported only if this server
has the same master key. People sign in again: pawl invite --user NAME
`,
  missingFile: "Name the file to import.",
  unreadable: (path: string, reason: string) => `${path} cannot be read: ${reason}.`,
  refused: (path: string, problem: string) => `${path} cannot be imported. ${problem}`,
  done: ({ people, conversations, rows }: { people: number; conversations: number; rows: number }) =>
    `Imported ${plural(people, "person", "people")}, ${plural(conversations, "conversation")} and ${plural(rows, "other row")}.\n`,
  leftOut: (table: string, secrets: number) =>
    `${plural(secrets, "row")} of ${table} left out, because another master key encrypted them or what they belong to. Set MASTER_ENCRYPTION_KEY to the key of the other server and import again, or enter them again.\n`,
} as const
