import { bytesText, plural } from "./plural.ts"

/** The commands that work on the database and on collections of documents: backup, migrate, rotate-keys, ingest. */

export const backupText = {
  help: `Usage: pawl backup FILE

Copies the database to FILE while the server runs. The copy is a consistent snapshot, is verified, and can be read only by
you. FILE must not exist.

Attachments in PAWL_FILES_FOLDER are copied to the folder FILE.files and verified. If there are none, no folder is created.
To restore them, set PAWL_FILES_FOLDER to that folder or to a copy of it.

To restore the database, stop the server, copy FILE over pawl.db in the data folder, delete pawl.db-wal and pawl.db-shm next
to it, and start the server again. Runs that were active when the copy was made continue then.

The copy contains conversations, tasks and tokens (as hashes). API keys and database passwords in it are encrypted; the key
that decrypts them (master.key in the data folder, or MASTER_ENCRYPTION_KEY) is not part of it. Store that key separately.

With PostgreSQL (DATABASE_URL), use pg_dump instead: pg_dump "$DATABASE_URL" > FILE
Copy PAWL_FILES_FOLDER after the dump, so that every attachment that the dump refers to is in the copy.
`,
  missingFile: "Name the file to write the backup to.",
  postgres: (file: string, filesFolder: string | undefined) =>
    `The database is PostgreSQL (DATABASE_URL). Back it up with: pg_dump "$DATABASE_URL" > ${file}` +
    (filesFolder === undefined ? "" : `\nThen copy the attachments in ${filesFolder} (PAWL_FILES_FOLDER).`),
  noDatabase: (path: string) => `There is no database at ${path}. Set PAWL_DATA to the folder that contains it.`,
  progress: (done: number, all: number) => `${bytesText(done)} of ${bytesText(all)} copied\n`,
  done: (path: string, bytes: number) => `${path} (${bytesText(bytes)})\n`,
  filesDone: (folder: string, files: number, bytes: number) =>
    `${folder} (${plural(files, "file")}, ${bytesText(bytes)})\n`,
  filesMissing: (files: number) =>
    `${plural(files, "attachment")} could not be copied: lost or damaged in PAWL_FILES_FOLDER.\n`,
  exists: (path: string) => `${path} already exists. A backup does not overwrite files; choose another name.`,
  noFolder: (path: string) => `There is no folder ${path}. Create it first, or choose another file.`,
  failed: (path: string, reason: string) => `The backup to ${path} failed: ${reason}.`,
} as const

export const migrateText = {
  help: `Usage: pawl migrate

Updates the database schema and lists its migrations. Every command that opens the database does this by itself; use this one
to update before you start the new version. A database from before 0.1.0 is refused: export it and import it into a new one.
`,
  upToDate: (migrations: string) => `The database schema is up to date. Migrations: ${migrations}.\n`,
} as const

/** The tables that hold secrets, by names for people. */
const secretNames: ReadonlyMap<string, string> = new Map([
  ["provider_key", "API keys of providers"],
  ["connection", "Database connections"],
  ["mcp_server", "MCP servers"],
  ["mcp_sign_in", "Sign-ins to MCP servers"],
  ["mcp_sign_in_attempt", "Unfinished sign-ins to MCP servers"],
])

export const rotateKeysText = {
  help: `Usage: pawl rotate-keys

Encrypts all stored secrets with a new master key. Works while servers run. If it is interrupted, run it again to continue.

If the key is stored in the data folder (the default), this command generates the new key and deletes the old one when it is
no longer needed.

If the key is set in the environment, generate a new one with \`openssl rand -base64 32\` and
  1. start every server with MASTER_ENCRYPTION_KEY=<new> and MASTER_ENCRYPTION_KEY_PREVIOUS=<old>,
  2. run this command with the same two variables,
  3. remove MASTER_ENCRYPTION_KEY_PREVIOUS when you next restart the servers.
`,
  missingOldKey: "Set MASTER_ENCRYPTION_KEY_PREVIOUS to the old key.",
  otherKey:
    "Nothing was changed, because the database uses another master key. Run this command with the settings of its servers: " +
    "with their MASTER_ENCRYPTION_KEY, and the old key as MASTER_ENCRYPTION_KEY_PREVIOUS, or with their PAWL_DATA.",
  keyNotInUse: "The key in the data folder is not in use.",
  start: (from: string, to: string) => `Replacing key ${from} with key ${to}`,
  progress: (table: string, done: number) => `${secretNames.get(table) ?? table}: ${plural(done, "secret")} encrypted`,
  done: "All secrets are encrypted with the new key.",
  unreadable: (left: number, ids: string) =>
    `${plural(left, "secret")} cannot be decrypted with the old key and ${left === 1 ? "was" : "were"} not changed: ${ids}`,
  unreadableAdvice:
    "Save them again or delete them, then run this command again. The old key is not deleted until then.",
} as const

export const ingestText = {
  help: `Usage: pawl ingest PATH… [--collection NAME] [--user NAME]

Adds documents to a collection, where the research agent finds them: Markdown, text, HTML, PDF, and arXiv metadata as
JSON lines (.jsonl). For a folder, all files of these kinds are added, including those in subfolders.

A file that has not changed is skipped; a changed file replaces its previous version. The same content under another name is
the same document. You can stop with Ctrl-C at any time and run the command again to continue. Works while the server runs.

  --collection NAME   the collection; created if it does not exist (default: Library)
  --user NAME         the owner of the collection (default: your user name on this machine)

Exit codes: 0 all documents were added, 1 some could not be read, or wrong usage.
`,
  missingPath: "Name the files or folders to add.",
  noDocuments: "No documents found. Supported files: Markdown, text, HTML, PDF and .jsonl.",
  defaultCollection: "Library",
  failedFile: (file: string, reason: string | undefined) => `failed    ${file}: ${reason}`,
  file: (outcome: string, file: string, reason: string | undefined) =>
    `${outcome.padEnd(9)} ${file}${reason === undefined ? "" : `: ${reason}`}`,
  summary: (name: string, counts: Readonly<Record<"added" | "replaced" | "unchanged" | "failed", number>>) =>
    `${name}: ${counts.added} added, ${counts.replaced} replaced, ${counts.unchanged} unchanged, ${counts.failed} failed.\n`,
  stopped: "Stopped. Run the command again to continue.\n",
  tooLarge: (megabytes: number) => `larger than ${megabytes} MB`,
  unreadable: (reason: string) => `cannot be read: ${reason}`,
  lineTooLong: "A line of the file",
  reading: "reading",
  embedding: "embedding",
  passages: "passages",
  passagesLeft: (left: number) =>
    `${plural(left, "passage")} cannot be searched by meaning yet. The server or the next run completes ${left === 1 ? "it" : "them"}.`,
  notEmbedded: (reason: string) => `not embedded: ${reason}`,
  notFound: (path: string) => `There is no file or folder "${path}".`,
  notAFile: (path: string) => `"${path}" is neither a file nor a folder.`,
} as const
